import t from 'tap';
import { usageOfChat, usageOfResponse } from '../../../adapters/openai/usage.ts';

const COUNTS = { inputTokens: 9, outputTokens: 8, cacheReadTokens: 7, cacheWriteTokens: 6, reasoningTokens: 5 };

t.test('both endpoints report the same counts under other names', async (t) => {
  const details = { cached_tokens: 7, cache_write_tokens: 6 };
  const reasoning = { reasoning_tokens: 5 };
  t.same(usageOfResponse({ input_tokens: 9, output_tokens: 8, input_tokens_details: details, output_tokens_details: reasoning }), COUNTS);
  t.same(usageOfChat({ prompt_tokens: 9, completion_tokens: 8, prompt_tokens_details: details, completion_tokens_details: reasoning }), COUNTS);
});

t.test('what is no usage is none', async (t) => {
  for (const odd of [undefined, null, 7, 'x']) t.equal(usageOfChat(odd), undefined);
  t.equal(usageOfResponse({ input_tokens: 'many' })?.inputTokens, undefined);
});
