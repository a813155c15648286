// The largest context of each model, from the daemon's `/api/show`.
//
// asked-once: the daemon gets one question for each model and address, however many calls wait for the answer.
// never-in-the-way: when the daemon doesn't know or fails, only the settings limit the context. The next question comes after ASK_AGAIN_MS.
//   A question stays open when its caller leaves, so their number has a limit too.
import { BlockhouseError } from '../../core/index.ts';
import { asCount, asObject, asString } from '../shared/read.ts';
import { RecentMap } from '../../core/base/recent-map.ts';

const ASK_AGAIN_MS = 30_000;
const MAX_OPEN_QUESTIONS = 32;

interface Known {
  readonly at: number;
  /** Undefined if the daemon could not tell. */
  readonly tokens: number | undefined;
}

/** Remembers the answers, by model and address. */
export class ModelContexts {
  readonly #known = new RecentMap<Known>();
  /** Questions that have no answer yet. */
  readonly #asked = new Map<string, Promise<number | undefined>>();
  readonly #now: () => number;

  /** `now` in monotonic milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /**
   * The context in tokens of the model that `key` names, without a promise if it is known. `show` resolves with the daemon's answer. Rejects
   * only if there is no connection to the daemon: the call that waits for this would not get one either.
   */
  of(key: string, show: () => Promise<unknown>): Promise<number | undefined> | number | undefined {
    const known = this.#known.get(key);
    if (known !== undefined && (known.tokens !== undefined || this.#now() - known.at < ASK_AGAIN_MS)) return known.tokens;
    const asked = this.#asked.get(key); // asked-once
    if (asked !== undefined) return asked;
    return this.#asked.size < MAX_OPEN_QUESTIONS ? this.#ask(key, show) : undefined; // never-in-the-way
  }

  #ask(key: string, show: () => Promise<unknown>): Promise<number | undefined> {
    const asked = this.#read(key, show).finally(() => this.#asked.delete(key));
    this.#asked.set(key, asked);
    return asked;
  }

  async #read(key: string, show: () => Promise<unknown>): Promise<number | undefined> {
    let tokens: number | undefined;
    try {
      tokens = contextLength(await show());
    } catch (error) {
      if (isWithoutConnection(error)) throw error;
      tokens = undefined; // never-in-the-way
    }
    this.#known.set(key, { at: this.#now(), tokens });
    return tokens;
  }
}

/** `model_info` has it under the name of the architecture: `llama.context_length`. */
function contextLength(answer: unknown): number | undefined {
  const info = asObject(asObject(answer)['model_info']);
  const own = info[`${asString(info['general.architecture'])}.context_length`];
  return asCount(own) || undefined;
}

function isWithoutConnection(error: unknown): boolean {
  return (
    error instanceof BlockhouseError &&
    !error.mayHaveRun &&
    ['UPSTREAM_UNREACHABLE', 'TOO_MANY_CONNECTIONS', 'SHUTTING_DOWN', 'INVALID_REQUEST'].includes(error.code)
  );
}
