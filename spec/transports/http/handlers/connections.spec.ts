import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { createAdapters } from '../../../../adapters/index.ts';
import { BlockhouseError } from '../../../../core/errors.ts';
import * as handlers from '../../../../transports/http/handlers/connections.ts';
import { keepIfRight } from '../../../../transports/http/handlers/kept-if-right.ts';
import * as prices from '../../../../transports/http/handlers/prices.ts';
import { scriptedAdapter } from '../../../support/scripted-adapter.ts';
import { startServer } from '../../../support/server.ts';
import { type Answerer, sendJson } from '../../../support/upstream.ts';

const KEY = 'sk-canary-0123456789abcdef';

t.test('a connection is added, changed field by field, listed without its secrets, and removed', async (t) => {
  t.equal(Object.keys(handlers).length, 8);
  const server = await startServer(t, { adapters: createAdapters(), env: { GROQ_API_KEY: KEY }, answer: (_request, res) => sendJson(res, { data: [] }) });
  const put = (name: string, body: unknown) => server.call('PUT', `/api/connections/${name}`, { body });
  const entry = { adapter: 'openai', baseURL: `${server.upstream.url}/v1`, apiKey: KEY, headers: { 'x-team': 'canary' }, models: { m: { price: 0 } } };
  t.match(await put('gpu', entry), { status: 200, json: { success: true, message: 'Stored gpu in auth.json.' } });
  t.equal((await put('gpu', { limits: { inFlight: 3 } })).status, 200);
  t.equal((await put('groq', {})).status, 200);
  const listed = await server.call('GET', '/api/connections');
  t.notMatch(listed.text, /canary/);
  const all = listed.json['connections'] as { name: string }[];
  t.same(
    all.map(({ name }) => name),
    ['bedrock', 'openai', 'google', 'anthropic', 'ollama', 'gpu', 'groq'],
  );
  const groq = {
    name: 'groq',
    adapter: 'openai',
    preset: 'groq',
    baseURL: 'https://api.groq.com/openai/v1',
    ready: true,
    keys: [{ label: 'the only key', source: 'GROQ_API_KEY' }],
  };
  t.match(all.slice(5), [
    {
      name: 'gpu',
      adapter: 'openai',
      preset: null,
      ready: true,
      isLocal: true,
      models: { m: { price: 0 } },
      limits: { inFlight: 3 },
      breaker: 'closed',
      keys: [{ label: 'the only key', source: 'auth.json' }],
    },
    groq,
  ]);
  t.match(all[3], { name: 'anthropic', adapter: 'anthropic', ready: false, detail: /needs a key/ });
  for (const [name, body, path] of [
    ['gpu', { keyCommand: ['x'] }, 'keyCommand'],
    ['gpu', { baseURL: 'http://127.0.0.1:1' }, 'apiKey'],
    ['nowhere', {}, 'adapter'],
    ['gpu', { limits: { inFlight: 'x' } }, 'limits.inFlight'],
    ['block', { adapter: 'openai' }, 'name'],
    ['gpu', [], ''],
  ] as const)
    t.match(await put(name, body), { status: 400, json: { code: 'INVALID_REQUEST', ...(path !== '' && { details: [{ path }] }) } }, JSON.stringify(body));
  t.equal((await server.call('DELETE', '/api/connections/gpu')).status, 200);
  t.match(await server.call('DELETE', '/api/connections/gpu'), { status: 404, json: { code: 'CONNECTION_NOT_FOUND' } });
});

