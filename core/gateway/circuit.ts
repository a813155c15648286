// One circuit of the breaker: the calls of one caller, to all models or to one of them. It counts failures, and when call after call fails, it lets none
// through for a while. It also keeps the caller's turn while a shared circuit is open for everybody.
//
// in-a-row: It opens after FAILURES_TO_OPEN failures without a success between them, for a time that doubles with each opening.
// one-probe: Once that time is over, one call is let through. Its success closes the circuit, its failure opens it again.
// one-member: If one member (a model, a prompt) may be to blame, it opens for that member alone or, if its members have circuits of their own, not at all.
// own-phase: A call counts only in the phase in which it was admitted: a stream that began before an outage does not end the outage.
// own-turn: While a shared circuit is open, a probe that brought no success pauses its caller alone, until all others that failed have had their turn.
import { type BlockhouseError, NO_WORDS, type Words, wordsOf } from '../errors.ts';
import type { BreakerState } from './live.ts';
import { FAILURES_TO_OPEN, Tally } from './tally.ts';

export const FIRST_OPEN_MS = 5000;
const LONGEST_OPEN_MS = 60_000;

/** Numbers the phases of all circuits of a breaker in the order of their beginning, so that a call recognises those that began after it (own-phase). */
export class Turns {
  #current = 0;

  get current(): number {
    return this.#current;
  }

  next(): number {
    this.#current += 1;
    return this.#current;
  }
}

/** A call that was admitted. */
export interface Admission {
  /** The current turn when it was. */
  readonly turn: number;
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
  readonly turns: Turns;
  /** Calls that were admitted before this turn do not count. */
  readonly since: number;
  /** True if it opens for one member alone; false if its members have circuits of their own. */
  readonly opensForMember: boolean;
  /** own-turn: milliseconds in which each caller that failed has a turn. */
  roundMs(): number;
  /** It has opened by itself, not for its turn alone. */
  opened(opening: Opening): void;
  closed(): void;
}

/** Counts how the calls of one caller go, and says whether another one may be made. */
export class Circuit {
  readonly #options: CircuitOptions;
  #phase: BreakerState['phase'] = 'closed';
  /** The turn in which the phase began (own-phase). */
  #since: number;
  /** True if it is open or trying only because a shared circuit is open. */
  #isShared = false;
  /** The call that was let through and has not ended. */
  #probe: Admission | undefined;
  /** While it is not closed: the member that it is open for; undefined for all. */
  #refused: string | undefined;
  /** Since the last success. */
  #failures = 0;
  /** Empty while it is open for all. */
  readonly #tally = new Tally();
  #openMs = 0;
  /** When the next call may be tried; without meaning while it is closed. */
  #openUntil = 0;
  #lastError: Words = NO_WORDS;
  /** True once it has been open by itself: it is kept, so that calls from before still recognise that their time is over. */
  #wasOpen = false;

  constructor(options: CircuitOptions) {
    this.#options = options;
    this.#since = options.since;
  }

  get phase(): BreakerState['phase'] {
    return this.#phase;
  }

  /** True if its caller is paused on its own. */
  get isOwnPause(): boolean {
    return this.#phase !== 'closed' && !this.#isShared;
  }

  /** True if nothing is lost when it is forgotten. */
  get isBlank(): boolean {
    return this.#phase === 'closed' && this.#failures === 0 && !this.#wasOpen;
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

  get lastError(): Words {
    return this.#lastError;
  }

  /** True when calls of `member` are among those that it is open for. Asks for the member only if it matters. */
  isOpenFor(member: () => string): boolean {
    return this.#phase !== 'closed' && (this.#refused === undefined || this.#refused === member());
  }

  /** True while its caller is paused or tries. */
  get isWaiting(): boolean {
    return this.#phase !== 'closed';
  }

  /** Milliseconds until a call that it is open for may be made, 1 if that depends on the one that tries; 0 if it may be made now. */
  get waitMs(): number {
    return this.#phase === 'trying' ? Math.max(1, this.opensInMs) : this.opensInMs;
  }

  /** one-probe. The circuit may be closed if a shared one is open (own-turn). */
  letThrough(probe: Admission): void {
    if (this.#phase === 'closed') {
      this.#isShared = true;
      this.#refused = undefined;
      this.#openMs = 0;
      this.#openUntil = this.#options.now();
    }
    this.#phase = 'trying';
    this.#probe = probe;
  }

  /** A call has been answered, or its answer has begun. */
  succeed({ turn }: Admission): void {
    if (turn < this.#since) return; // own-phase
    this.#failures = 0;
    this.#tally.clear();
    if (this.#phase === 'closed') return;
    const wasShared = this.#isShared;
    this.#close(this.#options.turns.next());
    if (!wasShared) this.#options.closed();
  }

  /** The shared circuit has closed with the turn `since`: what was open for its sake is closed, and nothing from before counts. */
  release(since: number): void {
    if (!this.#isShared) return;
    this.#failures = 0;
    this.#tally.clear();
    this.#close(since);
  }

  /** A call has ended in a way that says nothing: after a probe, the next one tries at once or, if it was one of many callers', in its turn. */
  passOver(permit: Admission): void {
    if (permit !== this.#probe) return;
    if (this.#isShared) this.#openUntil = this.#options.now() + Math.max(FIRST_OPEN_MS, this.#options.roundMs()); // own-turn
    this.#enter('open', this.#options.turns.next());
  }

  /** A call of `member` has failed. */
  fail(permit: Admission, member: () => string, error: BlockhouseError): void {
    if (permit.turn < this.#since) return; // own-phase
    this.#failures += 1;
    if (this.#phase !== 'closed' && this.#refused === undefined) {
      this.#open(undefined, error);
      return;
    }
    this.#tally.add(member());
    if (this.#failures < FAILURES_TO_OPEN) return; // in-a-row
    const main = this.#tally.mainOf(this.#failures);
    if (main === undefined) this.#open(undefined, error);
    else if (this.#options.opensForMember && (this.#phase === 'closed' || permit === this.#probe)) this.#open(main, error);
  }

  #open(refused: string | undefined, error: BlockhouseError): void {
    const { now, turns, roundMs, opened } = this.#options;
    const isAgain = this.#phase !== 'closed' && this.#refused === refused;
    this.#openMs = isAgain ? Math.min(Math.max(this.#openMs * 2, FIRST_OPEN_MS), LONGEST_OPEN_MS) : FIRST_OPEN_MS;
    this.#openUntil = now() + (this.#isShared ? Math.max(this.#openMs, roundMs()) : this.#openMs); // own-turn
    this.#lastError = wordsOf(error);
    this.#refused = refused;
    if (refused === undefined) this.#tally.clear();
    this.#enter('open', turns.next());
    if (this.#isShared) return;
    this.#wasOpen = true;
    opened({ member: refused, openMs: this.#openMs, failures: this.#failures, error });
  }

  #close(since: number): void {
    this.#isShared = false;
    this.#enter('closed', since);
  }

  #enter(phase: 'open' | 'closed', since: number): void {
    this.#phase = phase;
    this.#since = since;
    this.#probe = undefined;
  }
}
