// The lists of models that several callers ask for: a question that is under way is that of all of them, and its answer holds for a moment after it, because a
// list may have megabytes and a client that asks in a loop would have each of them read for itself.
import { callerLeft, endWhenCallerLeaves } from '../base/abort.ts';

/** So short that a person who has just added a model finds it. */
const KEEP_MS = 2000;

type Names = readonly string[];

interface Asked {
  readonly names: Promise<Names>;
  readonly leaving: AbortController;
  callers: number;
  /** Monotonic milliseconds; infinite while the provider is being asked. */
  until: number;
}

/** The lists by the settings they are asked with: an object that is another one after each change of them. */
export class SharedLists {
  readonly #now: () => number;
  readonly #asked = new WeakMap<object, Asked>();

  /** `now` in monotonic milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Settles as `question` does, or rejects with CANCELLED when `signal` fires. The question ends with its last caller; one that fails is asked again by the next. */
  of(settings: object, signal: AbortSignal, question: (signal: AbortSignal) => Promise<Names>): Promise<Names> {
    if (signal.aborted) return Promise.reject(callerLeft(signal.reason));
    const known = this.#asked.get(settings);
    const asked = known !== undefined && known.until > this.#now() ? known : this.#ask(settings, question);
    asked.callers += 1;
    const leave = (): void => {
      asked.callers -= 1;
      if (asked.callers > 0 || asked.until !== Number.POSITIVE_INFINITY) return;
      this.#asked.delete(settings);
      asked.leaving.abort(signal.reason);
    };
    return endWhenCallerLeaves(() => asked.names, signal, leave);
  }

  #ask(settings: object, question: (signal: AbortSignal) => Promise<Names>): Asked {
    const leaving = new AbortController();
    const end = (keepMs: number): void => {
      asked.until = this.#now() + keepMs;
    };
    const names = question(leaving.signal).then(
      (list) => {
        end(KEEP_MS);
        return list;
      },
      (error: unknown) => {
        end(0);
        throw error;
      },
    );
    const asked: Asked = { names, leaving, callers: 0, until: Number.POSITIVE_INFINITY };
    this.#asked.set(settings, asked);
    return asked;
  }
}
