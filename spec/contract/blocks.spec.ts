import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { ask, createBlock } from '../support/block-calls.ts';
import { type Answer, framesOf, responseOf, startServer, type TestServer, until } from '../support/server.ts';
import { faults, pointerTo, published } from './document.ts';

type Step = readonly [
  method: string,
  path: string,
  status: number,
  more?: { readonly params?: Record<string, string>; readonly query?: string; readonly body?: unknown; readonly headers?: Record<string, string> },
];

/** Makes the call and holds its answer against the document; answers it. */
async function judged(t: Test, server: TestServer, [method, path, status, more = {}]: Step): Promise<Answer> {
  const { params = { name: 'a' }, query = '', body, headers = {} } = more;
  const url = path.replace(/\{(\w+)\}/g, (_whole, key: string) => params[key] ?? '');
  const answer = await server.call(method, url + query, { body, headers });
  const title = `${method} ${url}${query} ${status}`;
  t.equal(answer.status, status, title);
  t.strictSame(
    faults(pointerTo('paths', path, method.toLowerCase(), 'responses', String(answer.status), 'content', 'application/json', 'schema'), answer.json),
    [],
    title,
  );
  return answer;
}

t.test('real answers of blocks are what the document says', async (t) => {
  const server = await startServer(t);
  const at = (rest: string): string => `/api/blocks/{name}${rest}`;
  const judge = (...step: Step): Promise<Answer> => judged(t, server, step);
  await judge('GET', '/api/blocks', 200);
  await judge('POST', '/api/blocks', 200, {
    body: { name: 'a', config: { adapter: { provider: 'ollama', model: 'm' }, queue: { cap: 1 }, memory: { keepMessages: 0 }, mine: 1 } },
  });
  await judge('POST', '/api/blocks', 409, { body: { name: 'a' } });
  await judge('POST', '/api/blocks', 400, { body: { name: 'A' } });
  await judge('POST', '/api/blocks', 413, { body: Buffer.alloc(1024 * 1024 + 1) });
  await judge('POST', '/api/blocks', 415, { body: 'x', headers: { 'content-type': 'text/plain' } });
  await judge('POST', '/api/blocks', 401, { headers: { authorization: 'Bearer wrong' } });
  for (const rest of ['', '/why', '/config', '/logs', '/chat']) {
    await judge('GET', at(rest), 200);
    await judge('GET', at(rest), 404, { params: { name: 'nobody' } });
  }

  const message = { message: 'hi', clientId: 'mine' };
  const { id } = (await judge('POST', at('/chat'), 200, { body: message })).json as { id: string };
  await judge('POST', at('/chat'), 202, { query: '?wait=60', body: message });
  await judge('POST', at('/chat'), 400, { query: '?wait=soon', body: message });
  await judge('GET', at('/chat/{id}'), 202, { params: { name: 'a', id }, query: '?wait=60' });
  await judge('GET', at('/chat/{id}'), 200, { params: { name: 'a', id } });
  await judge('POST', at('/chat'), 429, { body: { message: 'one too many' } });
  await judge('POST', at('/chat'), 400, { body: {} });
  await judge('POST', at('/chat/{id}/cancel'), 200, { params: { name: 'a', id } });
  await judge('POST', at('/chat/{id}/cancel'), 409, { params: { name: 'a', id } });
  await judge('POST', at('/chat/{id}/retry'), 200, { params: { name: 'a', id } });
  await judge('POST', at('/chat/{id}/retry'), 404, { params: { name: 'a', id: 'nobody' } });

  await judge('GET', '/api/search', 200, { query: '?q=hi&limit=5&block=a' });
  await judge('GET', '/api/search', 400);
  await judge('GET', '/api/search', 400, { query: '?q=hi&limit=0' });
  await judge('GET', '/api/search', 404, { query: '?q=hi&block=nobody' });

  await judge('POST', at('/start'), 200);
  await until(async () => (await server.call('GET', '/api/blocks/a/chat')).text.includes('Hello, you'), 'the answer');
  await judge('POST', at('/chat'), 200, { query: '?wait=60', body: message });
  await judge('GET', at('/chat/{id}/versions'), 200, { params: { name: 'a', id } });
  await judge('GET', at('/chat/{id}/versions'), 404, { params: { name: 'a', id: 'nobody' } });
  await judge('POST', at('/chat/{id}/again'), 404, { params: { name: 'a', id: 'nobody' }, body: {} });
  await judge('POST', at('/chat/{id}/again'), 400, { params: { name: 'a', id }, body: { provider: 'x' } });
  await judge('POST', at('/chat/{id}/again'), 200, { params: { name: 'a', id }, body: { message: 'again' }, query: '?wait=60' });
  await judge('POST', at('/chat/{id}/again'), 409, { params: { name: 'a', id }, body: {} });
  await judge('GET', at('/chat/{id}'), 200, { params: { name: 'a', id }, query: '?wait=60' });
  await ask(server, 'a', 'again');
  for (const rest of ['', '/why', '/config', '/logs', '/chat']) await judge('GET', at(rest), 200);
  await judge('GET', '/api/blocks', 200);
  await judge('POST', at('/memory/compact'), 200);
  await judge('POST', at('/memory/undo'), 200);
  await judge('POST', at('/memory/undo'), 409);
  await judge('POST', at('/restart'), 200);
  await judge('POST', at('/stop'), 200);

  const { fact } = (await judge('POST', at('/memory/facts'), 200, { body: { text: 'x' } })).json as { fact: { id: string } };
  await judge('GET', at(''), 200);
  await judge('DELETE', at('/memory/facts/{id}'), 200, { params: { name: 'a', id: fact.id } });
  await judge('DELETE', at('/memory/facts/{id}'), 404, { params: { name: 'a', id: fact.id } });
  const changed = await judge('PUT', at('/config'), 200, { body: { description: 'x' } });
  t.type(changed.headers.etag, 'string');
  await judge('PUT', at('/config'), 412, { body: { description: 'y' }, headers: { 'if-match': '"0"' } });
  await judge('PUT', at('/config'), 400, { body: { description: 1 } });
  await judge('POST', at('/reset'), 200, { query: '?hard=true' });
  await judge('POST', at('/reset'), 400, { query: '?hard=maybe' });
  await judge('PUT', at('/config'), 200, { body: { adapter: null } });
  await judge('POST', at('/start'), 400);
  await judge('POST', at('/restart'), 400);
});

