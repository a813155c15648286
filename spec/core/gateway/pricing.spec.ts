import { calcPrice } from '@pydantic/genai-prices';
import t, { type Test } from 'tap';
import { createAdapters } from '../../../adapters/index.ts';
import { FREE, Prices } from '../../../core/gateway/pricing.ts';
import { ToldBills } from '../../../core/gateway/told-bills.ts';
import type { Usage } from '../../../core/schemas/chat.ts';

const usage = (inputTokens: number, outputTokens: number, rest: Partial<Usage> = {}): Usage => ({
  inputTokens,
  outputTokens,
  totalTokens: inputTokens + outputTokens,
  ...rest,
});
const MILLION = usage(1_000_000, 1_000_000);
/** Prices of the first of January 2026 don't change any more. */
const THEN = new Date('2026-01-01T12:00:00Z');
const prices = new Prices();
const price = (provider: string, model: string, of: Usage = usage(1000, 100)) => prices.price({ provider, model, usage: of, at: THEN });
const near = (t: Test, actual: number | null, expected: number) => t.ok(Math.abs((actual ?? -1) - expected) < 1e-9, `${actual} is ${expected}`);

t.test('a known model has the price of its list', async (t) => {
  near(t, await price('anthropic', 'claude-sonnet-4-5'), (1000 * 3 + 100 * 15) / 1e6);
  near(t, await price('openai', 'gpt-5'), (1000 * 1.25 + 100 * 10) / 1e6);
  near(t, await price('google', 'gemini-2.5-flash'), (1000 * 0.3 + 100 * 2.5) / 1e6);
  near(t, await price('aws', 'amazon.nova-pro-v1:0'), (1000 * 0.8 + 100 * 3.2) / 1e6);
  t.equal(await price('openai', 'gpt-5', usage(0, 0)), 0);
});

t.test('cached tokens are a part of the input and have their own price', async (t) => {
  const cached = usage(1000, 100, { cacheReadTokens: 500, cacheWriteTokens: 200 });
  near(t, await price('anthropic', 'claude-sonnet-4-5', cached), (300 * 3 + 500 * 0.3 + 200 * 3.75 + 100 * 15) / 1e6);
  near(t, await price('openai', 'gpt-5', usage(1000, 0, { cacheReadTokens: 1000 })), (1000 * 0.125) / 1e6);
});

t.test('reasoning is a part of the output, and an estimate is priced as well', async (t) => {
  near(t, await price('openai', 'gpt-5', usage(0, 100, { reasoningTokens: 80, estimated: true })), (100 * 10) / 1e6);
});

t.test('what is free costs nothing, which is a known price', async (t) => {
  for (const of of [usage(0, 0), MILLION])
    t.same([await prices.price({ provider: FREE, model: 'any', usage: of }), await prices.priceNow({ provider: FREE, model: 'any', usage: of })], [0, 0]);
  t.equal(await prices.contextWindow(FREE, 'any'), null);
});

t.test('what the data does not name is not priced', async (t) => {
  for (const [provider, model] of [
    ['openai', 'gpt-99-imagined'],
    ['openai', 'gpt-5-imagined'],
    ['openai', 'claude-sonnet-4-5'],
    ['bedrock', 'amazon.nova-pro-v1:0'],
    ['nobody', 'gpt-5'],
    ['__proto__', 'constructor'],
    ['openai', '__proto__'],
    ['aws', 'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc'],
  ] as const) {
    t.equal(await price(provider, model), null, `${provider} ${model}`);
    t.equal(await prices.contextWindow(provider, model), null);
  }
});

t.test('an entry of the data without a price of tokens is not free, unless its name says so', async (t) => {
  for (const [provider, model] of [
    ['mistral', 'voxtral-mini-latest'], // by the hour of audio
    ['mistral', 'mistral-ocr-latest-completion'], // by the page
    ['x-ai', 'grok-voice-latest'], // by the message
    ['cerebras', 'qwen-3-coder-480b'], // without any price
  ] as const) {
    const { exact, least } = await prices.pricer({ provider, model });
    t.same(
      [await price(provider, model), exact(usage(0, 0)), exact(MILLION), least(MILLION), await prices.knows(provider, model)],
      [null, null, null, null, false],
    );
  }
  for (const [provider, model] of [
    ['google', 'gemma-3-27b-it'],
    ['openai', 'omni-moderation-latest'],
    ['openrouter', 'openai/gpt-oss-20b:free'],
  ] as const)
    t.equal(await price(provider, model, MILLION), 0, model);
});

