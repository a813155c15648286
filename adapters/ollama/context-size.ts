// The context that a model is loaded with (`num_ctx`). Ollama's own default is 4,096 tokens on most machines, and it cuts a longer prompt
// without an error. A different size reloads the model, so sizes should rarely change.
//
// powers-of-two: a size is a power of two from FLOOR on, or the limit, so a growing conversation changes its size seldom.
// grow-only: while a model is likely to be loaded, its size never shrinks, so that short and long requests can alternate.
import { RecentMap } from '../../core/base/recent-map.ts';

/** Ollama's own default on a small machine. */
const FLOOR = 4096;
/** By default Ollama unloads a model that has not been called for this long. */
const LOADED_MS = 300_000;
/** An estimate of tokens may be about a fifth too low. */
const MARGIN = 1.2;

/** What one call needs, in tokens. */
export interface NeededContext {
  /** An estimate from the text, without a tokenizer. */
  readonly promptTokens: number;
  readonly answerTokens: number;
  /** The most that the model and the settings allow. */
  readonly limit: number;
}

interface LoadedSize {
  readonly size: number;
  readonly usedAt: number;
}

/** The sizes that models were last called with. */
export class ContextSizes {
  readonly #loaded = new RecentMap<LoadedSize>();
  readonly #now: () => number;

  /** `now` in monotonic milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** The size in tokens for a call of the model that `key` names: large enough for the prompt and the answer, or the limit. */
  sizeFor(key: string, { promptTokens, answerTokens, limit }: NeededContext): number {
    const needed = Math.max(Math.ceil(promptTokens * MARGIN) + answerTokens, FLOOR);
    const now = this.#now();
    const loaded = this.#loaded.get(key);
    const least = loaded !== undefined && now - loaded.usedAt < LOADED_MS ? loaded.size : 0; // grow-only
    const size = Math.min(Math.max(2 ** Math.ceil(Math.log2(needed)), least), limit); // powers-of-two
    this.#loaded.set(key, { size, usedAt: now });
    return size;
  }
}