t.test('presets say which variables this server has, and only the workspace may ask', async (t) => {
  const server = await startServer(t, { adapters: createAdapters(), env: { GROQ_API_KEY: KEY } });
  const { presets } = (await server.call('GET', '/api/presets')).json as { presets: { name: string; isSet: boolean }[] };
  t.same(
    presets.filter(({ isSet }) => isSet).map(({ name }) => name),
    ['groq'],
  );
  const made = await server.call('POST', '/api/keys', { body: { name: 'app' } });
  const headers = { authorization: `Bearer ${String(made.json['key'])}` };
  for (const [method, path] of [
    ['GET', '/api/connections'],
    ['PUT', '/api/connections/gpu'],
    ['DELETE', '/api/connections/gpu'],
    ['POST', '/api/connections/gpu/keys'],
    ['PATCH', '/api/connections/gpu/keys/a'],
    ['DELETE', '/api/connections/gpu/keys/a'],
    ['POST', '/api/connections/detect'],
    ['GET', '/api/presets'],
  ] as const) {
    t.match((await server.call(method, path, { headers, body: {} })).status, /^(401|403)$/, `${method} ${path}`);
    t.equal((await server.call(method, path, { token: false, body: {} })).status, 401);
  }
});

t.test('a price is read, set and removed by the name of its model, whose slashes are escaped', async (t) => {
  t.equal(Object.keys(prices).length, 3);
  const server = await startServer(t, { adapters: createAdapters(), env: {} });
  await server.call('PUT', '/api/connections/gpu', { body: { adapter: 'openai', baseURL: 'http://10.0.0.7:8000/v1', auth: 'none' } });
  const path = `/api/prices/${encodeURIComponent('gpu/x/y')}`;
  t.match(await server.call('PUT', path, { body: { price: { input: 1, output: 2 } } }), { status: 200, json: { model: 'gpu/x/y', from: 'own' } });
  t.match(await server.call('GET', '/api/prices'), { status: 200, json: { prices: [{ model: 'gpu/x/y' }], source: null } });
  t.match(await server.call('DELETE', path), { status: 200, json: { message: 'Removed the price of gpu/x/y from auth.json.' } });
  t.match(await server.call('DELETE', path), { status: 200, json: { message: 'auth.json has no price of gpu/x/y.' } });
  t.match(await server.call('PUT', path, { body: '[]' }), { status: 400 });
  for (const method of ['GET', 'PUT', 'DELETE']) t.equal((await server.call(method, method === 'GET' ? '/api/prices' : path, { token: false })).status, 401);
  const { key } = (await server.call('POST', '/api/keys', { body: { name: 'app' } })).json;
  const asApp = { token: false, headers: { authorization: `Bearer ${String(key)}` } } as const;
  t.equal((await server.call('PUT', path, { ...asApp, body: { price: 0 } })).status, 403, 'no application makes its own calls free');
});

/** A server that takes the keys that begin with sk-good, and repeats those that it refuses. */
const judge: Answerer = ({ headers }, res) => {
  const key = String(headers.authorization);
  if (key.startsWith('Bearer sk-good')) sendJson(res, { data: [] });
  else sendJson(res, { error: { message: `${key} is not known here` } }, 401);
};

t.test('a checked change stays only if the server of the connection takes it, and no refusal repeats the key', async (t) => {
  t.type(keepIfRight, 'function');
  const server = await startServer(t, { adapters: createAdapters(), env: {}, answer: judge });
  const baseURL = `${server.upstream.url}/v1`;
  const put = (body: object, query = '?checked=true') => server.call('PUT', `/api/connections/gpu${query}`, { body });
  const entry = () => JSON.parse(readFileSync(join(server.workspace, 'auth.json'), 'utf8')).gpu as unknown;
  const refused = await put({ adapter: 'openai', baseURL, apiKey: 'sk-canary-bad-0123456789' });
  t.match(refused, { status: 400, json: { details: [{ path: 'apiKey' }] } });
  t.notMatch(refused.text, /canary/);
  t.equal(entry(), undefined, 'a new entry that is refused is not there');
  const good = { adapter: 'openai', baseURL, apiKey: 'sk-good-0123456789abcdef' };
  t.equal((await put(good)).status, 200);
  t.equal((await put({ apiKey: 'sk-canary-bad-0123456789' })).status, 400);
  t.same(entry(), good, 'the entry is as it was');
  t.equal((await put({ apiKey: 'sk-later-0123456789abcdef' }, '')).status, 200, 'unchecked, anything is stored');
  t.match(await put({}, '?checked=perhaps'), { status: 400, json: { details: [{ path: 'checked' }] } });
});

