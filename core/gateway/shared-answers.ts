// The questions to a provider that several callers ask: one that is under way is that of all of them, and its answer may hold for a moment after it, because a
// list of models may have megabytes and a client that asks in a loop would have each of them read for itself.
import { callerLeft, endWhenCallerLeaves } from '../base/abort.ts';

interface Asked<T> {
  readonly answer: Promise<T>;
  readonly leaving: AbortController;
  callers: number;
  /** Monotonic milliseconds; infinite while the provider is being asked. */
  until: number;
}

/** The answers by the settings they are asked with: an object that is another one after each change of them. */
export class SharedAnswers<T> {
  readonly #now: () => number;
  readonly #keepMs: number;
  readonly #asked = new WeakMap<object, Asked<T>>();

  /** An answer holds for `keepMs`. `now` in monotonic milliseconds. */
  constructor(now: () => number, keepMs: number) {
    this.#now = now;
    this.#keepMs = keepMs;
  }

  /** Settles as `question` does, or rejects with CANCELLED when `signal` fires. The question ends with its last caller; one that fails is asked again by the next. */
  of(settings: object, signal: AbortSignal, question: (signal: AbortSignal) => Promise<T>): Promise<T> {
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
    return endWhenCallerLeaves(() => asked.answer, signal, leave);
  }

  #ask(settings: object, question: (signal: AbortSignal) => Promise<T>): Asked<T> {
    const leaving = new AbortController();
    const end = (keepMs: number): void => {
      asked.until = this.#now() + keepMs;
    };
    const answer = question(leaving.signal).then(
      (given) => {
        end(this.#keepMs);
        return given;
      },
      (error: unknown) => {
        end(0);
        throw error;
      },
    );
    const asked: Asked<T> = { answer, leaving, callers: 0, until: Number.POSITIVE_INFINITY };
    this.#asked.set(settings, asked);
    return asked;
  }
}
