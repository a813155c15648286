// Token counts as OpenAI's two endpoints report them. Counts of both include their details. Pure: no I/O.
import { isObject, type ReportedUsage } from '../../core/index.ts';
import { asCount, asObject } from '../read.ts';

/** Of Responses; undefined if there is none. */
export function usageOfResponse(value: unknown): ReportedUsage | undefined {
  if (!isObject(value)) return undefined;
  return usageOf(value['input_tokens'], value['output_tokens'], value['input_tokens_details'], value['output_tokens_details']);
}

/** Of Chat Completions; undefined if there is none. */
export function usageOfChat(value: unknown): ReportedUsage | undefined {
  if (!isObject(value)) return undefined;
  return usageOf(value['prompt_tokens'], value['completion_tokens'], value['prompt_tokens_details'], value['completion_tokens_details']);
}

function usageOf(input: unknown, output: unknown, ofInput: unknown, ofOutput: unknown): ReportedUsage {
  const details = asObject(ofInput);
  return {
    inputTokens: asCount(input),
    outputTokens: asCount(output),
    cacheReadTokens: asCount(details['cached_tokens']),
    cacheWriteTokens: asCount(details['cache_write_tokens']),
    reasoningTokens: asCount(asObject(ofOutput)['reasoning_tokens']),
  };
}
