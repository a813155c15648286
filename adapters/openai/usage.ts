// Token counts as OpenAI's two endpoints report them. Counts of both include their details. Pure: no I/O.
import { isObject, type ReportedUsage } from '../../core/index.ts';
import { asCount, asObject } from '../read.ts';

/** Of Responses; undefined if there is none. */
export function usageOfResponse(value: unknown): ReportedUsage | undefined {
  return usageOf(value, 'input', 'output');
}

/** Of Chat Completions; undefined if there is none. */
export function usageOfChat(value: unknown): ReportedUsage | undefined {
  return usageOf(value, 'prompt', 'completion');
}

function usageOf(value: unknown, input: string, output: string): ReportedUsage | undefined {
  if (!isObject(value)) return undefined;
  const details = asObject(value[`${input}_tokens_details`]);
  return {
    inputTokens: asCount(value[`${input}_tokens`]),
    outputTokens: asCount(value[`${output}_tokens`]),
    cacheReadTokens: asCount(details['cached_tokens']),
    cacheWriteTokens: asCount(details['cache_write_tokens']),
    reasoningTokens: asCount(asObject(value[`${output}_tokens_details`])['reasoning_tokens']),
  };
}
