// When an attempt is repeated, and after how long. Pure but for the budget's count.
//
// R1 Nothing is repeated once a byte went to the caller, or when the provider may have begun to work.
// R2 At most RETRY_LIMIT repetitions, each after a growing wait with jitter, or the provider's Retry-After.
// R3 Of many requests within a minute, at most a tenth are repeated.
import type { BlockhouseError } from '../errors.ts';

export const RETRY_LIMIT = 2;
const BASE_DELAY_MS = 500;
const MAX_DELAY_MS = 8000;
/** A provider may ask for more, but nobody waits longer than this on an open request. */
export const MAX_RETRY_AFTER_MS = 60_000;

/** Milliseconds to wait before repetition number `retry` (from 0), or undefined when it must not be repeated (R1, R2). */
export function retryDelayMs(error: BlockhouseError, retry: number, random: () => number): number | undefined {
  if (!error.retryable || error.mayHaveRun || retry >= RETRY_LIMIT) return undefined;
  if (error.retryAfterMs !== undefined) return Math.min(error.retryAfterMs, MAX_RETRY_AFTER_MS);
  const ceiling = Math.min(BASE_DELAY_MS * 2 ** retry, MAX_DELAY_MS);
  return ceiling / 2 + (random() * ceiling) / 2;
}

/** Repetitions saved up at the start, so that a lone request may be repeated too. */
const RESERVE = 10;
/** What each first attempt adds. Of 1,000 within a minute that makes 80, beside a reserve at the start and one that came back: a tenth. */
const PER_REQUEST = 0.08;
/** The reserve comes back in a quiet minute. */
const REFILL_PER_MS = RESERVE / 60_000;

/** A budget that many requests share (R3). It never holds more than the reserve: what a good hour saved up would all be spent in a bad minute. */
export class RetryBudget {
  readonly #now: () => number;
  #balance = RESERVE;
  #updatedAt: number;

  constructor(now: () => number) {
    this.#now = now;
    this.#updatedAt = now();
  }

  /** Counts a first attempt. */
  deposit(): void {
    this.#balance = Math.min(this.#balance + PER_REQUEST, RESERVE);
  }

  /** True when a repetition may be made; it is then counted. */
  withdraw(): boolean {
    const now = this.#now();
    this.#balance = Math.min(this.#balance + (now - this.#updatedAt) * REFILL_PER_MS, RESERVE);
    this.#updatedAt = now;
    if (this.#balance < 1) return false;
    this.#balance -= 1;
    return true;
  }
}

/** The one form of an HTTP date that names no zone; it means UTC, as the others do (RFC 9110, 5.6.7). */
const ASCTIME = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/;

/** Parses `Retry-After`: seconds or an HTTP date. Undefined for what is neither; clamped to 0…MAX_RETRY_AFTER_MS. */
export function parseRetryAfter(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined || header.trim() === '') return undefined;
  const text = header.trim();
  if (/^\d+(\.\d+)?$/.test(text)) return clampRetryAfter(Number(text) * 1000);
  // Date.parse finds a date in nearly anything; an HTTP date begins with its weekday.
  if (!/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text)) return undefined;
  return clampRetryAfter(Date.parse(ASCTIME.test(text) ? `${text} GMT` : text) - nowMs);
}

export function clampRetryAfter(ms: number): number | undefined {
  if (Number.isNaN(ms) || ms < 0) return undefined;
  return Math.min(ms, MAX_RETRY_AFTER_MS);
}
