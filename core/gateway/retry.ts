// When an attempt is repeated, and after how long. Pure except for the balance of the budget.
//
// one-tenth: Of many requests within a minute, at most a tenth are repeated.
// kept-part: Once the budget is used up, KEPT more repetitions are lent to callers who have had none within a minute, so that nobody uses up those of all others.
import { BlockhouseError } from '../errors.ts';

/** Repetitions of one request at most. */
export const RETRY_LIMIT = 2;
const BASE_DELAY_MS = 500;
const MAX_DELAY_MS = 8000;
/** A provider may ask for a longer wait, but no request is kept open for longer. */
export const MAX_RETRY_AFTER_MS = 60_000;
/** A provider that asks for a longer wait is asked again after this. */
const MAX_WAIT_MS = 3_600_000;

/**
 * Milliseconds to wait before repetition number `retry` (from 0): the provider's own wait, or a growing one with jitter. Undefined when there must be no
 * repetition: the failure is final, the provider may have begun to work, or the limit is reached.
 */
export function retryDelayMs(error: BlockhouseError, retry: number, random: () => number): number | undefined {
  if (!error.retryable || error.mayHaveRun || retry >= RETRY_LIMIT) return undefined;
  // A wait of 0 names no time: repeated at once, all repetitions would be used up within a moment.
  if (error.retryAfterMs) return Math.min(error.retryAfterMs, MAX_RETRY_AFTER_MS);
  const ceiling = Math.min(BASE_DELAY_MS * 2 ** retry, MAX_DELAY_MS);
  return ceiling / 2 + (random() * ceiling) / 2;
}

/** Repetitions in the budget at the start, so that a single request can be repeated too. */
const RESERVE = 10;
/** Lent to callers who have had none (kept-part). */
const KEPT = 5;
/** What each first attempt adds. For 1,000 in a minute that is 75; with the reserve at the start, the one that comes back, and the kept part, 100 (one-tenth). */
const PER_REQUEST = 0.075;
const MINUTE_MS = 60_000;
/** A quiet minute restores the whole reserve. */
const REFILL_PER_MS = RESERVE / MINUTE_MS;

/** The repetitions that many requests share. The budget never holds more than the reserve: the savings of a good hour would all be spent in one bad minute. */
export class RetryBudget {
  readonly #now: () => number;
  #balance = RESERVE;
  #updatedAt: number;
  /** When each caller had its last repetition, the oldest first; for a minute, so never more than a minute has repetitions. */
  readonly #lastBy = new Map<string, number>();

  constructor(now: () => number) {
    this.#now = now;
    this.#updatedAt = now();
  }

  /** Counts a first attempt. */
  deposit(): void {
    this.#balance = Math.min(this.#balance + PER_REQUEST, RESERVE);
  }

  /** True when a repetition for `caller` may be made, which is then counted. */
  withdraw(caller: string): boolean {
    const now = this.#now();
    this.#balance = Math.min(this.#balance + (now - this.#updatedAt) * REFILL_PER_MS, RESERVE);
    this.#updatedAt = now;
    if (this.#balance < (this.#hadOne(caller, now) ? 1 : 1 - KEPT)) return false; // kept-part
    this.#balance -= 1;
    this.#lastBy.delete(caller);
    this.#lastBy.set(caller, now);
    return true;
  }

  #hadOne(caller: string, now: number): boolean {
    for (const [oldest, at] of this.#lastBy) {
      if (at > now - MINUTE_MS) break;
      this.#lastBy.delete(oldest);
    }
    return this.#lastBy.has(caller);
  }
}

/** The only form of an HTTP date that names no time zone. It means UTC, like the others (RFC 9110, section 5.6.7). */
const ASCTIME = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/;

/** The milliseconds that a `Retry-After` header asks for, in seconds or as an HTTP date, up to MAX_WAIT_MS. Undefined for anything else. */
export function parseRetryAfter(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined || header.trim() === '') return undefined;
  const text = header.trim();
  if (/^\d+(\.\d+)?$/.test(text)) return clampRetryAfter(Number(text) * 1000);
  // Date.parse finds a date in almost any text; an HTTP date begins with its weekday.
  if (!/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text)) return undefined;
  return clampRetryAfter(Date.parse(ASCTIME.test(text) ? `${text} GMT` : text) - nowMs);
}

/** At most MAX_WAIT_MS; undefined if `ms` is not a wait. */
export function clampRetryAfter(ms: number): number | undefined {
  if (Number.isNaN(ms) || ms < 0) return undefined;
  return Math.min(ms, MAX_WAIT_MS);
}

/** False only where the adapter says so: nothing of the request had been sent. */
export function mayHaveRun(error: unknown): boolean {
  return !(error instanceof BlockhouseError) || error.mayHaveRun;
}
