import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createBlock } from '../support/block-calls.ts';
import { type CallOptions, CHAT, until } from '../support/server.ts';
import { startWsServer } from '../support/ws.ts';
import { faults, pointerTo, published } from './document.ts';

const GZIP = { 'content-type': 'application/gzip' };
/** What clients send to any route, right or wrong. */
const REQUESTS: readonly CallOptions[] = [
  {},
  { token: false },
  { headers: { authorization: 'Bearer wrong' } },
  { headers: { host: 'evil.example' } },
  { body: {} },
  { body: [] },
  { body: '{' },
  { body: { name: 'a' } },
  { body: { message: 'hi' } },
  { body: { text: 'x' } },
  { body: { reason: 'x' } },
  { body: CHAT },
  { body: { ...CHAT, stream: true } },
  { body: { ...CHAT, model: 'm', config: { baseURL: 'http://127.0.0.1:1' } } },
  { body: Buffer.alloc(1024 * 1024 + 1) },
  { body: 'x', headers: { 'content-type': 'text/plain' } },
  { body: 'x', headers: GZIP },
  { body: '{}', headers: { 'content-encoding': 'gzip' } },
  { headers: { 'if-match': '"99"' }, body: {} },
  { headers: { 'if-match': 'x' }, body: {} },
  { headers: { 'x-blockhouse-channel': 'moon' }, body: { message: 'hi' } },
];
const QUERIES = [
  '',
  '?name=%20&hard=x&by=moon&limit=x&adapter=nobody&wait=x',
  '?limit=0&block=nobody&adapter=',
  '?before=x&since=x',
  '?limit=1&limit=2&name=a&name=b',
];
const NAMES = ['a', 'running', 'damaged', 'nobody', '..', '%00', 'ollama', 'x'.repeat(300)];

t.test('no route answers with a status or a body that the document does not have', async (t) => {
  const server = await startWsServer(t);
  const restore = async (): Promise<void> => {
    for (const name of ['a', 'running', 'damaged']) await server.call('POST', '/api/blocks', { body: { name } });
    const file = join(server.workspace, 'blocks/damaged/config.json');
    try {
      writeFileSync(file, readFileSync(file, 'utf8').slice(0, 20));
    } catch {}
  };
  await createBlock(server, 'running');
  await server.call('POST', '/api/blocks/running/start');
  await restore();
  await until(async () => (await server.call('GET', '/api/blocks/damaged/config')).status === 409, 'the damage to be seen');
  const seen = new Map<string, Set<number>>();
  const problems = new Set<string>();
  for (const [path, methods] of Object.entries(published.paths))
    for (const [method, { responses }] of Object.entries(methods)) {
      const key = `${method} ${path}`;
      seen.set(key, new Set());
      for (const name of path.includes('{') ? NAMES : [''])
        for (const query of QUERIES)
          for (const options of REQUESTS) {
            if (query !== '' && Object.keys(options).length > 0) continue;
            const url = path.replace(/\{\w+\}/g, name) + query;
            const { status, text, headers } = await server.call(method.toUpperCase(), url, options);
            seen.get(key)?.add(status);
            const title = `${key} ${status}`;
            if (!(status in responses)) problems.add(`${title} ${url.slice(0, 60)} ${JSON.stringify(options).slice(0, 80)} ${text.slice(0, 120)}`);
            else if (headers['content-type']?.startsWith('application/json')) {
              const found = faults(pointerTo('paths', path, method, 'responses', String(status), 'content', 'application/json', 'schema'), JSON.parse(text));
              if (found.length > 0) problems.add(`${title} ${JSON.stringify(found).slice(0, 200)}`);
            } else if (!(String(headers['content-type']).split(';')[0] ?? '' in (responses[String(status)]?.content ?? {})))
              problems.add(`${title} ${headers['content-type']}`);
          }
      await restore();
    }
  console.log([...problems].join('\n'));
  for (const [path, methods] of Object.entries(published.paths))
    for (const [method, { responses }] of Object.entries(methods))
      console.log(
        method,
        path,
        'never',
        Object.keys(responses)
          .filter((status) => !seen.get(`${method} ${path}`)?.has(Number(status)))
          .join(),
      );
});
