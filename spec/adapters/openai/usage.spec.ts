import t from 'tap';
import { usageOfChat, usageOfResponse, withCost } from '../../../adapters/openai/usage.ts';

const COUNTS = { inputTokens: 9, outputTokens: 8, cacheReadTokens: 7, cacheWriteTokens: 6, reasoningTokens: 5 };

t.test('both endpoints report the same counts under other names', async (t) => {
  const details = { cached_tokens: 7, cache_write_tokens: 6 };
  const reasoning = { reasoning_tokens: 5 };
  t.same(usageOfResponse({ usage: { input_tokens: 9, output_tokens: 8, input_tokens_details: details, output_tokens_details: reasoning } }), COUNTS);
  t.same(usageOfChat({ usage: { prompt_tokens: 9, completion_tokens: 8, prompt_tokens_details: details, completion_tokens_details: reasoning } }), COUNTS);
});

t.test('reasoning beside the completion is counted where only the total tells it', (t) => {
  const xai = { prompt_tokens: 32, completion_tokens: 9, total_tokens: 5041, completion_tokens_details: { reasoning_tokens: 5000 } };
  t.match(usageOfChat({ usage: xai }), { inputTokens: 32, outputTokens: 5009, reasoningTokens: 5000 });
  t.match(usageOfChat({ usage: { prompt_tokens: 32, completion_tokens: 9, total_tokens: 5041 } }), { inputTokens: 32, outputTokens: 5009 });
  t.match(usageOfChat({ usage: { prompt_tokens: 32, total_tokens: 41 } }), { inputTokens: 32, outputTokens: 9 });
  t.match(usageOfResponse({ usage: { input_tokens: 32, output_tokens: 9, total_tokens: 5041 } }), { inputTokens: 32, outputTokens: 5009 });
  t.match(
    usageOfChat({ usage: { prompt_tokens: 32, completion_tokens: 9, total_tokens: 0 } }),
    { outputTokens: 9 },
    'a total that is too small lowers nothing',
  );
  t.end();
});

t.test('reasoning and citations beside all other counts are counted', (t) => {
  const perplexity = {
    prompt_tokens: 9,
    completion_tokens: 7178,
    total_tokens: 7187,
    citation_tokens: 20_016,
    num_search_queries: 18,
    reasoning_tokens: 73_997,
  };
  t.match(usageOfChat({ usage: perplexity }), { inputTokens: 20_025, outputTokens: 81_175 });
  t.match(
    usageOfChat({ usage: { prompt_tokens: 9, completion_tokens: 8, reasoning_tokens: 5 } }),
    { outputTokens: 8 },
    'elsewhere they are part of the completion',
  );
  t.end();
});

t.test('more reasoning than output stands beside it', async (t) => {
  const details = { completion_tokens_details: { reasoning_tokens: 5000 } };
  t.match(usageOfChat({ usage: { prompt_tokens: 32, completion_tokens: 9, ...details } }), { outputTokens: 5009, reasoningTokens: 5000 });
  t.match(usageOfChat({ usage: { prompt_tokens: 32, completion_tokens: 5000, ...details } }), { outputTokens: 5000 });
});

t.test('a usage counts wherever it stands and under the names of either endpoint, and of a total nothing is lost', async (t) => {
  const usage = { prompt_tokens: 3, completion_tokens: 20 };
  const zeros = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
  for (const told of [{}, zeros, null, undefined]) {
    t.match(usageOfChat({ usage: told, x_groq: { usage } }), { inputTokens: 3, outputTokens: 20 });
    t.match(usageOfChat({ usage: told, choices: [{ index: 0, usage }] }), { inputTokens: 3, outputTokens: 20 });
  }
  const two = [
    { index: 0, usage },
    { index: 1, usage: { ...usage, completion_tokens: 30 } },
  ];
  t.match(usageOfChat({ choices: two }), { inputTokens: 3, outputTokens: 50 }, 'each choice tells its own');
  t.match(usageOfChat({ usage: { ...usage, completion_tokens: 50 }, choices: two }), { inputTokens: 3, outputTokens: 50 });
  const other = { input_tokens: 3, output_tokens: 20, input_tokens_details: { cached_tokens: 2 } };
  t.match(usageOfChat({ usage: other }), { inputTokens: 3, outputTokens: 20, cacheReadTokens: 2 });
  t.match(usageOfResponse({ usage }), { inputTokens: 3, outputTokens: 20 });
  t.match(usageOfChat({ usage: { total_tokens: 23 } }), { inputTokens: 0, outputTokens: 23 });
  t.match(usageOfChat({ usage: { prompt_tokens: -1, completion_tokens: 20, total_tokens: 23 } }), { inputTokens: 3, outputTokens: 20 });
});

t.test('a request that is said to have no tokens beside an answer was not counted', async (t) => {
  t.strictSame(usageOfChat({ usage: { prompt_tokens: 0, completion_tokens: 20 } })?.inputTokens, undefined);
  t.strictSame(usageOfResponse({ usage: { input_tokens: 0, output_tokens: 20, total_tokens: 20 } })?.inputTokens, undefined);
  t.match(
    usageOfChat({ usage: { prompt_tokens: 0, completion_tokens: 20, total_tokens: 23 } }),
    { inputTokens: 0, outputTokens: 23 },
    'the rest is in the total',
  );
  t.match(usageOfChat({ usage: { prompt_tokens: 0, completion_tokens: 0 } }), { inputTokens: 0, outputTokens: 0 });
});

t.test('a cost is a number, also one that is written as a text, and may come apart from the usage', async (t) => {
  const costIn = (cost: unknown) => withCost(undefined, { a: { b: { cost } } }, 'a.b.cost')?.costUsd;
  for (const [cost, usd] of [
    [0.25, 0.25],
    [0, 0],
    ['0.25', 0.25],
    ['2', 2],
    ['2.5e-7', 2.5e-7],
  ])
    t.equal(costIn(cost), usd, `${cost}`);
  for (const none of [-1, '-1', '', ' ', 'free', '1,5', '1e9', '0x1', null, Number.NaN, Number.POSITIVE_INFINITY, {}, [1]])
    t.equal(costIn(none), undefined, `${none}`);
  t.equal(withCost(undefined, {}, 'a.b.cost'), undefined);
  t.same(withCost({ outputTokens: 3 }, { cost: 1 }, 'cost'), { outputTokens: 3, costUsd: 1 });
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
