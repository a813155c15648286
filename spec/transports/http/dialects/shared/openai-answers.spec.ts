import t from 'tap';
import { BlockhouseError } from '../../../../../core/index.ts';
import { errorChunk, finishReason, usageText } from '../../../../../transports/http/dialects/shared/openai-answers.ts';

t.test('the reason for the end is one that clients know', async (t) => {
  t.same((['end_turn', 'max_tokens', 'tool_use', 'refusal', 'unknown'] as const).map(finishReason), ['stop', 'length', 'tool_calls', 'content_filter', 'stop']);
});

t.test('usage has every count that clients read, and an error is a frame', async (t) => {
  t.same(JSON.parse(usageText({ inputTokens: 3, outputTokens: 2, totalTokens: 5, cacheReadTokens: 1 })), {
    prompt_tokens: 3,
    completion_tokens: 2,
    total_tokens: 5,
    prompt_tokens_details: { cached_tokens: 1, cache_write_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0 },
  });
  t.match(errorChunk(new BlockhouseError('QUEUE_FULL', 'Busy.')), /^data: \{"error":\{"message":"Busy\.",.*\}\n\n$/);
});
