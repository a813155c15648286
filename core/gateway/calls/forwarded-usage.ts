// What a forwarded request and its answer have used: as the provider reports it and, where it does not, by the size of what passed. Pure: no I/O.
//
// counts-grow: a later report never lowers a count of an earlier one.
// not-counted: as in accumulate.ts.
import { isCount } from '../../base/tokens.ts';
import type { Writable } from '../../base/writable.ts';
import type { ReportedUsage } from '../../ports.ts';
import { FURTHER_COUNTS } from '../../schemas/chat.ts';
import type { Usage } from '../../types.ts';
import { addReport, BYTES_A_TOKEN, believed, type Counts } from '../accumulate.ts';
import { StreamTokens } from '../stream-tokens.ts';

/** The usage of one attempt at a forwarded request. */
export class ForwardedUsage {
  readonly #inputTokens: () => number;
  readonly #reported: Counts = {};
  readonly #stream = new StreamTokens();
  #wholeBytes = 0;
  /** What the answer was estimated at when the provider last reported its output. */
  #whenReported = 0;

  /** `inputTokens` estimates the request. */
  constructor(inputTokens: () => number) {
    this.#inputTokens = inputTokens;
  }

  report(reported: ReportedUsage): void {
    addReport(this.#reported, reported);
    if (isCount(reported.outputTokens)) this.#whenReported = this.#answered;
  }

  /** Takes whole frames of a stream. */
  frames(bytes: Buffer): void {
    this.#stream.add(bytes);
  }

  /** Takes the size of a whole answer, or of a part that could not be read. */
  whole(bytes: number): void {
    this.#wholeBytes += bytes;
  }

  /** True if anything is known of the answer. */
  get isKnown(): boolean {
    return this.#answered > 0 || Object.values(this.#reported).some((count) => count !== undefined);
  }

  /** Of an answer that has come to its end. */
  complete(): Usage {
    const { outputTokens } = this.#believed;
    return this.#usage(outputTokens ?? this.#answered, outputTokens === undefined);
  }

  /** Of an answer that is under way, or has broken off: what came after the last report is added to it. */
  soFar(): Usage {
    const { outputTokens } = this.#believed;
    const unreported = outputTokens === undefined ? 0 : Math.max(0, this.#answered - this.#whenReported);
    return this.#usage((outputTokens ?? this.#answered) + unreported, outputTokens === undefined || unreported > 0);
  }

  /** not-counted: a whole answer is looked at where its bytes are, and may be empty. */
  get #believed(): Pick<Counts, 'inputTokens' | 'outputTokens'> {
    return believed(this.#reported, this.#answered, this.#stream.tokens);
  }

  get #answered(): number {
    return this.#stream.tokens + Math.ceil(this.#wholeBytes / BYTES_A_TOKEN);
  }

  #usage(outputTokens: number, isEstimated: boolean): Usage {
    const { unpricedTier, costUsd } = this.#reported;
    const { inputTokens } = this.#believed;
    const input = inputTokens ?? this.#inputTokens();
    const usage: Writable<Usage> = { inputTokens: input, outputTokens, totalTokens: input + outputTokens };
    for (const name of FURTHER_COUNTS) {
      const count = this.#reported[name];
      if (count !== undefined) usage[name] = count;
    }
    if (costUsd !== undefined) usage.costUsd = costUsd;
    if (inputTokens === undefined || isEstimated) usage.estimated = true;
    if (unpricedTier === true) usage.unpricedTier = true;
    return usage;
  }
}