t.test('output of a model with a price of input alone has no price, and costs its input at least', async (t) => {
  const { exact, least } = await prices.pricer({ provider: 'openai', model: 'text-embedding-3-small' });
  near(t, exact(usage(1_000_000, 0)), 0.02);
  t.equal(exact(MILLION), null);
  near(t, least(MILLION), 0.02);
});

t.test("a model is not priced like its predecessor, and a release has its model's price", async (t) => {
  const predecessor = await price('anthropic', 'claude-sonnet-4-5');
  for (const [model, known] of [
    ['claude-sonnet-4-5-20250929', true],
    ['claude-sonnet-4-5-latest', true],
    ['claude-sonnet-4-5-001', true],
    ['claude-sonnet-4-5-09-2025', true],
    ['Claude-Sonnet-4-5', true],
    ['claude-sonnet-4-5-1', false],
    ['claude-sonnet-4-5-20', false],
    ['claude-sonnet-4-5.1-20270101', false],
  ] as const)
    t.equal(await price('anthropic', model), known ? predecessor : null, model);
});

t.test('every way in which an entry may match is understood', async (t) => {
  const match = { and: [{ or: [{ ends_with: '-b' }, { contains: 'mid' }] }, { regex: '^(?!.*-tts)' }] };
  const provider = { id: 'p', name: 'p', api_pattern: 'x', models: [{ id: 'a', match, prices: { input_mtok: 1 } }] };
  const own = new Prices(async () => ({ calcPrice: (counts, model) => calcPrice(counts, model, { provider }) }));
  const priced = async (model: string) => (await own.price({ provider: 'p', model, usage: usage(1, 0) })) !== null;
  t.ok(await priced('a-b'));
  t.ok(await priced('a-mid-c'));
  t.notOk(await priced('a-mid-2'));
  t.ok(await priced('a-2-b'));
  t.notOk(await priced('a-tts-b'));
  t.notOk(await priced('c'));
});

t.test('counts that can not be true have no price', async (t) => {
  const bad: Usage[] = [
    usage(-1, 1),
    usage(Number.NaN, 1),
    usage(1, Number.POSITIVE_INFINITY),
    usage(1, 0.5),
    usage(2 ** 60, 1),
    usage(1, '1' as unknown as number),
  ];
  for (const counts of bad) {
    t.equal(await price('openai', 'gpt-5', counts), null, JSON.stringify(counts));
    t.equal(await prices.priceNow({ provider: 'openai', model: 'gpt-5', usage: counts }), null, JSON.stringify(counts));
  }
});

t.test('a report whose parts contradict the whole has a price, and no lower one than without them', async (t) => {
  const dear = { provider: 'anthropic', model: 'claude-sonnet-4-5' };
  const plain = await price(dear.provider, dear.model, usage(1000, 10));
  for (const [parts, least] of [
    [{ cacheReadTokens: 1001 }, plain],
    [{ cacheReadTokens: 900, cacheWriteTokens: 200 }, await price(dear.provider, dear.model, usage(1000, 10, { cacheWriteTokens: 200 }))],
    [{ cacheWriteTokens: 5000 }, await price(dear.provider, dear.model, usage(1000, 10, { cacheWriteTokens: 1000 }))],
    [
      { cacheWriteTokens: 100, cacheWrite1hTokens: 5000 },
      await price(dear.provider, dear.model, usage(1000, 10, { cacheWriteTokens: 100, cacheWrite1hTokens: 100 })),
    ],
    [{ cacheReadTokens: -1 }, plain],
    [{ cacheReadTokens: 0.5 }, plain],
    [{ cacheReadTokens: Number.MAX_VALUE, cacheWriteTokens: Number.NaN }, plain],
    [{ inputAudioTokens: 5000, outputAudioTokens: -1 }, plain],
  ] as const) {
    const of = usage(1000, 10, parts);
    near(t, await price(dear.provider, dear.model, of), least ?? -1);
    near(t, await prices.priceNow({ ...dear, usage: of }), least ?? -1);
  }
});

