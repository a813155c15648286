// The breaker of one destination: when call after call fails there, no more are made for a while.
//
// in-a-row: It opens after FAILURES_TO_OPEN failures without a success between them, for a time that doubles with each opening.
// one-probe: Once that time is over, one call is let through. Its success closes the breaker, its failure opens it again.
// one-source: What fails from one source alone may be the fault of what that source sends. The breaker is then open for that source and closed
//   for everybody else, until at least half as many failures as open it have come from others. A connection that could not be made is
//   nobody's fault but the destination's.
// health-only: A refused request, a bad key, a rate limit or a caller who disconnects does not count as a failure of the destination. A rate limit does not count as a success either.
// own-phase: A call counts only in the phase in which it was admitted: a stream that began before an outage does not end the outage.
import { BlockhouseError, type ErrorCode } from '../errors.ts';

/** More than the repetitions of a handful of requests add up to; a destination that works at all would have answered one of them. */
const FAILURES_TO_OPEN = 20;
/** Failures from others than the main source that open the breaker for everybody. */
const FROM_OTHERS = FAILURES_TO_OPEN / 2;
const FIRST_OPEN_MS = 5000;
const LONGEST_OPEN_MS = 60_000;
const SHORTEST_RETRY_AFTER_MS = 1000;

const FAILURES: ReadonlySet<ErrorCode> = new Set(['UPSTREAM_UNREACHABLE', 'UPSTREAM_TIMEOUT', 'UPSTREAM_FAILED', 'UPSTREAM_MALFORMED']);
/** The destination has read the request and judged it, so it works. */
const ANSWERS: ReadonlySet<ErrorCode> = new Set(['UPSTREAM_REJECTED', 'UPSTREAM_AUTH']);

/** `trying`: one call has been let through, and its end is awaited. */
type Phase = 'closed' | 'open' | 'trying';

/** A call, as far as the breaker is concerned. */
export interface Sourced {
  /** Equal for calls that may fail for the same reason; read only when something fails. */
  readonly source: string;
}

/** For whom a breaker is open. */
export type BreakerScope = 'all' | 'caller';

/** Told what the breaker does. */
export interface BreakerFacts {
  /** It has opened for `openMs`, after `failures` in a row; `code` and `error` are those of the last one. */
  opened(fact: { readonly scope: BreakerScope; readonly openMs: number; readonly failures: number; readonly code: ErrorCode; readonly error: string }): void;
  /** It has closed. */
  closed(): void;
}

/** Counts how the calls to one destination go, and says whether another one may be made. */
export class Breaker {
  readonly #name: string;
  readonly #now: () => number;
  readonly #facts: BreakerFacts;
  #phase: Phase = 'closed';
  /** Counts the phases, so that a call recognises its own (own-phase). */
  #turn = 0;
  /** While it is not closed: the source that it is open for; undefined for all. */
  #refused: string | undefined;
  /** Since the last success. */
  #failures = 0;
  /** Of them, by source. Empty while it is open for all. */
  readonly #bySource = new Map<string, number>();
  #openMs = 0;
  /** When the next call may be tried; without meaning while it is closed. */
  #openUntil = 0;
  #lastError = '';

  /** `name` of the destination, for people; `now` in monotonic milliseconds. */
  constructor(name: string, now: () => number, facts: BreakerFacts) {
    this.#name = name;
    this.#now = now;
    this.#facts = facts;
  }

