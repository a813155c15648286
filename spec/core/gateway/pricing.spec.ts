import { calcPrice } from '@pydantic/genai-prices';
import t, { type Test } from 'tap';
import { createAdapters } from '../../../adapters/index.ts';
import { FREE, Prices } from '../../../core/gateway/pricing.ts';
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
    usage(10, 1, { cacheReadTokens: 8, cacheWriteTokens: 3 }),
    usage(10, 1, { cacheReadTokens: -1 }),
  ];
  for (const counts of bad) t.equal(await price('openai', 'gpt-5', counts), null, JSON.stringify(counts));
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
