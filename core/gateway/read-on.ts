// What becomes of a call whose caller leaves after it was sent, where a limit of its key counts what it uses. The provider bills the answer whether anybody waits
// for it or not, and reports its reasoning at the end alone. So the answer is read on, counted, and handed to nobody.
//
// still-under-way: until its answer has ended, such a call has its place in the queue, and its account counts it as under way. Its caller does not wait for that.
// bounded: an answer is read on for READ_ON_MS, as far as ANSWER_LIMITS goes, and until the gateway closes.
// never-told: of an answer that did not come to its end, the call counts the largest output that its request allowed, by estimate, and never less than what
//   came. The exception is a stream of a model that reasons openly or not at all: it had shown what it had generated, so only that counts. An answer that ended
//   without usage counts its text, as it does for a caller who stays.
// timed-out: an answer that fell silent while its caller waits, or that a proxy no longer waits for, counts what a model generates in the time that it took, within the same bounds. Else a caller
//   could have a model reason for longer than the time limit, again and again, at no cost; and a provider that hangs would use up a key if each call counted the largest output.
//   The same holds for calls of blocks, for their own caps and for that of the key whose message is answered.
// held-up: so does an answer that broke off after its caller's slow reading had held it up, and here no model shows all. Providers give up what nobody reads.
// lent-again: what a call whose caller has stayed was lent serves the next call, its signal included: to make one costs more than the rest of an account. Nobody listens to
//   the signal before a caller leaves; it serves SIGNAL_USES calls at most, because an adapter that is not ours may do so and leave listeners behind.
import type { BlockhouseError } from '../errors.ts';
import type { Usage } from '../types.ts';

/** The official clients of OpenAI and Anthropic wait as long for an answer. */
export const READ_ON_MS = 600_000;
/** The most that models write in one answer, their reasoning included; for a request that sets no limit. */
export const LARGEST_OUTPUT = 128_000;
/** The largest limit of a request that is believed, as for `config.maxTokens`. Multiplied by the answers that it asks for, a larger one would be no count, which has no price. */
export const LARGEST_LIMIT = 10_000_000;

/** The most that a model generates a second; no answer of the largest models comes as fast. */
const TOKENS_A_SECOND = 100;

const SIGNAL_USES = 1000;
/** As many as calls run at once in most servers. */
const KEPT_SIGNALS = 64;

const free: ReadOn[] = [];

/** timed-out: what a model may have generated in `ms` milliseconds. */
export function generatedIn(ms: number): number {
  return Math.ceil((ms / 1000) * TOKENS_A_SECOND);
}

/** No provider gives up as soon as that. */
const HELD_UP_MS = 5000;

/** Whether its caller's slow reading has held an answer up (held-up). */
export class HoldUps {
  readonly #now: () => number;
  #since: number | undefined;
  #ms = 0;

  /** `now` in monotonic milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** The answer waits from now on, until what this returns is called. */
  begin(resume: () => void): () => void {
    this.#since ??= this.#now();
    return () => {
      this.#ms = this.#sum;
      this.#since = undefined;
      resume();
    };
  }

  get areLong(): boolean {
    return this.#sum >= HELD_UP_MS;
  }

  get #sum(): number {
    return this.#ms + (this.#since === undefined ? 0 : this.#now() - this.#since);
  }
}

/** The time that is left for the answer of one call. */
export class ReadOn {
  readonly #controller = new AbortController();
  /** Fires when the answer is no longer read. */
  readonly until: AbortSignal = this.#controller.signal;
  #uses = 0;
  #timer: NodeJS.Timeout | undefined;
  /** True once the caller has left. */
  hasLeft = false;
  #hasStopped = false;

  /** For a call that begins (lent-again). */
  static lend(): ReadOn {
    return free.pop() ?? new ReadOn();
  }

  /** The caller has left (bounded). */
  begin(): void {
    this.hasLeft = true;
    this.#timer = setTimeout(() => this.stop(), READ_ON_MS).unref();
  }

  /** The answer is no longer read; `reason` is why, if its caller has not left. */
  stop(reason?: BlockhouseError): void {
    this.#hasStopped = true;
    this.#controller.abort(reason);
  }

  /** The call has ended. Called once; neither `begin` nor `stop` may be called after it (lent-again). */
  end(): void {
    if (this.#timer !== undefined) clearTimeout(this.#timer);
    this.#uses += 1;
    if (!this.hasLeft && !this.#hasStopped && this.#uses <= SIGNAL_USES && free.length < KEPT_SIGNALS) free.push(this);
  }
}

/** never-told. `used` is what is known, `largest` the output that the request allowed without showing it. */
export function withUnseen(used: Usage | undefined, largest: number): Usage | undefined {
  if (used === undefined || used.outputTokens >= largest) return used;
  return { ...used, outputTokens: largest, totalTokens: used.inputTokens + largest, estimated: true };
}