t.test('tokens with a price of their own have it: an hour in the cache, and audio', async (t) => {
  const written = usage(1000, 0, { cacheWriteTokens: 300, cacheWrite1hTokens: 200 });
  for (const at of [THEN, undefined])
    near(
      t,
      await prices.price({ provider: 'anthropic', model: 'claude-haiku-4-5', usage: written, ...(at && { at }) }),
      (700 * 1 + 100 * 1.25 + 200 * 2) / 1e6,
    );
  near(t, await prices.priceNow({ provider: 'anthropic', model: 'claude-haiku-4-5', usage: written }), (700 * 1 + 100 * 1.25 + 200 * 2) / 1e6);
  near(
    t,
    await price('openai', 'gpt-audio', usage(1000, 500, { inputAudioTokens: 400, outputAudioTokens: 300 })),
    (600 * 2.5 + 400 * 32 + 200 * 10 + 300 * 64) / 1e6,
  );
  const flash = (parts: Partial<Usage>) =>
    prices.priceNow({ provider: 'google', model: 'gemini-2.5-flash', usage: usage(1000, 0, { inputAudioTokens: 400, ...parts }) });
  near(t, await flash({}), (600 * 0.3 + 400 * 1) / 1e6);
  near(t, await flash({ cacheReadTokens: 500 }), (100 * 0.3 + 500 * 0.03 + 400 * 1) / 1e6);
  near(t, await flash({ cacheReadTokens: 800 }), (600 * 0.03 + 200 * 1 + 200 * 0.1) / 1e6);
});

t.test('pictures that a model makes have their own price where the data has one, and otherwise that of text', async (t) => {
  const answer = usage(1000, 1300, { outputImageTokens: 1290 });
  near(t, await price('google', 'gemini-2.5-flash-image', answer), (1000 * 0.3 + 10 * 2.5 + 1290 * 30) / 1e6);
  near(t, await prices.priceNow({ provider: 'google', model: 'gemini-2.5-flash-image', usage: answer }), (1000 * 0.3 + 10 * 2.5 + 1290 * 30) / 1e6);
  near(t, await price('google', 'gemini-2.5-flash', answer), (1000 * 0.3 + 1300 * 2.5) / 1e6);
  near(t, await price('google', 'gemini-2.5-flash-image', usage(0, 10, { outputImageTokens: 5000 })), (10 * 30) / 1e6);
});

t.test('a model that charges for its searches has no exact price, and costs its tokens at least', async (t) => {
  for (const model of ['gpt-4o-search-preview', 'gpt-4o-mini-search-preview-2025-03-11', 'gpt-4o-mini-search-preview', 'o3-deep-research']) {
    t.equal(await price('openai', model), null, model);
    const { exact, least } = await prices.pricer({ provider: 'openai', model });
    t.equal(exact(usage(0, 0)), null, model);
    t.ok((least(usage(1000, 100)) ?? 0) > 0, model);
  }
  for (const model of ['sonar-pro-search', 'llama-3.1-sonar-small-128k-online']) {
    const { exact, least } = await prices.pricer({ provider: 'perplexity', model });
    t.equal(exact(usage(1_000_000, 0)), null, model);
    t.ok((least(usage(1_000_000, 0)) ?? 0) > 0, `${model} costs its tokens at least`);
  }
});

t.test('a tier, and an hour in the cache, that the data does not know have no price', async (t) => {
  t.equal(await price('openai', 'gpt-5', usage(10, 1, { unpricedTier: true })), null);
  t.equal(await prices.priceNow({ provider: 'openai', model: 'gpt-5', usage: usage(10, 1, { unpricedTier: true }) }), null);
  const written = usage(10, 1, { cacheWriteTokens: 5, cacheWrite1hTokens: 5 });
  t.equal(await price('aws', 'anthropic.claude-sonnet-4-5-20250929-v1:0', written), null);
  t.ok(await price('aws', 'anthropic.claude-sonnet-4-5-20250929-v1:0', { ...written, cacheWrite1hTokens: 0 }));
  t.equal(await price('openai', 'gpt-5', written), await price('openai', 'gpt-5', usage(10, 1)), 'to write is free there');
});

t.test('a price that can not be true, and data that contradict themselves, are no price', async (t) => {
  for (const total of [-1, Number.NaN, Number.POSITIVE_INFINITY]) {
    const odd = new Prices(async () => ({
      calcPrice: (...args) => ({ ...(calcPrice(...args) as NonNullable<ReturnType<typeof calcPrice>>), total_price: total }),
    }));
    t.equal(await odd.price({ provider: 'openai', model: 'gpt-5', usage: MILLION }), null, String(total));
  }
  const broken = new Prices(async () => ({
    calcPrice: () => {
      throw new Error('no ancestor');
    },
  }));
  t.equal(await broken.price({ provider: 'openai', model: 'gpt-5', usage: MILLION }), null);
});

