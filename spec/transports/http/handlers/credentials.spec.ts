import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createAnthropic } from '../../../../adapters/anthropic/index.ts';
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
