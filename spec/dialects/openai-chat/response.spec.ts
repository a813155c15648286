import t from 'tap';
import { finishReason } from '../../../dialects/openai-chat/response.ts';

t.test('the reason for the end is one that clients know', async (t) => {
  t.same((['end_turn', 'max_tokens', 'tool_use', 'refusal', 'unknown'] as const).map(finishReason), ['stop', 'length', 'tool_calls', 'content_filter', 'stop']);
});
