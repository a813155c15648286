// Which keys are debugged, and the bodies of their calls: in the process that holds the workspace.
//
// only-while-on: bodies are kept only of a key that is debugged when its request has ended, and deleted when it no longer is, whatever ended that: the time, a person at
//   any server, a revoked or expired key, an edit by hand. A look every second notices.
// gone-at-the-end: what an earlier process has left is deleted before the first look, and what this one has kept when it ends.
import type { CoreBus } from '../bus.ts';
import type { BodyKeeper } from '../gateway/live.ts';
import type { BodyFile } from '../store/port.ts';
import type { DebuggedBodies } from '../types.ts';
import type { KeyStore } from './key-store.ts';

/** What it works with. */
export interface DebuggedKeysOptions {
  readonly keys: Pick<KeyStore, 'debugged'>;
  readonly file: BodyFile;
  readonly bus: CoreBus;
}

const LOOK_EVERY_MS = 1000;

/** The keys of a workspace that are debugged, from its start to its end. */
export class DebuggedKeys implements BodyKeeper {
  readonly #options: DebuggedKeysOptions;
  /** By name: until when. */
  #known: ReadonlyMap<string, string> = new Map();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: DebuggedKeysOptions) {
    this.#options = options;
  }

  /** gone-at-the-end. */
  async begin(): Promise<void> {
    await this.#options.file.remove();
    await this.look();
  }

  keep(bodies: DebuggedBodies): void {
    void this.look();
    if (this.#known.has(bodies.key) && !this.#isClosed) this.#options.file.add(bodies); // only-while-on
  }

  async of(requestId: string): Promise<readonly DebuggedBodies[]> {
    await this.look();
    return this.#known.size === 0 ? [] : this.#options.file.of(requestId);
  }

  async look(): Promise<void> {
    if (this.#isClosed) return;
    const { bus, file, keys } = this.#options;
    const [before, now] = [this.#known, keys.debugged()];
    this.#known = now;
    for (const [key, until] of now) if (before.get(key) !== until) bus.emit('debug.started', { key, until });
    const ended = [...before.keys()].filter((key) => !now.has(key));
    for (const key of ended) bus.emit('debug.ended', { key });
    clearTimeout(this.#timer);
    if (now.size > 0) this.#timer = setTimeout(() => void this.look(), LOOK_EVERY_MS).unref();
    if (ended.length > 0) await file.keepOnly(now.keys());
  }

  /** gone-at-the-end. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#options.file.remove();
  }
}
