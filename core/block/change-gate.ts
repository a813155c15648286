// The gate for changes of a workspace: open until the server ends. Pure: no I/O.
//
// Shut-for-good: once it is shut, a change is refused with SHUTTING_DOWN.
// Finish-first: a change that has begun is finished, and the end of the server waits for it.
import { BlockhouseError } from '../errors.ts';

/** Lets changes in, and waits for them. */
export class ChangeGate {
  readonly #inside = new Set<Promise<unknown>>();
  #isShut = false;

  get isShut(): boolean {
    return this.#isShut;
  }

  /** Shut-for-good. Throws SHUTTING_DOWN; for work that has waited since it came in, too. */
  assertOpen(): void {
    if (this.#isShut) throw new BlockhouseError('SHUTTING_DOWN', 'The server is shutting down.');
  }

  /** Does the work, and resolves or rejects as it does. */
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

  /** Finish-first. Never rejects: each failure is its caller's. */
  async emptied(): Promise<void> {
    await Promise.allSettled(this.#inside);
  }
}