t.test('the data are loaded once, and only when they are needed', async (t) => {
  let loads = 0;
  const counted = new Prices(async () => {
    loads += 1;
    return { calcPrice };
  });
  t.equal(loads, 0);
  await Promise.all([counted.contextWindow('openai', 'gpt-5'), counted.price({ provider: 'openai', model: 'gpt-5', usage: MILLION })]);
  t.equal(loads, 1);
});

t.test('the size of a context window is known where the data have it', async (t) => {
  t.equal(await prices.contextWindow('openai', 'gpt-5'), 400_000);
  t.equal(await prices.contextWindow('google', 'gemini-2.5-pro'), null);
});

t.test('the name that an adapter gives is that of a provider in the data', async (t) => {
  const named = createAdapters().map(({ id, pricesAs }) => [id, pricesAs]);
  t.same(named, [
    ['bedrock', 'aws'],
    ['openai', 'openai'],
    ['google', 'google'],
    ['anthropic', 'anthropic'],
    ['ollama', undefined],
  ]);
  for (const { pricesAs, curatedModels = [] } of createAdapters()) {
    if (pricesAs === undefined) continue;
    const known = await Promise.all(curatedModels.map((model) => prices.price({ provider: pricesAs, model, usage: MILLION })));
    t.ok(known.filter((usd) => usd !== null).length > curatedModels.length / 2, `most models of ${pricesAs} have a price`);
  }
});

t.test(
  'what a call costs at least: the standard tier, five minutes in the cache, audio like the dearest text; nothing of a model without a price',
  async (t) => {
    const of = async (provider: string, model: string, used: Usage) => (await prices.pricer({ provider, model })).least(used);
    const claude = 'anthropic.claude-sonnet-4-5-20250929-v1:0';
    const written = usage(1000, 10, { cacheWriteTokens: 500 });
    const fiveMinutes = (await price('aws', claude, written)) ?? -1;
    near(t, await of('aws', claude, { ...written, cacheWrite1hTokens: 500 }), fiveMinutes);
    near(t, await of('aws', claude, written), fiveMinutes);
    near(t, await of('openai', 'gpt-5', usage(1000, 10, { unpricedTier: true })), (await price('openai', 'gpt-5', usage(1000, 10))) ?? -1);
    const audio = usage(1000, 100, { inputAudioTokens: 1000, outputAudioTokens: 100 });
    t.equal(await price('openai', 'gpt-4o-audio-preview', audio), null);
    near(t, await of('openai', 'gpt-4o-audio-preview', audio), (1000 * 10 + 100 * 10) / 1e6);
    near(t, await of('google', 'gemini-2.5-pro', audio), (await price('google', 'gemini-2.5-pro', usage(1000, 100))) ?? -1);
    t.equal(await of('openai', 'gpt-6', usage(1000, 10)), null);
    t.equal(await of('openai', 'gpt-5', usage(-1, 10)), null);
  },
);

t.test('an own price counts cached tokens apart, and a call of another tier costs at least that', async (t) => {
  const rates = { input: 2, output: 10, cacheRead: 0.5, cacheWrite: 3 };
  const { exact, least } = await prices.pricer({ provider: 'gpu', model: 'm', rates });
  const used = usage(1_000_000, 100_000, { cacheReadTokens: 400_000, cacheWriteTokens: 100_000 });
  near(t, exact(used), 0.5 * 2 + 0.4 * 0.5 + 0.1 * 3 + 1);
  near(t, exact(usage(1_000_000, 0, { cacheReadTokens: 2_000_000 })), 2);
  t.same([exact({ ...used, unpricedTier: true }), exact(usage(-1, 0))], [null, null]);
  near(t, least({ ...used, unpricedTier: true }), 2.5);
  near(t, (await prices.pricer({ provider: 'gpu', model: 'm', rates: { input: 1, output: 1 } })).exact(usage(1_000_000, 0, { cacheReadTokens: 500_000 })), 1);
  near(t, await prices.price({ provider: 'gpu', model: 'm', rates, usage: used }), 2.5);
  const hours = usage(1_000_000, 0, { cacheWriteTokens: 500_000, cacheWrite1hTokens: 200_000 });
  near(t, (await prices.pricer({ provider: 'gpu', model: 'm', rates: { input: 1, output: 1, cacheWrite: 2, cacheWrite1h: 4 } })).exact(hours), 1.9);
  near(t, (await prices.pricer({ provider: 'gpu', model: 'm', rates: { input: 1, output: 1, cacheWrite: 2 } })).exact(hours), 1.5);
});