  /** Its phase for all callers, and how many milliseconds until the next call is tried. */
  get state(): { readonly phase: Phase; readonly opensInMs: number } {
    const isForAll = this.#phase !== 'closed' && this.#refused === undefined;
    return isForAll ? { phase: this.#phase, opensInMs: Math.max(0, this.#openUntil - this.#now()) } : { phase: 'closed', opensInMs: 0 };
  }

  /** True when this call is among those that the breaker is open for. */
  isOpenFor(call: Sourced): boolean {
    return this.#phase !== 'closed' && (this.#refused === undefined || this.#refused === call.source);
  }

  /** Throws what `admit` would throw now, and admits nothing. */
  assertAdmits(call: Sourced): void {
    if (this.isOpenFor(call) && !this.#isProbeDue()) throw this.#refusal();
  }

  /** Before a call. Throws UPSTREAM_UNREACHABLE with the time until the next try while the breaker is open for it. */
  admit(call: Sourced): Trial {
    if (!this.isOpenFor(call)) return new Trial(this, call, this.#turn, false);
    if (!this.#isProbeDue()) throw this.#refusal();
    this.#enter('trying'); // one-probe
    return new Trial(this, call, this.#turn, true);
  }

  /** The call has been answered, or its answer has begun. */
  succeed(trial: Trial): void {
    if (trial.turn !== this.#turn) return; // own-phase
    if (this.#failures === 0 && this.#phase === 'closed') return; // the usual case: to clear an empty map costs a microsecond
    this.#failures = 0;
    this.#bySource.clear();
    if (this.#phase === 'closed') return;
    this.#enter('closed');
    this.#facts.closed();
  }

  /** The call has failed. */
  fail(trial: Trial, error: BlockhouseError): void {
    if (trial.turn !== this.#turn) return; // own-phase
    if (FAILURES.has(error.code)) this.#count(trial, error);
    else if (ANSWERS.has(error.code)) this.succeed(trial);
    else if (trial.isProbe) this.#enter('open'); // health-only: the call says nothing, and the next one tries at once
  }

  #count(trial: Trial, error: BlockhouseError): void {
    this.#failures += 1;
    if (this.#phase !== 'closed' && this.#refused === undefined) {
      this.#open(undefined, error);
      return;
    }
    const source = isOfDestination(error) ? NO_SOURCE : trial.source;
    this.#bySource.set(source, (this.#bySource.get(source) ?? 0) + 1);
    if (this.#failures < FAILURES_TO_OPEN) return; // in-a-row
    const main = this.#mainSource();
    if (main === undefined) this.#open(undefined, error);
    else if (this.#phase === 'closed' || trial.isProbe) this.#open(main, error);
  }

  /** one-source: the source that has failed so much more than all others that it may be to blame; undefined when there is none. */
  #mainSource(): string | undefined {
    for (const [source, failures] of this.#bySource) if (source !== NO_SOURCE && this.#failures - failures < FROM_OTHERS) return source;
    return undefined;
  }

  #open(refused: string | undefined, { code, message }: BlockhouseError): void {
    const isAgain = this.#phase !== 'closed' && this.#refused === refused;
    this.#openMs = isAgain ? Math.min(this.#openMs * 2, LONGEST_OPEN_MS) : FIRST_OPEN_MS;
    this.#openUntil = this.#now() + this.#openMs;
    this.#lastError = message;
    this.#refused = refused;
    if (refused === undefined) this.#bySource.clear();
    this.#enter('open');
    const scope = refused === undefined ? 'all' : 'caller';
    this.#facts.opened({ scope, openMs: this.#openMs, failures: this.#failures, code, error: message });
  }

  #isProbeDue(): boolean {
    return this.#phase === 'open' && this.#openUntil <= this.#now();
  }

  #refusal(): BlockhouseError {
    const retryAfterMs = Math.max(this.#openUntil - this.#now(), SHORTEST_RETRY_AFTER_MS);
    const what =
      this.#refused === undefined
        ? `${this.#name} has failed ${this.#failures} times in a row`
        : `${this.#name} has repeatedly failed on requests like this one`;
    const next = `The next attempt is possible in ${Math.ceil(retryAfterMs / 1000)} s`;
    return new BlockhouseError('UPSTREAM_UNREACHABLE', `${what}, so calls to it are paused. ${next}. The last error: ${this.#lastError}`, { retryAfterMs });
  }

  #enter(phase: Phase): void {
    this.#phase = phase;
    this.#turn += 1;
  }
}

/** No source is the empty string. */
const NO_SOURCE = '';

/** one-source: nothing of the request had been sent. */
function isOfDestination({ code, mayHaveRun }: BlockhouseError): boolean {
  return code === 'UPSTREAM_UNREACHABLE' && !mayHaveRun;
}

/** One call that the breaker has admitted, and that tells the breaker how it went. */
export class Trial {
  readonly #breaker: Breaker;
  readonly #call: Sourced;
  /** The phase in which it was admitted. */
  readonly turn: number;
  /** True for the one call that is let through to an open destination. */
  readonly isProbe: boolean;

  constructor(breaker: Breaker, call: Sourced, turn: number, isProbe: boolean) {
    this.#breaker = breaker;
    this.#call = call;
    this.turn = turn;
    this.isProbe = isProbe;
  }

  get source(): string {
    return this.#call.source;
  }

  /** The destination has begun to answer, or has answered. */
  succeed(): void {
    this.#breaker.succeed(this);
  }

  /** The call has failed with `error`. */
  fail(error: BlockhouseError): void {
    this.#breaker.fail(this, error);
  }
}
