import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createAnthropic } from '../../../../adapters/anthropic/index.ts';
import { createBedrock } from '../../../../adapters/bedrock/index.ts';
import { createOllama } from '../../../../adapters/ollama/index.ts';
import { startServer, type TestServerOptions } from '../../../support/server.ts';
import { sendJson } from '../../../support/upstream.ts';

const KEY = 'sk-ant-0123456789abcdefghij-wxyz';

async function start(
  t: Parameters<typeof startServer>[0],
  options: TestServerOptions & { readonly isRight?: boolean; readonly variables?: Record<string, string> } = {},
) {
  const { isRight = true, variables = {}, ...rest } = options;
  const adapters = [createAnthropic(), createOllama()];
  const server = await startServer(t, {
    adapters,
    answer: (_request, res) =>
      isRight ? sendJson(res, { data: [] }) : sendJson(res, { error: { type: 'authentication_error', message: `invalid x-api-key ${KEY}` } }, 401),
    ...rest,
    env: variables,
  });
  await server.core.credentials?.update('anthropic', { baseURL: server.upstream.url });
  return server;
}

t.test('a key is checked, stored and never shown again', async (t) => {
  const server = await start(t);
  const stored = await server.call('PUT', '/api/credentials/anthropic', { body: { apiKey: KEY } });
  t.equal(stored.status, 200, stored.text);
  const listed = await server.call('GET', '/api/credentials');
  t.match(
    (listed.json['credentials'] as { adapter: string }[]).find(({ adapter }) => adapter === 'anthropic'),
    { configured: true, source: 'auth.json', hint: 'wxyz' },
  );
  t.match(readFileSync(join(server.workspace, 'auth.json'), 'utf8'), KEY);
  for (const text of [stored.text, listed.text, JSON.stringify(server.log)]) t.notOk(text.includes(KEY));
  t.match(await server.call('DELETE', '/api/credentials/anthropic'), { status: 200 });
  t.notOk(readFileSync(join(server.workspace, 'auth.json'), 'utf8').includes(KEY));
});

t.test('a key that its provider refuses is not stored, and the words of the provider come without it', async (t) => {
  const server = await start(t, { isRight: false });
  const refused = await server.call('PUT', '/api/credentials/anthropic', { body: { apiKey: KEY } });
  t.equal(refused.status, 400);
  t.notOk(refused.text.includes(KEY));
  t.notOk(readFileSync(join(server.workspace, 'auth.json'), 'utf8').includes(KEY));
  t.match(await server.call('PUT', '/api/credentials/anthropic?unchecked=true', { body: { apiKey: KEY } }), { status: 200 });
  t.notOk(JSON.stringify(server.log).includes(KEY));
});

t.test('a short key has no hint, and an unknown field or a wrong value is refused by its name', async (t) => {
  const server = await start(t);
  await server.call('PUT', '/api/credentials/anthropic?unchecked=true', { body: { apiKey: 'short-key-of-17ch' } });
  t.match((await server.call('GET', '/api/credentials')).json, { credentials: [{ adapter: 'anthropic', hint: null }] });
  t.match(await server.call('PUT', '/api/credentials/anthropic', { body: { token: 'x' } }), { status: 400, text: /a field that is no setting/ });
  t.match(await server.call('PUT', '/api/credentials/anthropic', { body: { apiKey: 'with space' } }), { status: 400, text: /apiKey contains characters/ });
  t.match(await server.call('PUT', '/api/credentials/nobody', { body: { apiKey: 'x' } }), { status: 404 });
});

t.test('what comes from the environment is not replaced here, and the variable is named', async (t) => {
  const server = await start(t, { variables: { ANTHROPIC_API_KEY: KEY } });
  t.match((await server.call('GET', '/api/credentials')).json, { credentials: [{ adapter: 'anthropic', source: 'env', variable: 'ANTHROPIC_API_KEY' }] });
  t.match(await server.call('PUT', '/api/credentials/anthropic', { body: { apiKey: 'other-key' } }), { status: 409, text: /ANTHROPIC_API_KEY/ });
});

t.test('a key and its address are checked together, at that address, and what was stored comes back when they are refused', async (t) => {
  const server = await start(t);
  await server.call('PUT', '/api/credentials/anthropic', { body: { apiKey: KEY } });
  const { startUpstream } = await import('../../../support/upstream.ts');
  const other = await startUpstream(t, (_request, res) => sendJson(res, { error: { type: 'authentication_error', message: 'no' } }, 401));
  const before = server.upstream.requests.length;
  const refused = await server.call('PUT', '/api/credentials/anthropic', { body: { apiKey: 'another-key-of-the-owner', baseURL: other.url } });
  t.equal(refused.status, 400, refused.text);
  t.equal(server.upstream.requests.length, before, 'the new key went nowhere else');
  t.ok(other.requests.length > 0);
  t.match(JSON.parse(readFileSync(join(server.workspace, 'auth.json'), 'utf8')), { anthropic: { apiKey: KEY, baseURL: server.upstream.url } });
});

t.test('a key in the place of a name is not repeated', async (t) => {
  const server = await start(t);
  const refused = await server.call('PUT', '/api/credentials/anthropic', { body: { [KEY]: 'apiKey' } });
  t.equal(refused.status, 400);
  t.notOk(refused.text.includes(KEY));
});

