// All clients of a server: heartbeats, the rotation of the token, and the shutdown.
//
// current-token: after a rotation every socket is closed with 1008, at most `tokenCheckMs` plus the second that the core
// needs to notice the new file later, also when no request is made.
// ended-session: a socket is closed with 1008 at most `tokenCheckMs` after the end of the session that has opened it.
// idle-is-free: timers and listeners exist only while there are clients.
import type { WebSocket } from 'ws';
import { type Core, toBlockhouseError } from '../../core/index.ts';
import type { TransportLog } from '../log.ts';
import type { Clock } from './clock.ts';
import type { WsLimits } from './limits.ts';
import { CLOSE, Peer } from './peer.ts';

/** What the hub works with. */
export interface HubContext {
  readonly core: Pick<Core, 'blocks' | 'events' | 'recent' | 'token'> & Partial<Pick<Core, 'sessions'>>;
  readonly clock: Clock;
  readonly limits: WsLimits;
  readonly log: TransportLog;
}

/** Holds the open sockets. */
export class Hub {
  readonly #context: HubContext;
  readonly #peers = new Map<Peer, WebSocket>();
  /** ended-session. Epoch milliseconds. */
  readonly #ends = new Map<Peer, number>();
  #sleep: (() => void) | undefined;
  #onEmpty: (() => void)[] = [];

  constructor(context: HubContext) {
    this.#context = context;
  }

  get size(): number {
    return this.#peers.size;
  }

  /** `endsAt` is when the session ends that has opened it: epoch milliseconds. */
  add(socket: WebSocket, requestId: string, endsAt?: number): void {
    const { log } = this.#context;
    const peer = new Peer(socket, { ...this.#context, requestId });
    this.#peers.set(peer, socket);
    if (endsAt !== undefined) this.#ends.set(peer, endsAt);
    this.#sleep ??= this.#wake(); // idle-is-free
    log.debug({ requestId, sockets: this.size }, 'websocket opened');
    const openedAt = performance.now();
    this.#context.core.events.emit('socket.opened', { requestId });
    socket.once('close', (code) => {
      this.#context.core.events.emit('socket.closed', { requestId, code, durationMs: performance.now() - openedAt });
      this.#peers.delete(peer);
      this.#ends.delete(peer);
      log.debug({ requestId, code, sockets: this.size }, 'websocket closed');
      if (this.size === 0) this.#rest();
    });
  }

  /** Closes every socket with `code` and resolves when all are gone, after `closeMs` at most. */
  async close(code: number): Promise<void> {
    if (this.size === 0) return;
    const empty = new Promise<void>((resolve) => this.#onEmpty.push(resolve));
    this.#closeAll(code, 'The server is shutting down.');
    const cancel = this.#context.clock.after(this.#context.limits.closeMs, () => {
      for (const socket of this.#peers.values()) socket.terminate();
    });
    await empty;
    cancel();
  }

  #closeAll(code: number, reason: string): void {
    for (const peer of [...this.#peers.keys()]) peer.close(code, reason);
  }

  #wake(): () => void {
    const { clock, limits, core } = this.#context;
    const onRotated = (): void => this.#closeAll(CLOSE.policyViolation, 'The token was replaced.'); // current-token
    core.events.on('token.rotated', onRotated);
    const stopBeating = clock.every(limits.heartbeatMs, () => {
      for (const peer of [...this.#peers.keys()]) peer.ping();
    });
    const stopLooking = clock.every(limits.tokenCheckMs, () => {
      this.#lookAtToken();
      this.#endSessions();
    });
    return () => {
      core.events.off('token.rotated', onRotated);
      stopBeating();
      stopLooking();
    };
  }

  /** `matches` makes the core read a changed token file, and the core then emits `token.rotated` (current-token). */
  #lookAtToken(): void {
    try {
      this.#context.core.token?.matches('');
    } catch (error) {
      this.#context.log.error({ err: toBlockhouseError(error).cause ?? error }, 'token file could not be read');
    }
  }

  /** ended-session. */
  #endSessions(): void {
    for (const [peer, endsAt] of this.#ends) {
      if (this.#context.core.sessions?.hasEnded(endsAt) !== true) continue;
      this.#ends.delete(peer);
      peer.close(CLOSE.policyViolation, 'The session has ended.');
    }
  }

  #rest(): void {
    this.#sleep?.(); // idle-is-free
    this.#sleep = undefined;
    for (const done of this.#onEmpty.splice(0)) done();
  }
}
