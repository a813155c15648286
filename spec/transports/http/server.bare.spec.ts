// The second server, for clients that take a host and a port and no path.
import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Ollama } from 'ollama';
import t, { type Test } from 'tap';
import { createBareTransport } from '../../../transports/http/index.ts';
import { readAnswer, responseOf, startServer } from '../../support/server.ts';

async function startBare(t: Test) {
  const server = await startServer(t);
  const transport = createBareTransport(server.core, { log: { debug: () => undefined, info: () => undefined, error: () => undefined } });
  t.teardown(() => transport.close());
  const url = await transport.listen(0, '127.0.0.1');
  const { port } = transport.server.address() as AddressInfo;
  const bearer = { authorization: `Bearer ${server.token}` };
  const call = async (method: string, path: string, headers: Record<string, string> = bearer) => {
    const sent = request({ host: '127.0.0.1', port, method, path, agent: false, headers });
    sent.end();
    return readAnswer(await responseOf(sent));
  };
  return { server, url, call, bearer };
}

t.test('the paths have no prefix, and the official client needs only the address and the token', async (t) => {
  const { url, bearer } = await startBare(t);
  const client = new Ollama({ host: url, headers: bearer });
  t.match(await client.chat({ model: 'm:1b', messages: [{ role: 'user', content: 'hi' }] }), { model: 'm:1b', message: { content: 'Hello, you' }, done: true });
  t.match((await client.list()).models, [{ name: 'ollama/m:1b' }, { name: 'ollama/n:7b' }]);
});

t.test('a probe gets its text without a token, and everything else needs one', async (t) => {
  const { call } = await startBare(t);
  t.match(await call('GET', '/', {}), { status: 200, text: 'Ollama is running', headers: { 'content-type': /^text\/plain/ } });
  t.match(await call('HEAD', '/', {}), { status: 200, text: '' });
  t.match(await call('GET', '/api/tags', {}), { status: 401, json: { error: /Bearer/ } });
  t.match(await call('GET', '/api/tags', { authorization: 'Bearer wrong' }), { status: 401 });
});

t.test('a key of an application is taken', async (t) => {
  const { server, call } = await startBare(t);
  const { key } = (await server.call('POST', '/api/keys', { body: { name: 'app' } })).json as { key: string };
  t.match(await call('GET', '/api/tags', { authorization: `Bearer ${key}` }), { status: 200 });
});

t.test('nothing else is served', async (t) => {
  const { call } = await startBare(t);
  for (const path of ['/v1/chat', '/v1/models', '/v1/health', '/openapi.json', '/ollama/api/tags'])
    t.match(await call('GET', path), { status: 404, json: { error: `There is no route ${path}.` } });
  for (const path of ['/api/blocks', '/api/keys', '/api/health', '/api/ws'])
    t.match(await call('GET', path), { status: 404, json: { error: /^There is no \/api\// } }, path);
});

t.test('pages of other sites and other host names are refused', async (t) => {
  const { call, bearer } = await startBare(t);
  for (const path of ['/', '/api/tags']) {
    t.match(await call('GET', path, { ...bearer, origin: 'https://evil.example' }), { status: 403 });
    t.match(await call('GET', path, { ...bearer, host: 'evil.example' }), { status: 403 });
  }
});
