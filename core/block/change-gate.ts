// A gate for work that something must wait for: the changes of a workspace, until the server ends, or the copies of a block, before it moves.
// Pure: no I/O.
//
// shut-for-good: after `shut`, a change is refused with SHUTTING_DOWN.
// finish-first: a change that has begun is finished, and the shutdown waits for it.
import { BlockhouseError } from '../errors.ts';

/** Admits work and waits for its end. */
export class ChangeGate {
  readonly #inside = new Set<Promise<unknown>>();
  #isShut = false;

  get isShut(): boolean {
    return this.#isShut;
  }

  /** Throws SHUTTING_DOWN after the gate is shut. Call it again for work that has waited since it was admitted. */
  assertOpen(): void {
    if (this.#isShut) throw new BlockhouseError('SHUTTING_DOWN', 'The server is shutting down.');
  }

  /** Runs the work; settles as the work does. Rejects with SHUTTING_DOWN after the gate is shut. */
  async pass<T>(work: () => Promise<T>): Promise<T> {
    this.assertOpen();
    const doing = work();
    this.#inside.add(doing);
    try {
      return await doing;
    } finally {
      this.#inside.delete(doing);
    }
  }

  shut(): void {
    this.#isShut = true;
  }

  /** Resolves when all admitted work has ended. Never rejects: failures go to the callers. */
  async emptied(): Promise<void> {
    await Promise.allSettled(this.#inside);
  }
}