t.test('a told cost is the cost; before the answer and without one, the price that is known', async (t) => {
  const told = await prices.pricer({ provider: 'gpu', model: 'm', rates: { input: 1, output: 1 }, toldBy: 'gpu' });
  t.same([told.exact(usage(1000, 0, { costUsd: 0.7 })), told.exact(usage(1_000_000, 0))], [0.7, 1]);
  const alone = await prices.pricer({ provider: '', model: 'm', toldBy: 'gpu' });
  t.same([alone.exact(usage(0, 0)), alone.exact(usage(5, 0)), alone.exact(usage(5, 0, { costUsd: 0 }))], [0, null, 0]);
});

t.test('a bill that does not come is as dear as the dearest', async (t) => {
  const own = new Prices();
  const pricer = () => own.pricer({ provider: '', model: 'm', toldBy: 'gpu' });
  const [nothing, untold] = [usage(0, 0), usage(900, 100)];
  t.same([(await pricer()).exact(nothing), (await pricer()).exact(untold), (await pricer()).least(untold)], [0, null, null]);
  for (const none of [untold, nothing, usage(5, 5, { costUsd: 1, estimated: true })]) (await pricer()).learn?.(none);
  t.equal((await pricer()).least(untold), null, 'a bill of a part is none');
  for (const costUsd of [2, 1]) (await pricer()).learn?.(usage(900, 100, { costUsd }));
  (await pricer()).learn?.(untold);
  t.same([(await pricer()).exact(nothing), (await pricer()).exact(untold), (await pricer()).least(untold)], [0, null, 2]);
  const part = usage(900, 100, { costUsd: 0.5, estimated: true });
  t.same([(await pricer()).exact(part), (await pricer()).least(part)], [2, 2]);
  const known = await own.pricer({ provider: 'gpu', model: 'm', rates: { input: 1000, output: 1000 }, toldBy: 'gpu' });
  t.same([known.exact(part), known.exact({ ...part, costUsd: 3 })], [1, 3]);
});

t.test('what a cheap bill says of an answer without one is no less than that may cost', (t) => {
  const afterBill = (bill: Usage, untold: Usage): number | null => {
    const bills = new ToldBills();
    bills.learn('m', bill);
    return bills.costOf('m', untold);
  };
  // USD for a million tokens: 3 for input, 0.5 for cached input, 15 for output
  const written = usage(10, 1000);
  const atLeast = (bill: Usage) => t.ok((afterBill(bill, written) ?? 0) >= 0.01503, JSON.stringify(bill));
  atLeast(usage(100_000, 1, { cacheReadTokens: 100_000, costUsd: 0.050015 }));
  atLeast(usage(100_000, 0, { costUsd: 0.3 }));
  atLeast(usage(1000, 500, { costUsd: 0.0105 }));
  atLeast(usage(10, 1000, { costUsd: 0.01503 }));
  t.ok((afterBill(usage(10, 1000, { costUsd: 0.001 }), usage(100_000, 0)) ?? 0) >= 0.09, 'where output costs no more than input');
  t.equal(afterBill(usage(500, 0, { costUsd: 0 }), written), null, 'nothing was written, so nothing was billed');
  t.equal(afterBill(usage(500, 0, { costUsd: 0 }), usage(9, 0)), 0, 'texts for vectors that cost nothing');
  t.equal(afterBill(usage(500, 5, { costUsd: 0 }), written), 0, 'a model that costs nothing');
  t.end();
});

t.test('a price of the data holds only at the hosts of its provider', async (t) => {
  const at = (address: string) => prices.priceNow({ provider: 'groq', model: 'llama-3.3-70b-versatile', address, usage: MILLION });
  t.ok(((await at('https://api.groq.com/openai/v1')) ?? 0) > 0);
  for (const address of ['https://proxy.example/groq', 'https://evil.example/?https://api.groq.com', 'http://127.0.0.1:1'])
    t.equal(await at(address), null, address);
});
