// Work that is done one after the other, in the order in which it was asked for.

/** A line of those who wait for their turn. */
export class OneAtATime {
  #last: Promise<unknown> = Promise.resolve();
  #length = 0;

  /** Those who wait, and the one whose work is done. */
  get length(): number {
    return this.#length;
  }

  /** Rejects with what `signal` says when the turn comes, or as `work` does. */
  async run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    this.#length += 1;
    const turn = this.#last.then(() => {
      signal.throwIfAborted();
      return work();
    });
    this.#last = turn.catch(() => undefined); // the failure is its own caller's
    try {
      return await turn;
    } finally {
      this.#length -= 1;
    }
  }
}
