import t from 'tap';
import { usageOfChat, usageOfResponse } from '../../../adapters/openai/usage.ts';

const COUNTS = { inputTokens: 9, outputTokens: 8, cacheReadTokens: 7, cacheWriteTokens: 6, reasoningTokens: 5 };

t.test('both endpoints report the same counts under other names', async (t) => {
  const details = { cached_tokens: 7, cache_write_tokens: 6 };
  const reasoning = { reasoning_tokens: 5 };
  t.same(usageOfResponse({ usage: { input_tokens: 9, output_tokens: 8, input_tokens_details: details, output_tokens_details: reasoning } }), COUNTS);
  t.same(usageOfChat({ usage: { prompt_tokens: 9, completion_tokens: 8, prompt_tokens_details: details, completion_tokens_details: reasoning } }), COUNTS);
});

t.test('what is no usage is none', async (t) => {
  for (const odd of [undefined, null, 7, 'x']) t.equal(usageOfChat({ usage: odd }), undefined);
  t.equal(usageOfResponse({ usage: { input_tokens: 'many' } })?.inputTokens, undefined);
});

t.test('what is dear is reported: audio, and a tier above the standard one', async (t) => {
  const audio = { audio_tokens: 4 };
  const used = { input_tokens: 9, output_tokens: 8, input_tokens_details: audio, output_tokens_details: { audio_tokens: 0 } };
  t.match(usageOfResponse({ usage: used, service_tier: 'priority' }), { inputAudioTokens: 4, outputAudioTokens: undefined, unpricedTier: true });
  for (const tier of ['fast', 'ultrafast', 'scale']) t.match(usageOfChat({ usage: {}, service_tier: tier }), { unpricedTier: true }, tier);
  for (const tier of ['auto', 'default', 'flex', 'batch', null, undefined, 7]) t.equal(usageOfChat({ usage: {}, service_tier: tier })?.unpricedTier, undefined);
});
