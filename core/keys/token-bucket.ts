// A limit by the minute: what was taken runs off evenly, as much as the limit in a minute. Pure: no I/O.
//
// any-minute: in no span of time more is taken than the limit and what runs off meanwhile; but for one that is larger than the limit, which needs an empty bucket.
// settled: what turns out to be more is added. What turns out to be less is given back only as far as it has not run off since, else calls that were estimated
//   too high and ended late would let a burst through.

const MINUTE_MS = 60_000;

/** What is left of a limit. */
export interface RateState {
  readonly limit: number;
  /** A whole number. */
  readonly remaining: number;
  /** Milliseconds until nothing of it is used. */
  readonly resetMs: number;
}

/** One limit by the minute. All times are monotonic milliseconds. */
export class TokenBucket {
  #limit: number;
  #perMs: number;
  #used = 0;
  #at: number;

  constructor(limit: number, now: number) {
    this.#limit = limit;
    this.#perMs = limit / MINUTE_MS;
    this.#at = now;
  }

  /** What is used stays. */
  allow(limit: number, now: number): void {
    if (limit === this.#limit) return;
    this.#drain(now);
    this.#limit = limit;
    this.#perMs = limit / MINUTE_MS;
  }

  /** Milliseconds until so much may be taken; 0 for now. any-minute. */
  waitMs(amount: number, now: number): number {
    this.#drain(now);
    const tooMuch = this.#used - Math.max(0, this.#limit - amount);
    return tooMuch <= 0 ? 0 : tooMuch / this.#perMs;
  }

  /** Takes so much if it may be taken now. */
  tryTake(amount: number, now: number): boolean {
    this.#drain(now);
    if (this.#used > Math.max(0, this.#limit - amount)) return false;
    this.#used += amount;
    return true;
  }

  /** What was taken in this moment is not wanted. */
  putBack(amount: number): void {
    this.#used = Math.max(0, this.#used - amount);
  }

  /** Takes so much, whether or not it is left. */
  take(amount: number, now: number): void {
    this.#drain(now);
    this.#used += amount;
  }

  /** What was taken as `estimate` is `actual`. settled. */
  settle(estimate: number, actual: number, takenAt: number, now: number): void {
    this.#drain(now);
    const back = Math.max(0, estimate - actual - (now - takenAt) * this.#perMs);
    this.#used = Math.max(0, this.#used + Math.max(0, actual - estimate) - back);
  }

  /** What is used of it. */
  level(now: number): number {
    this.#drain(now);
    return this.#used;
  }

  setLevel(used: number, now: number): void {
    this.#drain(now);
    this.#used = used;
  }

  /** What is left of it: a whole number. */
  remaining(now: number): number {
    this.#drain(now);
    return Math.max(0, Math.floor(this.#limit - this.#used));
  }

  state(now: number): RateState {
    return { limit: this.#limit, remaining: this.remaining(now), resetMs: this.#used / this.#perMs };
  }

  #drain(now: number): void {
    if (now <= this.#at) return; // a call asks several times in the same moment
    this.#used = Math.max(0, this.#used - (now - this.#at) * this.#perMs);
    this.#at = now;
  }
}
