import t from 'tap';
import { toCompletion } from '../../../../../transports/http/dialects/openai-completions/response.ts';

const USAGE = { inputTokens: 3, outputTokens: 2, totalTokens: 5 };
const contextOf = (includeUsage = false) => ({
  requestId: 'req_1',
  created: 5,
  request: { model: 'my "m"', chat: { messages: [] }, stream: true, warnings: [], echo: { includeUsage } },
});

t.test('a whole answer has its text, without reasoning', async (t) => {
  const pieces = [{ type: 'reasoning', text: 'hm' } as const, { type: 'text', text: 'a "b"\n' } as const];
  const answer = JSON.parse(toCompletion({ pieces, done: { usage: USAGE, stopReason: 'max_tokens' } }, contextOf()));
  t.match(answer, { id: 'cmpl-1', object: 'text_completion', created: 5, model: 'my "m"' });
  t.strictSame(answer.choices, [{ text: 'a "b"\n', index: 0, logprobs: null, finish_reason: 'length' }]);
  t.match(answer.usage, { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 });
});
