// What the bills of a model say of an answer of which none came, where only answers tell what they cost. Pure: no I/O.
//
// no-less: a bill does not say how much of it was for input and how much for output, so an answer counts the most that it may have cost by the dearest bill: a token of
//   output costs between as much as one of input and OUTPUT_FACTOR times that, and a cached one a tenth.
// wrote-nothing: a bill of 0 for an answer without output says nothing of one with output: some services charge nothing for an empty answer.
import type { Usage } from '../schemas/chat.ts';

const OUTPUT_FACTOR = 8;
const CACHED_SHARE = 0.1;
const MAX_MODELS = 1000;

/** USD for a token of input, by the dearest bill. */
interface Rates {
  /** If one of output costs the same. */
  readonly flat: number;
  /** If one of output costs OUTPUT_FACTOR times as much. */
  readonly steep: number;
  /** wrote-nothing. */
  readonly knowsOutput: boolean;
}

/** The bills of all models. */
export class ToldBills {
  readonly #rates = new Map<string, Rates>();

  /** Takes what an answer has used. A cost of a usage that is partly estimated is a part as well, and says nothing. */
  learn(model: string, { costUsd, inputTokens, outputTokens, totalTokens, cacheReadTokens = 0, estimated }: Usage): void {
    if (costUsd === undefined || totalTokens === 0 || estimated === true) return;
    const read = Math.min(cacheReadTokens, inputTokens);
    const input = inputTokens - read + read * CACHED_SHARE;
    const { flat, steep, knowsOutput } = this.#rates.get(model) ?? { flat: 0, steep: 0, knowsOutput: false };
    if (this.#rates.size >= MAX_MODELS) this.#rates.clear();
    this.#rates.set(model, {
      flat: Math.max(flat, costUsd / (input + outputTokens)),
      steep: Math.max(steep, costUsd / (input + OUTPUT_FACTOR * outputTokens)),
      knowsOutput: knowsOutput || outputTokens > 0 || costUsd > 0,
    });
  }

  /** no-less: USD; null if no bill says anything of it. */
  costOf(model: string, { inputTokens, outputTokens }: Usage): number | null {
    const rates = this.#rates.get(model);
    if (rates === undefined || (outputTokens > 0 && !rates.knowsOutput)) return null;
    return Math.max(rates.flat * (inputTokens + outputTokens), rates.steep * (inputTokens + OUTPUT_FACTOR * outputTokens));
  }
}
