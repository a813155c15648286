// Prices: a call of a named key counts money under every spelling of its model, and what has no price is told and not taken for free.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { parseJson } from '../../core/base/json.ts';
import { Prices } from '../../core/gateway/pricing.ts';
import type { Adapter } from '../../core/index.ts';
import type { Wire } from '../conformance/wire.ts';
import { anthropic } from '../conformance/wires/anthropic.ts';
import { bedrock } from '../conformance/wires/bedrock.ts';
import { google } from '../conformance/wires/google.ts';
import { openaiChat } from '../conformance/wires/openai-chat.ts';
import { startServer, type TestServer, type TestServerOptions } from '../support/server.ts';
import { type Answerer, sendJson, startUpstream } from '../support/upstream.ts';
import { answerWith } from '../support/wire-server.ts';

const CAP = 100;
/** That of `answerWith`. */
const USAGE = { inputTokens: 12, outputTokens: 5, totalTokens: 17 };
const SONNET = 'anthropic.claude-sonnet-4-5-20250929-v1:0';
const ARN = 'arn:aws:bedrock:us-east-1';

/** The adapter of a wire, which takes the upstream of the test for its provider's own host. */
function atHome(wire: Wire, url: string): Adapter {
  const adapter = wire.create();
  const { baseURL } = adapter.settings;
  return {
    ...adapter,
    settings: { ...adapter.settings, ...(baseURL !== undefined && { baseURL: { ...baseURL, default: url } }) },
    isOwnAddress: () => true,
    pricedModel: ({ settings, ...call }) => {
      const { endpoint: _upstream, ...values } = settings.values;
      return adapter.pricedModel?.({ ...call, settings: { ...settings, values } });
    },
  };
}

async function startAtHome(t: Test, wire: Wire, answer: Answerer = answerWith(wire), options: TestServerOptions = {}): Promise<TestServer> {
  const { url } = await startUpstream(t, answer);
  return startServer(t, { adapters: [atHome(wire, url)], retries: 0, env: wire.env(url), ...options });
}

let made = 0;

/** What a new key has spent after one request. */
async function spentFor(server: TestServer, path: string, body: object): Promise<{ readonly status: number; readonly spent: object }> {
  const name = `key-${++made}`;
  const { key } = (await server.call('POST', '/api/keys', { body: { name, usdPerDay: CAP } })).json;
  const { status } = await server.call('POST', path, { token: false, headers: { authorization: `Bearer ${key}` }, body });
  await server.call('GET', '/api/costs?source=gateway'); // after every call is priced
  const { keys } = (await server.call('GET', '/api/keys')).json as { keys: { name: string; spentToday: object }[] };
  return { status, spent: keys.find((one) => one.name === name)?.spentToday ?? {} };
}

/** What a request of the workspace's own token has cost: no key may choose a place or a tier. */
async function countedFor(server: TestServer, path: string, body: object): Promise<{ readonly status: number; readonly spent: object }> {
  const { status } = await server.call('POST', path, { body });
  await server.call('GET', '/api/costs?source=gateway'); // writes the lines
  const line = JSON.parse(readFileSync(join(server.workspace, 'gateway-ledger.jsonl'), 'utf8').trim().split('\n').at(-1) ?? '');
  const { costUsd, usage } = line as { costUsd: number | null; usage: { totalTokens: number } };
  return { status, spent: { usd: costUsd ?? 0, tokens: usage.totalTokens, calls: 1, unpricedCalls: costUsd === null ? 1 : 0 } };
}

const MESSAGES = [{ role: 'user', content: 'hi' }];
const SPELLINGS: readonly [wire: Wire, data: string, model: string, entry: string, config?: object][] = [
  [google, 'google', 'models/gemini-2.5-flash', 'gemini-2.5-flash'],
  [bedrock, 'aws', SONNET, SONNET, { region: 'eu-west-1' }],
  [bedrock, 'aws', `us.${SONNET}`, SONNET],
  [bedrock, 'aws', `global.${SONNET}`, `global.${SONNET}`, { region: 'ap-south-1' }],
  [bedrock, 'aws', `${ARN}::foundation-model/${SONNET}`, SONNET],
  [bedrock, 'aws', `${ARN}:123456789012:inference-profile/eu.${SONNET}`, SONNET],
  [openaiChat, 'openai', 'ft:gpt-4o-2024-08-06:acme::abc', 'ft:gpt-4o-2024-08-06'],
  [anthropic, 'anthropic', 'claude-sonnet-4-5-20250929', 'claude-sonnet-4-5'],
];

