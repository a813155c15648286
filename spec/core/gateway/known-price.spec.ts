import t from 'tap';
import { createAdapters, createStandIn } from '../../../adapters/index.ts';
import { createBus } from '../../../core/bus.ts';
import { DEFAULT_QUEUE } from '../../../core/config.ts';
import { Gateway } from '../../../core/gateway/gateway.ts';
import { isPriceKnown, pricesAs } from '../../../core/gateway/known-price.ts';
import { Prices } from '../../../core/gateway/pricing.ts';
import { RETRY_LIMIT } from '../../../core/gateway/retry.ts';

const gateway = new Gateway({
  adapters: [...createAdapters(), createStandIn()],
  credentials: undefined,
  env: { OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: 'http://127.0.0.1:9' },
  bus: createBus(),
  timeouts: {},
  queue: DEFAULT_QUEUE,
  allowedOrigins: new Set(),
  retries: RETRY_LIMIT,
  now: () => performance.now(),
  random: Math.random,
  newRequestId: () => 'r',
});
const knowledge = { gateway, prices: new Prices() };

t.test('prices are those of the provider, and only at its own address', (t) => {
  t.equal(pricesAs(knowledge, 'openai'), 'openai');
  t.equal(pricesAs(knowledge, 'openai', { baseURL: 'http://127.0.0.1:9' }), undefined);
  t.equal(pricesAs(knowledge, 'anthropic'), undefined, 'the environment names another address');
  t.equal(pricesAs(knowledge, 'ollama'), undefined, 'a provider without prices');
  t.equal(pricesAs(knowledge, 'nobody'), undefined, 'no provider');
  t.end();
});

t.test('a price is known if the data names the model of that provider', async (t) => {
  t.equal(await isPriceKnown(knowledge, { provider: 'openai', model: 'gpt-4o' }), true);
  t.equal(await isPriceKnown(knowledge, { provider: 'openai', model: 'gpt-of-tomorrow' }), false);
  t.equal(await isPriceKnown(knowledge, { provider: 'openai', model: 'gpt-4o', config: { baseURL: 'http://127.0.0.1:9' } }), false);
  t.equal(await isPriceKnown(knowledge, { provider: 'ollama', model: 'gpt-4o' }), false);
  t.equal(await isPriceKnown(knowledge, { provider: 'stand-in', model: 'stand-in' }), true, 'nothing is a price');
});
