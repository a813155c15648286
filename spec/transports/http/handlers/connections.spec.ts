import t from 'tap';
import { createAdapters } from '../../../../adapters/index.ts';
import * as handlers from '../../../../transports/http/handlers/connections.ts';
import * as prices from '../../../../transports/http/handlers/prices.ts';
import { startServer } from '../../../support/server.ts';
import { sendJson } from '../../../support/upstream.ts';

const KEY = 'sk-canary-0123456789abcdef';

t.test('a connection is added, changed field by field, listed without its secrets, and removed', async (t) => {
  t.equal(Object.keys(handlers).length, 5);
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
  const groq = { name: 'groq', adapter: 'openai', preset: 'groq', baseURL: 'https://api.groq.com/openai/v1', ready: true, keys: [{ source: 'GROQ_API_KEY' }] };
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
      keys: [{ source: 'auth.json' }],
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
