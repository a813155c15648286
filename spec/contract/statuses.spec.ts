import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { createBlock } from '../support/block-calls.ts';
import { type CallOptions, CHAT, until } from '../support/server.ts';
import { sample } from '../support/sweep.ts';
import { startWsServer, type WsServer } from '../support/ws.ts';
import { faults, pointerTo, published } from './document.ts';

const LARGE = Buffer.alloc(1024 * 1024 + 1);
/** What clients send, right for some routes and wrong for the others. */
const REQUESTS: readonly CallOptions[] = [
  { headers: { authorization: 'Bearer wrong' } },
  { headers: { host: 'evil.example' } },
  { body: [] },
  { body: '{' },
  { body: { name: 'a' } },
  { body: { message: 'hi' } },
  { body: { text: 'x' } },
  { body: { reason: 'x' } },
  { body: CHAT },
  { body: { ...CHAT, stream: true } },
  { body: { ...CHAT, config: { baseURL: 'http://127.0.0.1:1' } } },
  { body: LARGE },
  { body: 'x', headers: { 'content-type': 'text/plain' } },
  { body: 'x', headers: { 'content-type': 'application/gzip' } },
  { body: '{}', headers: { 'content-encoding': 'gzip' } },
  { body: {}, headers: { 'if-match': '"99"' } },
  { body: {}, headers: { 'if-match': 'x' } },
  { body: { message: 'hi' }, headers: { 'x-blockhouse-channel': 'moon' } },
];
/** Nobody reads the body of a GET. */
const BODIES_OF_GET: readonly unknown[] = ['{', LARGE];
const QUERIES = [
  '?name=%20&hard=x&by=moon&limit=x&adapter=nobody&wait=x',
  '?limit=0&block=nobody&adapter=',
  '?before=x&since=x',
  '?limit=1&limit=2&name=a&name=b',
];
/** `npm test` takes each fifth of the requests of a route, other ones for the next route, and these of all. */
const STEP = 5;
const ALWAYS: readonly CallOptions[] = [{}, { token: false }, { body: {} }];
/** A server that has had many wrong tokens refuses all, and one that has halted does little. */
const PATHS_OF_A_SERVER = 7;
/** Each gets an empty request and one with a body. The first gets all. */
const NAMES = ['a', 'ollama', 'damaged', 'nobody', '..', '%00', 'x'.repeat(300)];

/** Makes what earlier requests have removed, and damages one block. */
async function prepare(server: WsServer): Promise<void> {
  await server.call('POST', '/api/blocks', { body: { name: 'a' } });
  if ((await server.call('GET', '/api/blocks/damaged/config')).status === 409) return;
  await createBlock(server, 'damaged');
  const file = join(server.workspace, 'blocks/damaged/config.json');
  writeFileSync(file, readFileSync(file, 'utf8').slice(0, 20));
  await until(async () => (await server.call('GET', '/api/blocks/damaged/config')).status === 409, 'the damage to be seen');
}

/** What the document says wrongly about the answer to one request; undefined when it is right. */
async function judge(server: WsServer, method: string, path: string, url: string, options: CallOptions): Promise<string | undefined> {
  const { status, text, headers } = await server.call(method.toUpperCase(), url, options);
  const title = `${method} ${url.slice(0, 60)} ${status} ${text.slice(0, 120)}`;
  const type = String(headers['content-type']).split(';')[0] ?? '';
  const content = published.paths[path]?.[method]?.responses[status]?.content;
  if (content?.[type] === undefined) return `${title}: the document has no such status, or not as ${type}`;
  if (type !== 'application/json') return undefined;
  const found = faults(pointerTo('paths', path, method, 'responses', String(status), 'content', type, 'schema'), JSON.parse(text));
  return found.length === 0 ? undefined : `${title}: ${JSON.stringify(found).slice(0, 200)}`;
}

const ROUTES = Object.entries(published.paths);

/** All methods of a path. `turn`: its place among the paths. */
async function judgePath(t: Test, server: WsServer, turn: number): Promise<void> {
  const [path, methods] = ROUTES[turn] ?? ['', {}];
  for (const method of Object.keys(methods)) {
    await prepare(server);
    const urlOf = (name: string): string => path.replace(/\{\w+\}/g, name);
    const [first = '', ...others] = path.includes('{') ? NAMES : [''];
    const requests: [url: string, options: CallOptions][] = [
      ...[...ALWAYS, ...sample(REQUESTS, STEP, turn)]
        .filter(({ body }) => method !== 'get' || body === undefined || BODIES_OF_GET.includes(body))
        .map((options): [string, CallOptions] => [urlOf(first), options]),
      ...sample(QUERIES, STEP, turn).map((query): [string, CallOptions] => [urlOf(first) + query, {}]),
      ...sample(others, STEP, turn).flatMap((name): [string, CallOptions][] => [
        [urlOf(name), {}],
        ...(method === 'get' ? [] : [[urlOf(name), { body: { message: 'hi' } }] satisfies [string, CallOptions]]),
      ]),
    ];
    for (const [url, options] of requests) t.equal(await judge(server, method, path, url, options), undefined);
  }
}

const titleOf = (path: string): string => `${path} answers only with statuses and bodies that the document has`;
const onlyReads = (methods: object): boolean => Object.keys(methods).every((method) => method === 'get');

t.test('what only reads, at one server', async (t) => {
  const server = await startWsServer(t);
  for (const [turn, [path, methods]] of ROUTES.entries()) if (onlyReads(methods)) await t.test(titleOf(path), (t) => judgePath(t, server, turn));
});

const writing = [...ROUTES.entries()].filter(([, [, methods]]) => !onlyReads(methods));
for (let from = 0; from < writing.length; from += PATHS_OF_A_SERVER) {
  const some = writing.slice(from, from + PATHS_OF_A_SERVER);
  t.test(`what writes, ${some.length} paths at one server`, async (t) => {
    const server = await startWsServer(t);
    for (const [turn, [path]] of some) await t.test(titleOf(path), (t) => judgePath(t, server, turn));
  });
}