t.test('a new address does not take the stored key along: the key comes in the same change, or nothing is stored and nothing sent', async (t) => {
  const server = await start(t);
  await server.call('PUT', '/api/credentials/anthropic', { body: { apiKey: KEY } });
  const { startUpstream } = await import('../../../support/upstream.ts');
  const thief = await startUpstream(t, (_request, res) => sendJson(res, { data: [{ id: 'a' }] }));
  const { port } = new URL(thief.url);
  const entry = () => JSON.parse(readFileSync(join(server.workspace, 'auth.json'), 'utf8'))['anthropic'] as unknown;
  for (const unchecked of ['', '?unchecked=true'])
    for (const body of [
      { baseURL: thief.url },
      { baseURL: `http://localhost:${port}` },
      { baseURL: thief.url, authToken: 'a-token' },
      { baseURL: 'https://api.anthropic.com' },
      { baseURL: `${server.upstream.url}/v1/another-tenant` },
    ]) {
      const refused = await server.call('PUT', `/api/credentials/anthropic${unchecked}`, { body });
      t.match(refused, { status: 400, json: { code: 'INVALID_REQUEST', error: /^apiKey is needed again with the new baseURL/ } }, JSON.stringify(body));
      t.notOk(refused.text.includes(KEY));
      t.same(entry(), { apiKey: KEY, baseURL: server.upstream.url });
    }
  await server.call('POST', '/v1/adapters/anthropic/verify', { body: {} });
  t.same(thief.requests, []);
  t.match(
    await server.call('PUT', '/api/credentials/anthropic', { body: { baseURL: `${server.upstream.url}/` } }),
    { status: 200 },
    'a slash at its end changes nothing',
  );
  t.match(await server.call('PUT', '/api/credentials/anthropic', { body: { baseURL: thief.url, apiKey: 'a-key-for-there' } }), { status: 200 });
  t.same(
    thief.requests.map(({ headers }) => headers['x-api-key']),
    ['a-key-for-there'],
  );
});

t.test('nor does it draw a key of the environment, with a check or without, in a call or a probe', async (t) => {
  const server = await startServer(t, { adapters: [createAnthropic(), createOllama()], env: { ANTHROPIC_API_KEY: KEY } });
  const { startUpstream } = await import('../../../support/upstream.ts');
  const thief = await startUpstream(t, (_request, res) => sendJson(res, { data: [{ id: 'a' }] }));
  const body = { baseURL: thief.url };
  const refused = await server.call('PUT', '/api/credentials/anthropic', { body });
  t.match(refused, { status: 400, json: { error: /a key that is not in auth\.json is not sent there.*ANTHROPIC_BASE_URL.*BLOCKHOUSE_ALLOWED_ORIGINS/ } });
  t.equal(server.core.credentials?.read('anthropic'), undefined, 'it is taken back');
  t.match(await server.call('PUT', '/api/credentials/anthropic?unchecked=true', { body }), { status: 200 });
  t.match(await server.call('POST', '/v1/adapters/anthropic/verify', { body: {} }), { json: { ok: false, detail: /not sent there/ } });
  const chat = { adapter: 'anthropic', model: 'm', messages: [{ role: 'user', content: 'hi' }] };
  for (const config of [{}, { config: body }])
    t.match(await server.call('POST', '/v1/chat', { body: { ...chat, ...config } }), {
      status: 503,
      json: { code: 'ADAPTER_NOT_CONFIGURED', error: /not sent there/ },
    });
  t.match((await server.call('GET', '/api/adapters')).json, { adapters: [{ id: 'anthropic', ready: false, detail: /not sent there/ }, {}] });
  t.same(thief.requests, []);
});

t.test('two changes at once do not bring an old key to a new address', async (t) => {
  const server = await start(t, { answer: (_request, res) => void setImmediate(() => sendJson(res, { data: [] }, 401)) });
  await server.call('PUT', '/api/credentials/anthropic?unchecked=true', { body: { apiKey: KEY } });
  const { startUpstream } = await import('../../../support/upstream.ts');
  const thief = await startUpstream(t, (_request, res) => sendJson(res, { error: { type: 'authentication_error', message: 'no' } }, 401));
  for (let round = 0; round < 10; round += 1) {
    const changes = [{ baseURL: thief.url, apiKey: `dummy-${round}` }, { baseURL: thief.url }, { baseURL: `${thief.url}/x` }];
    await Promise.all(changes.map((body) => server.call('PUT', '/api/credentials/anthropic', { body })));
    await server.call('POST', '/v1/adapters/anthropic/verify', { body: {} });
  }
  for (const { headers } of thief.requests) t.not(headers['x-api-key'], KEY);
  const { apiKey, baseURL } = server.core.credentials?.read('anthropic') ?? {};
  t.equal(apiKey === KEY, baseURL === server.upstream.url, 'what is left is no mixture');
});

t.test('a refusal names the address that was sent, and what no call could use is not stored without a check either', async (t) => {
  const [accessKeyId, secretAccessKey, endpoint] = ['AKIAIOSFODNN7EXAMPLE', 'secret-0123456789-abcdef', 'http://127.0.0.1:1'];
  const server = await startServer(t, { adapters: [createBedrock()], env: { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } });
  const refused = await server.call('PUT', '/api/credentials/bedrock', { body: { endpoint, controlEndpoint: endpoint } });
  t.equal(refused.status, 400, refused.text);
  t.match(refused.text, `is at ${endpoint}`);
  t.notMatch(refused.text, secretAccessKey);
  for (const fields of [{ region: 'evil.com/#-1' }, { endpoint: 'https://host/#x' }, { controlEndpoint: 'https://u@host' }]) {
    const [name = ''] = Object.keys(fields);
    const answer = await server.call('PUT', '/api/credentials/bedrock?unchecked=true', { body: fields });
    t.match(answer, { status: 400, json: { details: [{ path: name }] } }, name);
  }
  t.equal(existsSync(join(server.workspace, 'auth.json')) && readFileSync(join(server.workspace, 'auth.json'), 'utf8').includes('evil'), false);
});
