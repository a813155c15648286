// A circuit that callers share: that of a destination, or of one model there. It says when everybody is paused; whose turn it is then is in each caller's own
// circuit (circuit.ts).
//
// shared-fault: It opens after FAILURES_TO_OPEN failures without a success between them, unless one caller or, for a destination, one model may be to blame for
//   them (one-member in tally.ts).
// one-pause: It pauses everybody for FIRST_OPEN_MS, once in REST_MS: callers that fail again and again, or succeed only to fail again, cost one that works no more.
//   From then on each caller tries by itself, and a success of any caller closes it.
// proof: A caller whose call succeeded while others failed is not paused with them for PROVEN_MS, or until a call of its own fails.
// bounded-proof: The last MAX_PROVEN such callers are remembered.
// own-words: What a provider says about a caller's call may quote it. So another key or block is told the code and the status of a failure, and not its text;
//   programs with the token may know everything. A failed connection says nothing of any call.
// own-phase: As in circuit.ts.
import { type BlockhouseError, NO_WORDS, type Words, wordsOf } from '../errors.ts';
import { type Admission, FIRST_OPEN_MS, type Opening, type Turns } from './circuit.ts';
import { FAILURES_TO_OPEN, Tally } from './tally.ts';

const REST_MS = 60_000;
const PROVEN_MS = 60_000;
const MAX_PROVEN = 1024;

/** Who has made a call, and what of. */
export interface Origin {
  readonly client: string;
  readonly model: string;
}

/** Who asks why calls are paused. */
export interface Asker {
  readonly client: string;
  /** Both are undefined for the token. */
  readonly key?: string | undefined;
  readonly caller?: string | undefined;
}

/** What a shared circuit is told once. */
export interface SharedOptions {
  /** Monotonic milliseconds. */
  readonly now: () => number;
  readonly turns: Turns;
  /** True if it is of a destination, where failures of one model do not count as those of all. */
  readonly hasModels: boolean;
  opened(opening: Opening): void;
  closed(): void;
}

/** Counts how the calls of all callers go. */
export class SharedCircuit {
  readonly #options: SharedOptions;
  #isOpen = false;
  /** The turn in which it opened or closed (own-phase). */
  #since = 0;
  /** one-pause */
  #openUntil = 0;
  #restsAgainAt = Number.NEGATIVE_INFINITY;
  /** Since the last success. */
  #failures = 0;
  readonly #callers = new Tally();
  readonly #models = new Tally();
  /** The client of the last failure; undefined if it was nobody's. */
  #failed: string | undefined;
  #lastError: Words = NO_WORDS;
  /** The same without the words of the provider. */
  #lastCode: Words = NO_WORDS;
  /** When the proof of each caller ends; the newest last. */
  readonly #proven = new Map<string, number>();
  /** When the last proof ends. */
  #provenUntil = 0;

  constructor(options: SharedOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** True if nothing is lost when it is forgotten. */
  get isBlank(): boolean {
    return this.#since === 0 && this.#failures === 0 && this.#provenUntil <= this.#options.now();
  }

  get since(): number {
    return this.#since;
  }

  /** True when it pauses calls of `client`. */
  isOpenFor(client: string): boolean {
    return this.#isOpen && (this.#proven.get(client) ?? Number.NEGATIVE_INFINITY) <= this.#options.now(); // proof
  }

  /** Milliseconds until callers may try, each in its turn. */
  get opensInMs(): number {
    return this.#isOpen ? Math.max(0, this.#openUntil - this.#options.now()) : 0;
  }

  get failures(): number {
    return this.#failures;
  }

  /** What the last failure was, as far as this caller may know it (own-words). */
  lastErrorFor({ client, key, caller }: Asker): Words {
    const isToken = key === undefined && caller === undefined;
    return isToken || this.#failed === undefined || this.#failed === client ? this.#lastError : this.#lastCode;
  }

  /** A call of `client` has been answered, or, without `isProof`, refused by the destination itself. True if that has closed the circuit. */
  succeed({ turn }: Admission, client: string, isProof: boolean): boolean {
    if (turn < this.#since) return false; // own-phase
    if (this.#failures === 0) return false; // the usual case
    this.#failures = 0;
    this.#callers.clear();
    this.#models.clear();
    if (isProof) this.#prove(client);
    if (!this.#isOpen) return false;
    this.#isOpen = false;
    this.#since = this.#options.turns.next();
    this.#options.closed();
    return true;
  }

  /** A call has failed; with `isNobodys`, the destination alone is to blame. */
  fail({ turn }: Admission, { client, model }: Origin, isNobodys: boolean, error: BlockhouseError): void {
    if (turn < this.#since) return; // own-phase
    this.#failures += 1;
    this.#failed = isNobodys ? undefined : client;
    this.#lastError = wordsOf(error);
    this.#lastCode = { message: `${error.code}${error.upstreamStatus === undefined ? '' : ` (HTTP ${error.upstreamStatus})`}`, forKeys: undefined };
    if (this.#proven.size > 0) this.#proven.delete(client); // proof
    if (this.#isOpen) return;
    if (!isNobodys) {
      this.#callers.add(client);
      if (this.#options.hasModels) this.#models.add(model);
    }
    if (this.#mayOpen()) this.#open(error);
  }

  #mayOpen(): boolean {
    if (this.#failures < FAILURES_TO_OPEN) return false;
    return this.#callers.mainOf(this.#failures) === undefined && this.#models.mainOf(this.#failures) === undefined; // shared-fault
  }

  #prove(client: string): void {
    this.#proven.delete(client);
    this.#provenUntil = this.#options.now() + PROVEN_MS;
    this.#proven.set(client, this.#provenUntil);
    for (const oldest of this.#proven.keys()) {
      if (this.#proven.size <= MAX_PROVEN) return;
      this.#proven.delete(oldest); // bounded-proof
    }
  }

  #open(error: BlockhouseError): void {
    const { now, turns, opened } = this.#options;
    this.#isOpen = true;
    this.#since = turns.next();
    if (now() >= this.#restsAgainAt) {
      this.#openUntil = now() + FIRST_OPEN_MS; // one-pause
      this.#restsAgainAt = now() + REST_MS;
    }
    opened({ member: undefined, openMs: this.opensInMs, failures: this.#failures, error });
  }
}
