// A token bucket: `burst` takes at once, then `perSecond` takes a second. Pure: no I/O.

/** A rate limit of one client. */
export class Allowance {
  readonly #burst: number;
  readonly #perMs: number;
  readonly #now: () => number;
  #left: number;
  #at: number;

  /** `now` returns monotonic milliseconds. */
  constructor(burst: number, perSecond: number, now: () => number) {
    this.#burst = burst;
    this.#perMs = perSecond / 1000;
    this.#now = now;
    this.#left = burst;
    this.#at = now();
  }

  /** Takes one; false when none is left. */
  take(): boolean {
    const now = this.#now();
    this.#left = Math.min(this.#burst, this.#left + (now - this.#at) * this.#perMs);
    this.#at = now;
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}
