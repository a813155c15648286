// So many at a time, in the order in which they came. Pure: no I/O.
import { WaitingLine } from './waiting-line.ts';

/** Gives turns. */
export class Turns {
  #free: number;
  readonly #line = new WaitingLine();

  constructor(most: number) {
    this.#free = most;
  }

  /** Resolves to the function that gives the turn back. Rejects with the reason of `signal` when that fires first. */
  async enter(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#free > 0) this.#free -= 1;
    else await this.#line.join(signal);
    return () => this.#leave();
  }

  #leave(): void {
    if (!this.#line.callNext()) this.#free += 1;
  }
}