t.test('the events of a reply are what the document says, also of one from before the wait', async (t) => {
  const server = await startServer(t);
  await createBlock(server, 'a');
  await server.call('POST', '/api/blocks/a/start');
  const { id } = await ask(server, 'a', 'hi');
  const options = { headers: { accept: 'text/event-stream' } };
  const streams = [
    ['/api/blocks/{name}/chat', 'post', await server.call('POST', '/api/blocks/a/chat?wait=60', { ...options, body: { message: 'again' } })],
    ['/api/blocks/{name}/chat/{id}', 'get', await server.call('GET', `/api/blocks/a/chat/${id}?wait=60`, options)],
  ] as const;
  for (const [path, method, { text }] of streams) {
    const schema = pointerTo('paths', path, method, 'responses', '200', 'content', 'text/event-stream', 'schema');
    const frames = framesOf(text);
    t.match(frames.map(({ event }) => event).join(), /^start(,content)+,done$/, method);
    for (const frame of frames) t.strictSame(faults(schema, frame), [], `${method} ${frame.event}`);
  }
});

t.test('real answers of the archive and the workspace are what the document says', async (t) => {
  const server = await startServer(t);
  const judge = (...step: Step): Promise<Answer> => judged(t, server, step);
  await createBlock(server, 'a');
  const response = await responseOf(server.open('GET', '/api/blocks/a/export'));
  t.strictSame(Object.keys(published.paths['/api/blocks/{name}/export']?.['get']?.responses['200']?.content ?? {}), [response.headers['content-type']]);
  const body = Buffer.concat(await response.toArray());
  const headers = { 'content-type': 'application/gzip' };
  await judge('POST', '/api/import', 200, { query: '?name=b', body, headers });
  await judge('POST', '/api/import', 409, { body, headers });
  await judge('POST', '/api/import', 400, { query: '?name=c', body: 'no gzip', headers });
  await judge('POST', '/api/import', 415, { body });

  await judge('GET', '/api/archive', 200);
  const { archiveName } = (await judge('DELETE', '/api/blocks/{name}', 200)).json as { archiveName: string };
  await judge('DELETE', '/api/blocks/{name}', 404);
  await judge('GET', '/api/archive', 200);
  await judge('POST', '/api/archive/{name}/restore', 409, { body: { name: 'b' } });
  await judge('POST', '/api/archive/{name}/restore', 400, { body: { name: '..' } });
  await judge('POST', '/api/archive/{name}/restore', 200, { params: { name: archiveName } });
  await judge('POST', '/api/archive/{name}/restore', 404, { params: { name: archiveName } });
  await server.call('DELETE', '/api/blocks/a');
  await judge('DELETE', '/api/archive/{name}', 200);
  await judge('DELETE', '/api/archive/{name}', 404);

  await server.call('POST', '/api/blocks/b/start');
  await ask(server, 'b', 'hi');
  for (const query of ['', '?by=model', '?by=day', '?block=b']) await judge('GET', '/api/costs', 200, { query });
  await judge('GET', '/api/costs', 400, { query: '?by=moon' });
  await judge('GET', '/api/health', 200);
  await judge('GET', '/api/doctor', 200);
  await judge('GET', '/api/adapters', 200);
  await judge('GET', '/api/adapters', 404, { query: '?adapter=nobody' });
  await judge('GET', '/api/settings', 200);
  await judge('POST', '/api/blocks', 200, { body: { name: 'old' } });
  await judge('POST', '/api/blocks/{name}/rename', 200, { params: { name: 'old' }, body: { name: 'new' } });
  await judge('POST', '/api/blocks/{name}/rename', 409, { params: { name: 'new' }, body: { name: 'new' } });
  await judge('POST', '/api/blocks/{name}/rename', 404, { params: { name: 'old' }, body: { name: 'other' } });
  await judge('POST', '/api/blocks/{name}/rename', 400, { params: { name: 'new' }, body: {} });
  await judge('DELETE', '/api/blocks/{name}', 200, { params: { name: 'new' } });
  await judge('GET', '/api/halt', 200);
  await judge('POST', '/api/halt', 200, { body: { reason: 'x' } });
  await judge('POST', '/api/halt', 400, { body: [] });
  await judge('DELETE', '/api/halt', 200);
});

