// The hold of this process on a workspace: its lock, which is looked at each second. Who has the lock has every block.
//
// lost-lock: the lock may name another server, when a person has deleted ours and that server started.
import { randomUUID } from 'node:crypto';
import type { CoreBus } from '../../bus.ts';
import type { BlockRef, Claim, Found, Membership } from '../port.ts';
import type { LockHolder, WorkspaceLock } from './lock.ts';

const LOOK_EVERY_MS = 1000;

/** What a membership works with. */
export interface MembershipOptions {
  readonly lock: WorkspaceLock;
  readonly bus: CoreBus;
  /** lost-lock. Called again at the next look, unless `leave` was called. */
  onLost(other: { readonly pid: number }): Promise<void>;
  /** The blocks to start with the server. */
  enabled(): Promise<readonly BlockRef[]>;
}

/** Keeps the lock until `leave`. */
export class FileMembership implements Membership {
  readonly node = randomUUID();
  readonly isShared = false;
  readonly isDraining = false;
  readonly sureUntil = Number.POSITIVE_INFINITY;
  readonly #options: MembershipOptions;
  readonly #timer: NodeJS.Timeout;
  readonly #lost = new AbortController();
  #hasClaimed = false;
  #fault: string | undefined;
  #isKeeping = false;
  /** The process that the lock named when it was last found to name another one. */
  #seen: number | undefined;

  constructor(options: MembershipOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.#keep(), LOOK_EVERY_MS).unref();
  }

  /** Never fires: who loses the lock ends (`onLost`). */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  async look(): Promise<Found> {
    const refs = this.#hasClaimed ? [] : this.#options.enabled();
    this.#hasClaimed = true;
    return { wishes: [], mine: [], claimed: (await refs).map((ref) => this.#claimOf(ref)) };
  }

  async take(ref: BlockRef): Promise<Claim> {
    return this.#claimOf(ref);
  }

  async askFor(): Promise<void> {
    await Promise.resolve(); // nobody else has a block
  }

  async release(): Promise<boolean> {
    return true;
  }

  /** Writes the server's address into the lock. Rejects with WORKSPACE_BUSY when the lock is no longer ours. */
  announce(url: string): Promise<void> {
    return this.#options.lock.announce(url);
  }

  /** Gives the workspace to others. */
  async leave(): Promise<void> {
    clearInterval(this.#timer);
    await this.#options.lock.release();
  }

  #claimOf({ name, block }: BlockRef): Claim {
    return { name, block, owner: this.node, fence: 1 };
  }

  async #keep(): Promise<void> {
    if (this.#isKeeping) return; // the last look still hangs on the disk
    this.#isKeeping = true;
    try {
      const other = await this.#options.lock.keep();
      this.#fault = undefined;
      if (other !== undefined && !this.#mayPass(other)) await this.#options.onLost(other);
    } catch (error) {
      this.#tellFault((error as NodeJS.ErrnoException).code ?? (error as Error).message);
    } finally {
      this.#isKeeping = false;
    }
  }

  /** True for a server without an address: it may fail to listen on our port and be gone at the next look. */
  #mayPass({ pid, url }: LockHolder): boolean {
    const isNew = url === null && this.#seen !== pid;
    this.#seen = pid;
    return isNew;
  }

  /** Reports a fault once, until it changes. */
  #tellFault(error: string): void {
    if (error === this.#fault) return;
    this.#fault = error;
    this.#options.bus.emit('workspace.fault', { what: '.lock', error });
  }
}
