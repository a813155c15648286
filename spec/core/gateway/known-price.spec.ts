import t from 'tap';
import { createAdapters, createStandIn } from '../../../adapters/index.ts';
import type { Environment } from '../../../core/auth/settings.ts';
import { createBus } from '../../../core/bus.ts';
import { DEFAULT_QUEUE } from '../../../core/config.ts';
import { Gateway } from '../../../core/gateway/gateway.ts';
import { assertPriceRead, type CallToPrice, isPriceKnown } from '../../../core/gateway/known-price.ts';
import { Prices } from '../../../core/gateway/pricing.ts';
import { RETRY_LIMIT } from '../../../core/gateway/retry.ts';

const KEYS: Environment = { OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k', GEMINI_API_KEY: 'k' };
const prices = new Prices();

function gatewayWith(env: Environment = KEYS): Gateway {
  return new Gateway({
    adapters: [...createAdapters(), createStandIn()],
    credentials: undefined,
    env,
    bus: createBus(),
    timeouts: {},
    queue: DEFAULT_QUEUE,
    allowedOrigins: new Set(),
    retries: RETRY_LIMIT,
    now: () => performance.now(),
    random: Math.random,
    newRequestId: () => 'r',
  });
}

const gateway = gatewayWith();
const knowledge = { gateway, prices };
/** Each kind of token has a price of its own. */
const USAGE = { inputTokens: 1_000_000, outputTokens: 1_000_000, totalTokens: 2_000_000, cacheReadTokens: 300_000, cacheWriteTokens: 200_000 };

async function priceOf(call: CallToPrice, of = gateway): Promise<number | null> {
  const priced = of.pricedAs(call);
  return priced === undefined ? null : prices.priceNow({ ...priced, usage: USAGE });
}

const SONNET = 'claude-sonnet-4-5-20250929';
const ARN = 'arn:aws:bedrock:us-east-1';
const ACCOUNT = `${ARN}:123456789012`;

/** A spelling of a model, and the entry of the price data that has its price; null for none. */
type Spelling = readonly [provider: string, model: string, entry: string | null, config?: CallToPrice['config']];
const SPELLINGS: readonly Spelling[] = [
  ['google', 'gemini-2.5-flash', 'gemini-2.5-flash'],
  ['google', 'models/gemini-2.5-flash', 'gemini-2.5-flash'],
  ['google', 'models/gemini-2.5-flash-preview-09-2025', 'gemini-2.5-flash'],
  ['gemini', 'models/Gemini-2.5-Pro', 'gemini-2.5-pro'],
  ['google', 'models/gemini-of-tomorrow', null],
  ['google', 'tunedModels/gemini-2.0-flash', null],
  ['google', 'models/tunedModels/gemini-2.0-flash', null],
  ['bedrock', `anthropic.${SONNET}-v1:0`, `anthropic.${SONNET}-v1:0`],
  ...['us', 'eu', 'apac', 'jp', 'au'].map((prefix): Spelling => ['bedrock', `${prefix}.anthropic.${SONNET}-v1:0`, `anthropic.${SONNET}-v1:0`]),
  ['bedrock', `global.anthropic.${SONNET}-v1:0`, `global.anthropic.${SONNET}-v1:0`],
  ['bedrock', `${ARN}::foundation-model/anthropic.${SONNET}-v1:0`, `anthropic.${SONNET}-v1:0`],
  ['bedrock', `${ACCOUNT}:inference-profile/eu.anthropic.${SONNET}-v1:0`, `anthropic.${SONNET}-v1:0`],
  ['bedrock', `${ACCOUNT}:inference-profile/global.anthropic.${SONNET}-v1:0`, `global.anthropic.${SONNET}-v1:0`],
  ['bedrock', 'us.amazon.nova-pro-v1:0', 'amazon.nova-pro-v1:0'],
  ['bedrock', `${ARN}::foundation-model/amazon.nova-pro-v1:0`, 'amazon.nova-pro-v1:0'],
  ['bedrock', 'amazon.nova-pro-v1:0', 'amazon.nova-pro-v1:0', { region: 'eu-west-1' }],
  ['bedrock', `global.anthropic.${SONNET}-v1:0`, `global.anthropic.${SONNET}-v1:0`, { region: 'ap-northeast-1' }],
  ['bedrock', `us-gov.anthropic.${SONNET}-v1:0`, `anthropic.${SONNET}-v1:0`, { region: 'us-gov-west-1' }],
  ['bedrock', `${ACCOUNT}:application-inference-profile/abcdefghijkl`, null],
  ['bedrock', `${ACCOUNT}:custom-model-deployment/amazon.nova-pro-v1:0`, null],
  ['bedrock', `${ACCOUNT}:provisioned-model/amazon.nova-pro-v1:0`, null],
  ['bedrock', `${ACCOUNT}:default-prompt-router/amazon.nova-pro-v1:0`, null],
  ['bedrock', 'arn:aws:sagemaker:us-east-1:123456789012:endpoint/amazon.nova-pro-v1:0', null],
  ['bedrock', `arn:aws-us-gov:bedrock:us-gov-west-1::foundation-model/amazon.nova-pro-v1:0`, null],
  ['bedrock', 'amazon.nova-pro-v1:0', null, { region: 'us-gov-west-1' }],
  ['bedrock', 'amazon.nova-pro-v1:0', null, { region: 'cn-north-1' }],
  ['bedrock', 'amazon.nova-pro-v1:0', null, { region: 'eusc-de-east-1' }],
  ['bedrock', 'amazon.nova-pro-v1:0', 'amazon.nova-pro-v1:0', { serviceTier: 'flex' }],
  ['bedrock', 'amazon.nova-pro-v1:0', null, { serviceTier: 'priority' }],
  ['openai', 'gpt-4o', 'gpt-4o'],
  ['openai', 'gpt-4o-2024-08-06', 'gpt-4o'],
  ['openai', 'GPT-4o', 'gpt-4o'],
  ['openai', 'ft:gpt-4o-2024-08-06:acme::abc', 'ft:gpt-4o-2024-08-06'],
  ['openai', 'ft:gpt-4o-mini-2024-07-18:acme:name:abc:ckpt-step-1', 'ft:gpt-4o-mini-2024-07-18'],
  ['openai', 'ft:gpt-4.1-2025-04-14:acme::abc', null],
  ['openai', 'ft:gpt-4.1-2025-04-14:acme:moderation:abc', null],
  ['openai', 'gpt-4o', 'gpt-4o', { serviceTier: 'default' }],
  ['openai', 'gpt-4o', null, { serviceTier: 'priority' }],
  ['openai', 'gpt-4o', 'gpt-4o', { baseURL: 'https://api.openai.com/v1', apiKey: 'own' }],
  ['openai', 'gpt-4o', null, { baseURL: 'http://127.0.0.1:9' }],
  ['openai', 'gpt-4o', null, { baseURL: 'http://api.openai.com/v1', apiKey: 'own' }],
  ['anthropic', SONNET, 'claude-sonnet-4-5'],
  ['anthropic', 'claude-sonnet-4-5-latest', 'claude-sonnet-4-5'],
  ['anthropic', 'claude-sonnet-4-5', null, { serviceTier: 'a-new-one' }],
  ['ollama', 'gpt-oss:120b-cloud', null],
  ['ollama', 'llama3.3:70b', null, { baseURL: 'http://127.0.0.1:9' }],
];

const DATA: Readonly<Record<string, string>> = { bedrock: 'aws', gemini: 'google' };

t.test('every spelling of a model has the price of the model that it reaches', async (t) => {
  for (const [provider, model, entry, config] of SPELLINGS) {
    const call = { provider, model, config };
    const expected = entry === null ? null : await prices.priceNow({ provider: DATA[provider] ?? provider, model: entry, usage: USAGE });
    if (entry !== null) t.ok(expected, `the data has ${entry}`);
    t.equal(await priceOf(call), expected, `${provider} ${model} ${JSON.stringify(config ?? {})}`);
    t.equal(await isPriceKnown(knowledge, call), expected !== null, `${provider} ${model} is known`);
  }
  t.not(await priceOf({ provider: 'openai', model: 'ft:gpt-4o-2024-08-06:acme::abc' }), await priceOf({ provider: 'openai', model: 'gpt-4o' }));
});

t.test('prices hold at the address of the provider, whoever names it, and nowhere else', async (t) => {
  const elsewhere = gatewayWith({
    ...KEYS,
    ANTHROPIC_BASE_URL: 'http://127.0.0.1:9',
    OPENAI_BASE_URL: 'https://api.openai.com',
    AWS_ENDPOINT_URL_BEDROCK_RUNTIME: 'http://127.0.0.1:9',
  });
  t.equal(elsewhere.pricedAs({ provider: 'anthropic', model: 'claude-sonnet-4-5' }), undefined);
  t.equal(elsewhere.pricedAs({ provider: 'bedrock', model: 'amazon.nova-pro-v1:0' }), undefined);
  t.same(elsewhere.pricedAs({ provider: 'openai', model: 'gpt-4o' }), { provider: 'openai', model: 'gpt-4o' });
  const vpc = gatewayWith({ AWS_ENDPOINT_URL_BEDROCK_RUNTIME: 'https://vpce-1.bedrock-runtime.us-east-1.vpce.amazonaws.com' });
  t.same(vpc.pricedAs({ provider: 'bedrock', model: 'amazon.nova-pro-v1:0' }), { provider: 'aws', model: 'amazon.nova-pro-v1:0' });
});

t.test('the region of the settings counts like that of a request', async (t) => {
  const call = { provider: 'bedrock', model: 'amazon.nova-pro-v1:0' };
  t.equal(gatewayWith({ AWS_REGION: 'cn-north-1' }).pricedAs(call), undefined);
  t.ok(gatewayWith({ AWS_REGION: 'cn-north-1' }).pricedAs({ ...call, config: { region: 'eu-west-1' } }));
});

t.test('a price does not depend on a credential, nor on a gateway that is open', async (t) => {
  const bare = gatewayWith({});
  t.ok(bare.pricedAs({ provider: 'openai', model: 'gpt-4o' }));
  await bare.close();
  t.ok(bare.pricedAs({ provider: 'openai', model: 'gpt-4o' }));
});

t.test('a call that can not be made has no price, and the stand-in costs nothing', async (t) => {
  t.equal(gateway.pricedAs({ provider: 'nobody', model: 'gpt-4o' }), undefined);
  t.equal(gatewayWith({ OPENAI_BASE_URL: 'no url' }).pricedAs({ provider: 'openai', model: 'gpt-4o' }), undefined);
  t.equal(await isPriceKnown(knowledge, { provider: 'stand-in', model: 'stand-in' }), true, 'nothing is a price');
  t.equal(await priceOf({ provider: 'stand-in', model: 'stand-in' }), 0);
});

t.test(
  'the own models of a daemon on this machine or in a private network cost nothing; what it passes on, and a daemon elsewhere, has no known price',
  async (t) => {
    for (const [baseURL, model, isFree] of [
      [undefined, 'llama3.3:70b', true],
      ['http://192.168.1.20:11434', 'gpt-4o', true],
      ['http://[fd12::1]:11434', 'm', true],
      [undefined, 'gpt-oss:120b-cloud', false],
      ['http://192.168.1.20:11434', 'm:cloud', false],
      ['https://ollama.com', 'm', false],
      ['http://ollama.example:11434', 'm', false],
      ['http://8.8.8.8:11434', 'm', false],
    ] as const) {
      const world = { gateway: gatewayWith(baseURL === undefined ? {} : { OLLAMA_BASE_URL: baseURL, OLLAMA_API_KEY: 'k' }), prices };
      const call = { provider: 'ollama', model };
      t.equal(await isPriceKnown(world, call), isFree, `${baseURL} ${model}`);
      const priced = world.gateway.pricedAs(call);
      t.equal(priced === undefined ? null : await prices.priceNow({ ...priced, usage: USAGE }), isFree ? 0 : null);
    }
  },
);

t.test('a call whose price may stand in a prices.json that was never read is not made under a cap in USD; any other call is', async (t) => {
  t.throws(() => assertPriceRead({ provider: '', model: 'm', isUnread: true }), {
    code: 'WORKSPACE_DAMAGED',
    message: /prices\.json .* can't be used.*repaired or removed/,
  });
  t.doesNotThrow(() => assertPriceRead({ provider: 'openai', model: 'm' }));
  t.doesNotThrow(() => assertPriceRead(undefined));
});
