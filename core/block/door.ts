// The way in for whoever changes something of a workspace: open until the end of the server. Pure: no I/O.
//
// G1 Once it is shut nobody comes in: SHUTTING_DOWN.
// G2 Those who are in finish what they do, and the end of the server waits for them.
import { BlockhouseError } from '../errors.ts';

export class Door {
  readonly #inside = new Set<Promise<unknown>>();
  #isShut = false;

  get isShut(): boolean {
    return this.#isShut;
  }

  /** G1. Throws SHUTTING_DOWN; for work that has waited since it came in, too. */
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

  /** G2. Never rejects: each failure is its caller's. */
  async emptied(): Promise<void> {
    await Promise.allSettled(this.#inside);
  }
}
