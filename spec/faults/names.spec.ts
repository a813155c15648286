// Names that every object inherits, at each place where a client chooses a name.
import t from 'tap';
import { CHAT } from '../support/server.ts';
import { startWsServer, WsClient } from '../support/ws.ts';

const NAMES = ['constructor', '__proto__', 'prototype', 'toString', 'hasOwnProperty', 'valueOf'];

/** As text, because a literal would set the prototype. */
const object = (name: string, value: unknown): string => `{${JSON.stringify(name)}:${JSON.stringify(value)}}`;

t.test('a name that every object inherits is unknown wherever a client may choose a name', async (t) => {
  const server = await startWsServer(t);
  await server.call('POST', '/api/blocks', { body: { name: 'ada' } });
  for (const name of NAMES) {
    const refused: [method: string, path: string, statuses: readonly number[], body?: unknown][] = [
      ['DELETE', `/api/models/${name}`, [404]],
      ['GET', `/api/models/${name}`, [404]],
      ['DELETE', `/api/keys/${name}`, [400, 404]],
      ['GET', `/v1/adapters/${name}/models`, [404]],
      ['POST', `/v1/adapters/${name}/verify`, [404], {}],
      ['GET', `/v1/models/${name}`, [404]],
      ['POST', '/v1/chat', [400], { ...CHAT, adapter: name }],
      ['POST', '/v1/chat', [400], JSON.stringify({ ...CHAT, config: {} }).replace('"config":{}', `"config":${object(name, 'x')}`)],
      ['POST', '/v1/chat/completions', [404], { model: name, messages: [{ role: 'user', content: 'hi' }] }],
      ['POST', '/v1/messages', [404], { model: name, max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] }],
      ['GET', `/api/adapters?adapter=${name}`, [400, 404]],
      ['GET', `/api/costs?by=${name}`, [400]],
      ['PUT', `/api/credentials/${name}`, [404], { apiKey: 'x' }],
      ['DELETE', `/api/credentials/${name}`, [404]],
      ['PUT', '/api/credentials/ollama?unchecked=true', [400], object(name, 'x')],
      ['PUT', '/api/models', [400], { defaultProvider: name }],
      ['GET', `/api/blocks/${name}`, [400, 404]],
      ['POST', `/api/blocks/${name}/start`, [400, 404]],
      ['GET', `/api/blocks/ada/chat/${name}`, [404]],
      ['DELETE', `/api/blocks/ada/memory/facts/${name}`, [404]],
      ['POST', `/api/archive/${name}/restore`, [400, 404]],
      ['DELETE', `/api/archive/${name}`, [400, 404]],
      ['DELETE', `/api/gateway/requests/${name}`, [404]],
      ['POST', `/ollama/api/${name}`, [404, 501], {}],
    ];
    for (const [method, path, statuses, body] of refused) {
      const { status, text } = await server.call(method, path, body === undefined ? {} : { body });
      t.ok(statuses.includes(status), `${method} ${path} ${typeof body === 'string' ? body : ''}: ${status} ${text}`);
    }
  }
  t.match((await server.call('GET', '/api/models')).json, { aliases: [] });
});

t.test('as the name of an alias it is a name like any other', async (t) => {
  const server = await startWsServer(t);
  for (const name of NAMES) {
    t.equal((await server.call('PUT', `/api/models/${name}`, { body: { targets: ['ollama/llama3'] } })).status, 200, name);
    t.match(await server.call('GET', `/api/models/${name}`), { status: 200, json: { by: 'alias', targets: [{ model: 'llama3' }] } });
  }
  t.equal(((await server.call('GET', '/api/models')).json['aliases'] as unknown[]).length, NAMES.length);
  for (const name of NAMES) for (const status of [200, 404]) t.equal((await server.call('DELETE', `/api/models/${name}`)).status, status, name);
});

t.test('as a topic or a message of a socket it is refused, and the socket lives', async (t) => {
  const server = await startWsServer(t);
  const client = await WsClient.connect(t, server);
  for (const name of NAMES) for (const message of [{ type: 'subscribe', block: name }, { type: name }]) client.send(message);
  const frames = await client.received(2 * NAMES.length);
  t.equal(client.closed, undefined);
  for (const frame of frames) t.match(frame, { type: 'error' });
  t.notMatch(JSON.stringify(frames), 'INTERNAL_ERROR');
});
