// The ids of calls in a book, what a call is expected to use, and what it costs. Pure: no I/O.
import { randomUUID } from 'node:crypto';
import type { AccountedCall } from '../gateway/account.ts';
import type { Pricer } from '../gateway/pricing.ts';
import type { OpenCall } from '../store/port.ts';
import type { Usage } from '../types.ts';

/** Until a key has an answer. */
export const USUAL_OUTPUT_TOKENS = 1000;
const ID_START = randomUUID();
let ids = 0;

/** Unique in the workspace. */
export function newId(): string {
  ids += 1;
  return `${ID_START}-${ids}`;
}

/** What nobody has reported. */
export function estimated(inputTokens: number, outputTokens: number): Usage {
  return { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens, estimated: true };
}

/** What is noted of calls of keys with limits: what each of them counts with if it never settles. */
export class HeldNote {
  readonly usage: Usage;
  readonly pricer: Pricer;
  readonly costUsd: number | null;
  /** USD at least, where the cost is not known. */
  readonly leastUsd: number | null;
  /** USD that count. */
  readonly usd: number;

  constructor(usage: Usage, pricer: Pricer) {
    this.usage = usage;
    this.pricer = pricer;
    this.costUsd = pricer.exact(usage);
    this.leastUsd = this.costUsd === null ? pricer.least(usage) : null;
    this.usd = this.costUsd ?? this.leastUsd ?? 0;
  }
}

/** What the line of a call that has ended says of its cost. */
export function finalCost(usage: Usage, pricer: Pricer): Pick<OpenCall, 'costUsd' | 'leastUsd'> {
  pricer.learn?.(usage);
  const costUsd = pricer.exact(usage);
  return costUsd === null ? { costUsd, leastUsd: pricer.least(usage) } : { costUsd };
}

/** What a call takes from limits by the minute until it is known. */
export function expectedTokens(call: AccountedCall, meanOutput = USUAL_OUTPUT_TOKENS): number {
  return call.inputTokens() + outputOf(call, meanOutput);
}

/** The same as a usage. */
export function expectedUsage(call: AccountedCall, meanOutput = USUAL_OUTPUT_TOKENS): Usage {
  return estimated(call.inputTokens(), outputOf(call, meanOutput));
}

/** Of a key whose answers have so many tokens. */
export function outputOf({ hasOutput, choices }: AccountedCall, meanOutput = USUAL_OUTPUT_TOKENS): number {
  return hasOutput ? Math.round(meanOutput * choices) : 0;
}
