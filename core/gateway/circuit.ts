// One circuit of the breaker: it counts failures, and when call after call fails, it lets none through for a while.
//
// in-a-row: It opens after FAILURES_TO_OPEN failures without a success between them, for a time that doubles with each opening.
// one-probe: Once that time is over, one call is let through. Its success closes the circuit, its failure opens it again.
// one-member: A member that has more than half of the failures may be to blame for them. The circuit then opens for that member alone or, if its members have
//   circuits of their own, not at all, until at least FROM_OTHERS failures have come from others.
// own-phase: A call counts only in the phase in which it was admitted: a stream that began before an outage does not end the outage.
import type { BlockhouseError } from '../errors.ts';
import type { BreakerState } from './live.ts';

/** More than the repetitions of a handful of requests add up to; a destination that works at all would have answered one of them. */
const FAILURES_TO_OPEN = 20;
/** Failures from others than the main member that open it for everybody. */
const FROM_OTHERS = FAILURES_TO_OPEN / 2;
const FIRST_OPEN_MS = 5000;
const LONGEST_OPEN_MS = 60_000;

/** The member of failures that no caller causes. */
export const NOBODY = '';

type Phase = BreakerState['phase'];

/** How a call was admitted. */
export interface Admission {
  /** The phase in which it was admitted. */
  readonly turn: number;
  /** True for the one call that is let through while the circuit is open. */
  readonly isProbe: boolean;
}

/** What a circuit says when it has opened. */
export interface Opening {
  /** Undefined if it is open for all its members. */
  readonly member: string | undefined;
  readonly openMs: number;
  /** Without a success between them. */
  readonly failures: number;
  readonly error: BlockhouseError;
}

/** What a circuit is told once. */
export interface CircuitOptions {
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** True if it opens for one member alone; false if its members have circuits of their own. */
  readonly opensForMember: boolean;
  opened(opening: Opening): void;
  closed(): void;
}

/** Counts how the calls of its members go, and says whether another one may be made. */
export class Circuit {
  readonly #options: CircuitOptions;
  #phase: Phase = 'closed';
  /** Counts the phases, so that a call recognises its own (own-phase). */
  #turn = 0;
  /** While it is not closed: the member that it is open for; undefined for all. */
  #refused: string | undefined;
  /** Since the last success. */
  #failures = 0;
  /** Of them, by member. Empty while it is open for all. */
  readonly #byMember = new Map<string, number>();
  #openMs = 0;
  /** When the next call may be tried; without meaning while it is closed. */
  #openUntil = 0;
  #lastError = '';

  constructor(options: CircuitOptions) {
    this.#options = options;
  }

  get phase(): Phase {
    return this.#phase;
  }

  get turn(): number {
    return this.#turn;
  }

  /** The one member that it is open for, while it is. */
  get refused(): string | undefined {
    return this.#refused;
  }

  /** Milliseconds until the next call is tried. */
  get opensInMs(): number {
    return this.#phase === 'closed' ? 0 : Math.max(0, this.#openUntil - this.#options.now());
  }

  get failures(): number {
    return this.#failures;
  }

  get lastError(): string {
    return this.#lastError;
  }

  /** True when calls of `member` are among those that it is open for. Asks for the member only if it matters. */
  isOpenFor(member: () => string): boolean {
    return this.#phase !== 'closed' && (this.#refused === undefined || this.#refused === member());
  }

  /** True when a call that it is open for may be let through. */
  get isProbeDue(): boolean {
    return this.#phase === 'open' && this.#openUntil <= this.#options.now();
  }

  /** one-probe */
  letProbeThrough(): void {
    this.#enter('trying');
  }

  /** A call has been answered, or its answer has begun. */
  succeed({ turn }: Admission): void {
    if (turn !== this.#turn) return; // own-phase
    if (this.#failures === 0 && this.#phase === 'closed') return; // the usual case: to clear an empty map costs a microsecond
    this.#failures = 0;
    this.#byMember.clear();
    if (this.#phase === 'closed') return;
    this.#enter('closed');
    this.#options.closed();
  }

  /** A call has ended in a way that says nothing: after a probe, the next one tries at once. */
  passOver({ turn, isProbe }: Admission): void {
    if (isProbe && turn === this.#turn) this.#enter('open');
  }

  /** A call of `member` has failed. */
  fail({ turn, isProbe }: Admission, member: () => string, error: BlockhouseError): void {
    if (turn !== this.#turn) return; // own-phase
    this.#failures += 1;
    if (this.#phase !== 'closed' && this.#refused === undefined) {
      this.#open(undefined, error);
      return;
    }
    const name = member();
    this.#byMember.set(name, (this.#byMember.get(name) ?? 0) + 1);
    if (this.#failures < FAILURES_TO_OPEN) return; // in-a-row
    const main = this.#mainMember();
    if (main === undefined) this.#open(undefined, error);
    else if (this.#options.opensForMember && (this.#phase === 'closed' || isProbe)) this.#open(main, error);
  }

  /** one-member: the one that has failed so much more than all others that it may be to blame; undefined when there is none. */
  #mainMember(): string | undefined {
    for (const [member, failures] of this.#byMember) if (member !== NOBODY && this.#failures - failures < FROM_OTHERS) return member;
    return undefined;
  }

  #open(refused: string | undefined, error: BlockhouseError): void {
    const { now, opened } = this.#options;
    const isAgain = this.#phase !== 'closed' && this.#refused === refused;
    this.#openMs = isAgain ? Math.min(this.#openMs * 2, LONGEST_OPEN_MS) : FIRST_OPEN_MS;
    this.#openUntil = now() + this.#openMs;
    this.#lastError = error.message;
    this.#refused = refused;
    if (refused === undefined) this.#byMember.clear();
    this.#enter('open');
    opened({ member: refused, openMs: this.#openMs, failures: this.#failures, error });
  }

  #enter(phase: Phase): void {
    this.#phase = phase;
    this.#turn += 1;
  }
}
