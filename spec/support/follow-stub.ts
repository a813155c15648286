// The one thing of the core that a WebSocket follows, for tests of what is told to whom; and a socket without a network.
import { EventEmitter } from 'node:events';
import type { WebSocket } from 'ws';
import { BlockhouseError, type FollowOptions, type ReplyStep, type StopFollowing } from '../../core/index.ts';

interface Following {
  readonly name: string;
  readonly options: FollowOptions;
}

export class FollowStub {
  readonly names: ReadonlySet<string>;
  /** Those that go on. */
  readonly active = new Set<Following>();
  /** How often somebody began. */
  begun = 0;
  /** Told at once to whoever wants replies, as the core tells what it has missed. */
  missed: ReplyStep[] = [];

  constructor(...names: string[]) {
    this.names = new Set(names);
  }

  follow(name: string, options: FollowOptions): StopFollowing {
    if (name === 'broken') throw new TypeError('secret-of-the-core');
    if (!this.names.has(name)) throw new BlockhouseError('BLOCK_NOT_FOUND', `There is no block "${name}".`);
    const following = { name, options };
    this.active.add(following);
    this.begun += 1;
    for (const step of this.missed) options.onReply?.(step);
    return () => void this.active.delete(following);
  }

  followFleet(): StopFollowing {
    throw new Error('Nothing follows the list here.');
  }

  change(name: string): void {
    for (const { options } of this.#of(name)) options.onChange?.();
  }

  step(name: string, step: ReplyStep): void {
    for (const { options } of this.#of(name)) options.onReply?.(step);
  }

  run(name: string, fact: Parameters<NonNullable<FollowOptions['onRun']>>[0]): void {
    for (const { options } of this.#of(name)) options.onRun?.(fact);
  }

  archive(name: string): void {
    for (const { options } of this.#of(name)) options.onGone?.();
  }

  #of(name: string): Following[] {
    return [...this.active].filter((following) => following.name === name);
  }
}

/** Behaves as a `WebSocket` of `ws` whose client reads everything, or nothing once it is `stalled`. */
export class SocketDouble extends EventEmitter {
  readonly frames: Record<string, unknown>[] = [];
  readonly said: string[] = [];
  stalled = false;
  isPaused = false;
  #buffered = 0;

  get bufferedAmount(): number {
    return this.#buffered;
  }

  send(text: string, left: () => void): void {
    this.frames.push(JSON.parse(text) as Record<string, unknown>);
    if (this.stalled) this.#buffered += Buffer.byteLength(text);
    else left();
  }

  ping(): void {
    this.said.push('ping');
  }

  close(code: number, reason: string): void {
    this.said.push(`close ${code} ${reason}`);
  }

  /** What was read before is still heard. */
  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
  }

  terminate(): void {
    this.said.push('terminate');
    this.emit('close', 1006, Buffer.alloc(0));
  }

  /** A text message comes in. */
  hear(message: unknown): void {
    this.emit('message', Buffer.from(typeof message === 'string' ? message : JSON.stringify(message)), false);
  }

  asWebSocket(): WebSocket {
    return this as unknown as WebSocket;
  }
}
