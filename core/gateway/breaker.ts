// The breaker of one adapter: when its provider fails call after call, no more are made for a while. Pure but for its counts.
//
// B1 It opens after so many failures of the provider without a success between them, for a time that doubles with each opening.
// B2 Once the time is over, one call is let through. Its success closes the breaker, its failure opens it again.
// B3 Only what the provider did counts: a refused request, a bad key, a rate limit or a caller who left say nothing of its health. A rate
//    limit is no success either.
import { BlockhouseError, type ErrorCode } from '../errors.ts';

/** Fewer than the repetitions of a handful of requests could add up to, and a provider that works at all would have answered one of them. */
const FAILURES_TO_OPEN = 20;
const FIRST_OPEN_MS = 5000;
const LONGEST_OPEN_MS = 60_000;

const FAILURES: ReadonlySet<ErrorCode> = new Set(['UPSTREAM_UNREACHABLE', 'UPSTREAM_TIMEOUT', 'UPSTREAM_FAILED', 'UPSTREAM_MALFORMED']);
/** The provider worked: it has read the request and judged it. */
const ANSWERS: ReadonlySet<ErrorCode> = new Set(['UPSTREAM_REJECTED', 'UPSTREAM_AUTH']);

export interface BreakerFacts {
  opened(fact: { readonly openMs: number; readonly failures: number; readonly code: ErrorCode; readonly error: string }): void;
  closed(): void;
}

export class Breaker {
  readonly #name: string;
  readonly #now: () => number;
  readonly #facts: BreakerFacts;
  #failures = 0;
  #openMs = 0;
  /** When a call may be tried again; undefined while the breaker is closed. */
  #openUntil: number | undefined;
  #isProbing = false;
  #last = '';

  /** `name` of the provider, for people; `now` in monotonic milliseconds. */
  constructor(name: string, now: () => number, facts: BreakerFacts) {
    this.#name = name;
    this.#now = now;
    this.#facts = facts;
  }

  get isOpen(): boolean {
    return this.#openUntil !== undefined;
  }

  /** Before a call. Throws UPSTREAM_UNREACHABLE with the time until the next try while it is open. */
  admit(): Trial {
    if (this.#openUntil === undefined) return new Trial(this, false);
    const leftMs = this.#openUntil - this.#now();
    if (leftMs <= 0 && !this.#isProbing) {
      this.#isProbing = true;
      return new Trial(this, true); // B2
    }
    const retryAfterMs = Math.max(leftMs, 1000);
    throw new BlockhouseError(
      'UPSTREAM_UNREACHABLE',
      `${this.#name} has failed ${this.#failures} times in a row, so it is left alone; the next try is in ${Math.ceil(retryAfterMs / 1000)} s. The last failure: ${this.#last}`,
      { retryAfterMs },
    );
  }

  /** The provider has begun to answer, or has answered. */
  succeed(): void {
    this.#failures = 0;
    this.#isProbing = false;
    if (this.#openUntil === undefined) return;
    this.#openUntil = undefined;
    this.#openMs = 0;
    this.#facts.closed();
  }

  /** After a call that failed. */
  judge(error: BlockhouseError, isProbe: boolean): void {
    if (isProbe) this.#isProbing = false;
    if (FAILURES.has(error.code)) this.#fail(error, isProbe);
    else if (ANSWERS.has(error.code)) this.succeed();
  }

  /** B1. Calls that were under way when it opened don't open it again. */
  #fail({ code, message }: BlockhouseError, isProbe: boolean): void {
    this.#failures += 1;
    this.#last = message;
    if (this.#openUntil === undefined ? this.#failures < FAILURES_TO_OPEN : !isProbe) return;
    this.#openMs = Math.min(Math.max(this.#openMs * 2, FIRST_OPEN_MS), LONGEST_OPEN_MS);
    this.#openUntil = this.#now() + this.#openMs;
    this.#facts.opened({ openMs: this.#openMs, failures: this.#failures, code, error: message });
  }
}

/** One call that the breaker has admitted, and that tells it how it went. */
export class Trial {
  readonly #breaker: Breaker;
  readonly #isProbe: boolean;

  constructor(breaker: Breaker, isProbe: boolean) {
    this.#breaker = breaker;
    this.#isProbe = isProbe;
  }

  /** The provider has begun to answer, or has answered. */
  succeed(): void {
    this.#breaker.succeed();
  }

  fail(error: BlockhouseError): void {
    this.#breaker.judge(error, this.#isProbe);
  }
}