t.test('keys are added, put in order, weighed and removed one by one, and are never shown', async (t) => {
  const server = await startServer(t, { adapters: createAdapters(), env: { GPU_B: 'sk-good-canary-b' }, answer: judge });
  await server.call('PUT', '/api/connections/gpu', { body: { adapter: 'openai', baseURL: `${server.upstream.url}/v1`, apiKey: 'sk-good-canary-0000abcd' } });
  const at = (label = '') => `/api/connections/gpu/keys${label === '' ? '' : `/${encodeURIComponent(label)}`}`;
  const add = (body: object, query = '') => server.call('POST', `${at()}${query}`, { body });
  const keys = async () => {
    const { text, json } = await server.call('GET', '/api/connections');
    t.notMatch(text, /canary/);
    return (json['connections'] as { name: string; keys: object[] }[]).find(({ name }) => name === 'gpu')?.keys;
  };
  t.match(await add({ label: 'b', apiKey: 'sk-good-canary-1111', weight: 2 }), { status: 200, json: { message: 'gpu has 2 keys: …abcd, b.' } });
  const bad = await add({ label: 'c', apiKey: 'sk-bad-canary-2222' }, '?checked=true');
  t.match(bad, { status: 400, json: { details: [{ path: 'apiKey' }] } });
  t.notMatch(bad.text, /canary/);
  t.match(await add({ label: 'c', apiKey: 'sk-good-canary-3333' }, '?checked=true'), { status: 200 });
  t.match(await server.call('PATCH', at('c'), { body: { place: 1, inFlight: 4 } }), { status: 200, json: { message: 'gpu has 3 keys: c, …abcd, b.' } });
  t.match(await server.call('PATCH', at('…abcd'), { body: { label: 'a', weight: 3 } }), { status: 200 });
  t.match(await server.call('PATCH', at('b'), { body: { weight: null, place: 9 } }), { status: 200 });
  t.match(await keys(), [
    { label: 'c', weight: 1, maxInFlight: 4, state: 'ready', source: 'auth.json' },
    { label: 'a', weight: 3, maxInFlight: null },
    { label: 'b', weight: 1 },
  ]);
  for (const [answer, path] of [
    [await add({ label: 'b', apiKey: 'sk-good-canary-4444' }), 'keys[3].label'],
    [await add({ label: 'Big', apiKey: 'sk-good-canary-4444' }), 'label'],
    [await add({ label: 'd' }), 'keys[3]'],
    [await server.call('PATCH', at('a'), { body: { apiKey: 'sk-good-canary-5555' } }), 'apiKey'],
    [await server.call('PATCH', at('a'), { body: { place: 0 } }), 'place'],
    [await server.call('PATCH', at('zz'), { body: { weight: 2 } }), 'key'],
    [await server.call('DELETE', at('zz')), 'key'],
  ] as const) {
    t.match(answer, { status: 400, json: { details: [{ path }] } }, path);
    t.notMatch(answer.text, /canary/);
  }
  t.match(await server.call('POST', '/api/connections/nowhere/keys', { body: { apiKey: 'sk-good-canary-1' } }), { status: 404 });
  for (const label of ['a', 'b']) t.equal((await server.call('DELETE', at(label))).status, 200);
  t.match(await server.call('DELETE', at('c')), { status: 400, json: { details: [{ path: 'key' }] } }, 'the only one stays');
  t.same((await keys())?.length, 1);
});

