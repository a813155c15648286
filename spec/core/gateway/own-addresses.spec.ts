import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createAdapters } from '../../../adapters/index.ts';
import { OwnAddresses } from '../../../core/gateway/own-addresses.ts';
import { createBareTransport } from '../../../transports/http/index.ts';
import { startServer } from '../../support/server.ts';

const KEY = 'sk-own-addresses-0123456789';

t.test('an address is its own while its server listens, and only where it calls providers', async (t) => {
  const own = new OwnAddresses();
  const remove = own.add(['http://127.0.0.1:8420', 'http://localhost:8420'], ['/v1/', '/ollama/']);
  for (const url of ['http://127.0.0.1:8420/v1', 'http://localhost:8420/v1/', 'http://localhost:8420/', 'http://127.0.0.1:8420/ollama/v1']) {
    t.equal(own.ownerOf(new URL(url)), 'this server itself', url);
  }
  for (const url of ['http://127.0.0.1:8421/v1', 'http://127.0.0.1:8420/v10', 'http://127.0.0.1:8420/mine/v1', 'https://127.0.0.1:8420/v1']) {
    t.equal(own.ownerOf(new URL(url)), undefined, url);
  }
  const before = own.version;
  remove();
  t.equal(own.ownerOf(new URL('http://127.0.0.1:8420/v1')), undefined);
  t.not(own.version, before);
});

t.test('an address of another server of the workspace is known, and a loopback one only from its machine', async (t) => {
  const own = new OwnAddresses();
  const served = [{ origins: ['http://127.0.0.1:8420', 'http://[::1]:8420', 'http://localhost:8420', 'http://10.0.0.2:8420'], paths: ['/v1/'] }];
  const found = (): string[] =>
    [...served.flatMap(({ origins }) => origins), 'http://10.0.0.2:8420/v1', 'http://10.0.0.2:8420/mine', 'http://10.0.0.3:8420'].filter(
      (url) => own.ownerOf(new URL(url)) === 'another server of this workspace',
    );
  t.strictSame(found(), []);
  own.know([{ isSameMachine: false, served }]);
  t.strictSame(found(), ['http://10.0.0.2:8420', 'http://10.0.0.2:8420/v1']);
  const { version } = own;
  own.know([{ isSameMachine: false, served }]);
  t.equal(own.version, version, 'nothing has changed');
  own.know([{ isSameMachine: true, served }]);
  t.strictSame(found(), [...served.flatMap(({ origins }) => origins), 'http://10.0.0.2:8420/v1']);
  t.not(own.version, version);
  own.know([]);
  t.strictSame(found(), [], 'it has gone');
});

t.test('a server that is told to call itself says so, and makes no call', async (t) => {
  const env: Record<string, string> = {};
  const server = await startServer(t, { adapters: createAdapters(), env });
  const chat = { adapter: 'openai', model: 'm', messages: [{ role: 'user', content: 'hi' }] };
  const asked = await server.call('POST', '/v1/chat', { body: { ...chat, config: { apiKey: KEY, baseURL: `http://localhost:${server.port}/v1` } } });
  t.equal(asked.status, 400);
  t.match(asked.text, /leads to this server itself/);

  // As in a shell that has the variables of its clients.
  Object.assign(env, { OPENAI_BASE_URL: `${server.url}/v1`, OPENAI_API_KEY: KEY, ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: KEY });
  for (const model of ['openai/m', 'anthropic/m']) {
    const { status, text } = await server.call('POST', '/v1/chat/completions', { body: { model, messages: chat.messages } });
    t.equal(status, 503, model);
    t.match(text, /leads to this server itself.*It comes from env:(?:OPENAI|ANTHROPIC)_BASE_URL/);
  }
  const { text } = await server.call('GET', '/api/adapters?status=true');
  t.match(text, /leads to this server itself/);
  t.equal(server.core.liveCalls().length, 0);
});

t.test("a port of Ollama's own API is not asked for Ollama's answers", async (t) => {
  const server = await startServer(t, { adapters: createAdapters(), env: {} });
  const bare = createBareTransport(server.core);
  const url = await bare.listen(0, '127.0.0.1');
  writeFileSync(join(server.workspace, 'auth.json'), JSON.stringify({ ollama: { baseURL: url } }), { mode: 0o600 });
  const { status, text } = await server.call('POST', '/v1/chat/completions', { body: { model: 'ollama/m', messages: [{ role: 'user', content: 'hi' }] } });
  t.equal(status, 503);
  t.match(text, /leads to this server itself/);
  await bare.close();
});

t.test('each core is told apart from all others', async (t) => {
  const own = new OwnAddresses();
  t.match(own.instance, /^[0-9a-f-]{36}$/);
  t.not(own.instance, new OwnAddresses().instance);
});
