// Token counts as OpenAI's two endpoints report them. Counts of both include their details; the tier stands beside them. Pure: no I/O.
import { isObject } from '../../core/base/json.ts';
import type { ReportedUsage } from '../../core/index.ts';
import { asCount, asObject, asPart } from '../shared/read.ts';
import { mayCostMore } from '../shared/tiers.ts';

/** What an answer of either endpoint says of itself at its top level. */
interface Metered {
  readonly usage?: unknown;
  readonly service_tier?: unknown;
}

/** Of Responses; undefined if there is none. */
export function usageOfResponse({ usage, service_tier: tier }: Metered): ReportedUsage | undefined {
  if (!isObject(usage)) return undefined;
  return usageOf(usage['input_tokens'], usage['output_tokens'], usage['input_tokens_details'], usage['output_tokens_details'], tier);
}

/** Of Chat Completions, whole or one chunk; undefined if there is none. */
export function usageOfChat({ usage, service_tier: tier }: Metered): ReportedUsage | undefined {
  if (!isObject(usage)) return undefined;
  return usageOf(usage['prompt_tokens'], usage['completion_tokens'], usage['prompt_tokens_details'], usage['completion_tokens_details'], tier);
}

function usageOf(input: unknown, output: unknown, ofInput: unknown, ofOutput: unknown, tier: unknown): ReportedUsage {
  const [inputDetails, outputDetails] = [asObject(ofInput), asObject(ofOutput)];
  return {
    inputTokens: asCount(input),
    outputTokens: asCount(output),
    cacheReadTokens: asCount(inputDetails['cached_tokens']),
    cacheWriteTokens: asCount(inputDetails['cache_write_tokens']),
    inputAudioTokens: asPart(inputDetails['audio_tokens']),
    outputAudioTokens: asPart(outputDetails['audio_tokens']),
    reasoningTokens: asCount(outputDetails['reasoning_tokens']),
    unpricedTier: mayCostMore(tier) || undefined,
  };
}