t.test('of two keys that are added at once none is lost, and a variable that is not set has a key of no use', async (t) => {
  const server = await startServer(t, { adapters: createAdapters(), env: { OPENAI_API_KEY: 'sk-good-canary-env-0123' } });
  const added = await Promise.all(
    ['a', 'b', 'c', 'd'].map((label) => server.call('POST', '/api/connections/openai/keys', { body: { label, apiKey: `sk-good-canary-${label}` } })),
  );
  t.same(
    added.map(({ status }) => status),
    [200, 200, 200, 200],
  );
  t.equal((await server.call('POST', '/api/connections/openai/keys', { body: { label: 'e', apiKeyEnv: 'NOT_HERE' } })).status, 200);
  const { text, json } = await server.call('GET', '/api/connections');
  t.notMatch(text, /canary/);
  const openai = (json['connections'] as { name: string; keys: { label: string; source: string; state: string }[] }[]).find(({ name }) => name === 'openai');
  t.equal(openai?.keys.length, 6);
  t.match(openai?.keys[0], { source: 'OPENAI_API_KEY', state: 'ready' });
  t.match(openai?.keys[5], { label: 'e', source: 'NOT_HERE', state: 'unset' });
});

t.test('a key of a variable that does not go to the address of the entry is shown as such, with the cure', async (t) => {
  const server = await startServer(t, { adapters: createAdapters(), env: { KEY_B: 'canary-of-b-0123456789', OLLAMA_API_KEY: 'canary-of-o-0123456789' } });
  const keys = [
    { label: 'a', apiKey: 'canary-of-a-0123456789' },
    { label: 'b', apiKeyEnv: 'KEY_B', weight: 2 },
  ];
  const there = 'http://127.0.0.1:9';
  const shown = async (entries: object) => {
    writeFileSync(join(server.workspace, 'auth.json'), JSON.stringify(entries), { mode: 0o600 });
    await delay(210);
    const { text, json } = await server.call('GET', '/api/connections');
    t.notMatch(text, /canary/);
    const list = json['connections'] as { name: string }[];
    return (name: string) => list.find((one) => one.name === name);
  };
  const of = await shown({
    openai: { baseURL: there, keys },
    ollama: { baseURL: there, apiKeyEnv: 'KEY_B' },
    gpu: { adapter: 'openai', baseURL: there, keys },
  });
  t.match(of('openai'), {
    ready: true,
    detail: /^The key in KEY_B is not sent: the address of OpenAI, http:\/\/127\.0\.0\.1:9.*, does not come from the environment\. .*auth set openai/,
    keys: [
      { label: 'a', state: 'ready' },
      { label: 'b', source: 'KEY_B', state: 'elsewhere', weight: 2 },
    ],
  });
  t.match(of('ollama'), { ready: true, detail: /^The key in KEY_B is not sent/, keys: [{ source: 'KEY_B', state: 'elsewhere' }] });
  t.match(of('gpu'), { ready: true, detail: null, keys: [{ state: 'ready' }, { state: 'ready' }] }, 'a connection names its own variables');
  t.match((await shown({ openai: { keys } }))('openai'), { detail: null, keys: [{ state: 'ready' }, { state: 'ready' }] }, 'at its own address');
});

t.test('a provider whose credential is searched for is as ready in the list of connections as in that of the adapters', async (t) => {
  let isThere = false;
  const probe = async () => {
    if (!isThere) throw new BlockhouseError('ADAPTER_NOT_CONFIGURED', 'No credential was found.');
  };
  const searching = { ...scriptedAdapter({}, 'cloud'), authRequired: true, settings: { apiKey: { secret: true as const } }, probe };
  const server = await startServer(t, { adapters: [searching, scriptedAdapter({}, 'open')], env: {} });
  const read = async (path: string, field: string) =>
    ((await server.call('GET', path)).json[field] as { ready: boolean; detail?: string | null }[]).map(({ ready, detail }) => [ready, detail ?? null]);
  for (const expected of [
    [false, 'No credential was found.'],
    [true, null],
  ]) {
    t.same(await read('/api/adapters', 'adapters'), [expected, [true, null]]);
    t.same(await read('/api/connections', 'connections'), [expected, [true, null]]);
    isThere = true;
  }
});