t.test('each spelling of a model counts money under a cap, in our own protocol and in that of a client', async (t) => {
  const prices = new Prices();
  for (const wire of [google, bedrock, openaiChat, anthropic]) {
    const server = await startAtHome(t, wire);
    for (const [, data, model, entry, config] of SPELLINGS.filter(([of]) => of === wire)) {
      const usd = await prices.priceNow({ provider: data, model: entry, usage: USAGE });
      const expected = { status: 200, spent: { usd, tokens: 17, calls: 1, unpricedCalls: 0 } };
      t.ok(usd, entry);
      const body = { adapter: wire.adapter, model, messages: MESSAGES, ...(config !== undefined && { config }) };
      const spending = config === undefined ? spentFor : countedFor;
      t.same(await spending(server, '/v1/chat', body), expected, `${model} ${JSON.stringify(config)}`);
      t.same(await spending(server, '/v1/chat', { ...body, stream: true }), expected, `${model}, streamed`);
      if (config === undefined)
        t.same(await spentFor(server, '/v1/chat/completions', { model: `${wire.adapter}/${model}`, messages: MESSAGES }), expected, `${model}, of a client`);
    }
  }
});

t.test('a connection in the protocol of Bedrock at another address has the price that is given for it, and none of the data', async (t) => {
  const { url } = await startUpstream(t, answerWith(bedrock));
  const entry = { adapter: 'bedrock', endpoint: url, controlEndpoint: url, region: 'us-east-1', accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret' };
  const profile = 'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abcdefghijkl';
  const own = { input: 1000, output: 2000 };
  const models = { [`us.${SONNET}`]: { price: own }, 'amazon.nova-pro-v1:0': { price: 'openai/gpt-4o' }, [profile]: { price: own } };
  const bed = { ...entry, models };
  const server = await startServer(t, { adapters: [bedrock.create()], retries: 0 });
  writeFileSync(join(server.workspace, 'auth.json'), JSON.stringify({ bed }));
  const costOf = async (model: string) => countedFor(server, '/v1/chat', { adapter: 'bed', model, messages: MESSAGES });
  const first = await server.call('POST', '/v1/chat', { body: { adapter: 'bed', model: SONNET, messages: MESSAGES } });
  t.equal(first.status, 200, first.text);
  t.match(await costOf(`us.${SONNET}`), { status: 200, spent: { usd: 0.022, unpricedCalls: 0 } });
  t.match(await costOf('amazon.nova-pro-v1:0'), { status: 200, spent: { unpricedCalls: 0 } });
  t.match(await costOf(profile), { status: 200, spent: { usd: 0.022, unpricedCalls: 0 } }, 'an ARN that hides its model');
  t.match(await costOf(`${profile.slice(0, -1)}m`), { status: 200, spent: { unpricedCalls: 1 } }, 'another ARN');
  const prioritized = { adapter: 'bed', model: profile, messages: MESSAGES, config: { serviceTier: 'priority' } };
  t.match(await countedFor(server, '/v1/chat', prioritized), { spent: { unpricedCalls: 1 } }, 'a dearer tier has no price that was given for the usual one');
  t.match(await costOf(SONNET), { status: 200, spent: { unpricedCalls: 1 } });
});

t.test('a search that is billed beside the tokens is counted as far as it is known, or refused', async (t) => {
  const server = await startAtHome(t, openaiChat);
  const body = { model: 'openai/gpt-4o-mini-search-preview', messages: MESSAGES };
  const { status, spent } = await spentFor(server, '/v1/chat/completions', body);
  t.match({ status, spent }, { status: 200, spent: { calls: 1, unpricedCalls: 0 } }, 'its tokens have a price');
  t.ok((spent as { usd: number }).usd > 0, 'its tokens');
  const { key } = (await server.call('POST', '/api/keys', { body: { name: 'strict', usdPerDay: CAP, unpriced: 'refuse' } })).json;
  const refused = await server.call('POST', '/v1/chat/completions', { token: false, headers: { authorization: `Bearer ${key}` }, body });
  t.match(refused, { status: 403, text: /price of openai\/gpt-4o-mini-search-preview is not known/ });
});

t.test('pictures that a model makes cost what the data says of them', async (t) => {
  const usageMetadata = {
    promptTokenCount: 10,
    candidatesTokenCount: 1300,
    totalTokenCount: 1310,
    candidatesTokensDetails: [
      { modality: 'TEXT', tokenCount: 10 },
      { modality: 'IMAGE', tokenCount: 1290 },
    ],
  };
  const content = { role: 'model', parts: [{ text: 'here' }, { inlineData: { mimeType: 'image/png', data: 'AAAA' } }] };
  const server = await startAtHome(t, google, (_request, res) => sendJson(res, { candidates: [{ content, finishReason: 'STOP' }], usageMetadata }));
  const { status, spent } = await spentFor(server, '/v1/chat', { adapter: 'google', model: 'gemini-2.5-flash-image', messages: MESSAGES });
  t.equal(status, 200);
  t.ok(Math.abs((spent as { usd: number }).usd - (10 * 0.3 + 10 * 2.5 + 1290 * 30) / 1e6) < 1e-9, JSON.stringify(spent));
});

t.test('a call without a known price is one that is not counted', async (t) => {
  const uncounted = { status: 200, spent: { usd: 0, tokens: 17, calls: 1, unpricedCalls: 1 } };
  const server = await startAtHome(t, bedrock);
  for (const [model, config] of [
    [`${ARN}:123456789012:application-inference-profile/abc`, {}],
    [SONNET, { region: 'cn-north-1' }],
    [SONNET, { serviceTier: 'priority' }],
  ] as const)
    t.same(await countedFor(server, '/v1/chat', { adapter: 'bedrock', model, messages: MESSAGES, config }), uncounted, `${model} ${JSON.stringify(config)}`);
  const report = (await server.call('GET', '/api/costs?source=gateway&by=model')).json;
  t.match(report, { total: { calls: 3, costUsd: null, unpricedCalls: 3 } });
});

t.test('a dearer tier is not priced as the standard one, whether the request asks for it or the answer alone tells', async (t) => {
  const answer: Answerer = (request, res) => {
    const { tier } = parseJson(request.body) as { tier?: object };
    const usage = { input_tokens: 12, output_tokens: 5, ...tier };
    sendJson(res, { id: 'm', type: 'message', role: 'assistant', model: 'x', content: [{ type: 'text', text: 'hi' }], stop_reason: 'end_turn', usage });
  };
  const server = await startAtHome(t, anthropic, answer);
  const ask = { model: 'claude-haiku-4-5', max_tokens: 10, messages: MESSAGES };
  for (const [parts, unpricedCalls] of [
    [{}, 0],
    [{ service_tier: 'auto' }, 0],
    [{ service_tier: 'standard_only', inference_geo: 'global' }, 0],
    [{ tier: { service_tier: 'standard', speed: 'standard', inference_geo: 'not_available' } }, 0],
    [{ speed: 'fast' }, 1],
    [{ inference_geo: 'us' }, 1],
    [{ tier: { service_tier: 'priority' } }, 1],
    [{ tier: { speed: 'fast' } }, 1],
    [{ tier: { inference_geo: 'us' } }, 1],
  ] as const)
    t.match(await countedFor(server, '/v1/messages', { ...ask, ...parts }), { status: 200, spent: { calls: 1, unpricedCalls } }, JSON.stringify(parts));
});

t.test('an hour in the cache is dearer than five minutes, and a report that contradicts itself is priced', async (t) => {
  const answer: Answerer = (request, res) => {
    const { usage } = parseJson(request.body) as { usage: object };
    sendJson(res, { id: 'm', type: 'message', role: 'assistant', model: 'x', content: [], stop_reason: 'end_turn', usage });
  };
  const server = await startAtHome(t, anthropic, answer);
  const spent = async (usage: object) => {
    const body = { model: 'claude-haiku-4-5', max_tokens: 10, messages: MESSAGES, usage: { output_tokens: 0, ...usage } };
    return (await spentFor(server, '/v1/messages', body)).spent as { readonly usd: number; readonly unpricedCalls: number };
  };
  const minutes = await spent({ input_tokens: 0, cache_creation_input_tokens: 1000 });
  const hour = await spent({ input_tokens: 0, cache_creation_input_tokens: 1000, cache_creation: { ephemeral_1h_input_tokens: 1000 } });
  t.same([minutes.usd, hour.usd], [0.00125, 0.002]);
  const huge = await spent({ input_tokens: Number.MAX_SAFE_INTEGER, cache_read_input_tokens: Number.MAX_SAFE_INTEGER });
  t.ok(huge.usd > 1000 && huge.unpricedCalls === 0);
});
