// What the answers of OpenAI's completions have in common. Pure: no I/O.
import type { BlockhouseError, StopReason, Usage } from '../../../../core/index.ts';
import { openAiError } from './openai-errors.ts';

const FINISH: Readonly<Record<StopReason, string>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  unknown: 'stop',
  max_tokens: 'length',
  tool_use: 'tool_calls',
  content_filter: 'content_filter',
  refusal: 'content_filter',
};

/** The finish reason of an answer. */
export function finishReason(stopReason: StopReason): string {
  return FINISH[stopReason];
}

/** The usage in Chat Completions' words, as JSON. */
export function usageText({ inputTokens, outputTokens, totalTokens, cacheReadTokens = 0, cacheWriteTokens = 0, reasoningTokens = 0 }: Usage): string {
  return (
    `{"prompt_tokens":${inputTokens},"completion_tokens":${outputTokens},"total_tokens":${totalTokens}` +
    `,"prompt_tokens_details":{"cached_tokens":${cacheReadTokens},"cache_write_tokens":${cacheWriteTokens}}` +
    `,"completion_tokens_details":{"reasoning_tokens":${reasoningTokens}}}`
  );
}

/** The end of a stream that broke off. */
export function errorChunk(failure: BlockhouseError): string {
  return `data: ${JSON.stringify({ error: openAiError(failure) })}\n\n`;
}
