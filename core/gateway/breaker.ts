// The breaker of one adapter: when its provider fails call after call, no more are made for a while. Pure but for its counts.
//
// B1 It opens after so many failures of the provider without a success between them, for a time that doubles with each opening.
// B2 Once the time is over, one call is let through. Its success closes the breaker, its failure opens it again.
// B3 Only what the provider did counts: a refused request, a bad key, a rate limit or a caller who left say nothing of its health. A rate
//    limit is no success either.
// B4 A call speaks for the phase that it was admitted in, and for no later one: a stream that began before the outage does not end it, and
//    of the calls that were let through to try only the one that is being made counts.
import { BlockhouseError, type ErrorCode } from '../errors.ts';

/** Fewer than the repetitions of a handful of requests could add up to, and a provider that works at all would have answered one of them. */
const FAILURES_TO_OPEN = 20;
const FIRST_OPEN_MS = 5000;
const LONGEST_OPEN_MS = 60_000;

const FAILURES: ReadonlySet<ErrorCode> = new Set(['UPSTREAM_UNREACHABLE', 'UPSTREAM_TIMEOUT', 'UPSTREAM_FAILED', 'UPSTREAM_MALFORMED']);
/** The provider worked: it has read the request and judged it. */
const ANSWERS: ReadonlySet<ErrorCode> = new Set(['UPSTREAM_REJECTED', 'UPSTREAM_AUTH']);

/** `trying`: open, and one call has been let through. */
type Phase = 'closed' | 'open' | 'trying';

export interface BreakerFacts {
  opened(fact: { readonly openMs: number; readonly failures: number; readonly code: ErrorCode; readonly error: string }): void;
  closed(): void;
}

export class Breaker {
  readonly #name: string;
  readonly #now: () => number;
  readonly #facts: BreakerFacts;
  #phase: Phase = 'closed';
  /** Counts the phases, so that a call can tell its own from a later one of the same name (B4). */
  #turn = 0;
  #failures = 0;
  #openMs = 0;
  /** When a call may be tried again; of no meaning while the breaker is closed. */
  #openUntil = 0;
  #last = '';

  /** `name` of the provider, for people; `now` in monotonic milliseconds. */
  constructor(name: string, now: () => number, facts: BreakerFacts) {
    this.#name = name;
    this.#now = now;
    this.#facts = facts;
  }

  get isOpen(): boolean {
    return this.#phase !== 'closed';
  }

  /** Before a call. Throws UPSTREAM_UNREACHABLE with the time until the next try while it is open. */
  admit(): Trial {
    if (this.#phase === 'closed') return new Trial(this, this.#turn);
    const leftMs = this.#openUntil - this.#now();
    if (leftMs <= 0 && this.#phase === 'open') {
      this.#enter('trying'); // B2
      return new Trial(this, this.#turn);
    }
    const retryAfterMs = Math.max(leftMs, 1000);
    throw new BlockhouseError(
      'UPSTREAM_UNREACHABLE',
      `${this.#name} has failed ${this.#failures} times in a row, so it is left alone; the next try is in ${Math.ceil(retryAfterMs / 1000)} s. The last failure: ${this.#last}`,
      { retryAfterMs },
    );
  }

  /** The provider has begun to answer, or has answered, a call that was admitted in `turn`. */
  succeed(turn: number): void {
    if (turn !== this.#turn) return; // B4
    this.#failures = 0;
    if (this.#phase === 'closed') return;
    this.#openMs = 0;
    this.#enter('closed');
    this.#facts.closed();
  }

  /** After a call that was admitted in `turn` and failed. */
  judge(error: BlockhouseError, turn: number): void {
    if (turn !== this.#turn) return; // B4
    if (FAILURES.has(error.code)) this.#fail(error);
    else if (ANSWERS.has(error.code)) this.succeed(turn);
    else if (this.#phase === 'trying') this.#enter('open'); // its time is over, so that the next call tries
  }

  /** B1. */
  #fail({ code, message }: BlockhouseError): void {
    this.#failures += 1;
    this.#last = message;
    if (this.#phase === 'closed' && this.#failures < FAILURES_TO_OPEN) return;
    this.#openMs = Math.min(Math.max(this.#openMs * 2, FIRST_OPEN_MS), LONGEST_OPEN_MS);
    this.#openUntil = this.#now() + this.#openMs;
    this.#enter('open');
    this.#facts.opened({ openMs: this.#openMs, failures: this.#failures, code, error: message });
  }

  #enter(phase: Phase): void {
    this.#phase = phase;
    this.#turn += 1;
  }
}

/** One call that the breaker has admitted, and that tells it how it went. */
export class Trial {
  readonly #breaker: Breaker;
  readonly #turn: number;

  constructor(breaker: Breaker, turn: number) {
    this.#breaker = breaker;
    this.#turn = turn;
  }

  /** The provider has begun to answer, or has answered. */
  succeed(): void {
    this.#breaker.succeed(this.#turn);
  }

  fail(error: BlockhouseError): void {
    this.#breaker.judge(error, this.#turn);
  }
}
