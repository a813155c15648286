// Counts what happens within a minute. Pure: no I/O.
const MINUTE_MS = 60_000;

/** A count that begins again with the first thing that happens after a minute. */
export class MinuteCount {
  #count = 0;
  #since = 0;

  /** What has been counted in this minute, with `more`, which may be below 0 for what counts no longer. */
  add(more: number): number {
    const now = performance.now();
    if (now - this.#since > MINUTE_MS) {
      this.#count = 0;
      this.#since = now;
    }
    this.#count = Math.max(0, this.#count + more); // what is taken back may have been counted in the minute before
    return this.#count;
  }
}