t.test('a damaged block is told as the document says', async (t) => {
  const server = await startServer(t);
  await createBlock(server, 'a');
  const file = join(server.workspace, 'blocks/a/config.json');
  writeFileSync(file, readFileSync(file, 'utf8').slice(0, 20));
  await until(async () => (await server.call('GET', '/api/blocks/a/config')).status === 409, 'the damage to be seen');
  await judged(t, server, ['GET', '/api/blocks', 200]);
  await judged(t, server, ['GET', '/api/blocks/{name}/config', 409]);
  await judged(t, server, ['GET', '/api/doctor', 200]);
});

t.test('what any route may refuse is what the document says: a foreign Host, and all while the server drains', async (t) => {
  const server = await startServer(t);
  await createBlock(server, 'a');
  const routes: [method: string, path: string][] = [
    ['GET', '/v1/health'],
    ['GET', '/api/health'],
    ['GET', '/api/auth/status'],
    ['GET', '/v1/adapters'],
    ['GET', '/api/blocks/{name}'],
    ['DELETE', '/api/archive/{name}'],
  ];
  for (const [method, path] of routes) await judged(t, server, [method, path, 403, { headers: { host: 'evil.example' } }]);
  server.transport.drain();
  for (const [method, path] of [...routes, ['POST', '/v1/adapters/{name}/verify'] as const]) {
    const documented = path.replace('/adapters/{name}', '/adapters/{provider}');
    const answer = await server.call(method, path.replace('{name}', 'a'));
    t.equal(answer.status, 503);
    t.strictSame(faults(pointerTo('paths', documented, method.toLowerCase(), 'responses', '503', 'content', 'application/json', 'schema'), answer.json), []);
  }
});
