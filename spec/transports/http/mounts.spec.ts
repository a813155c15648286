import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import t from 'tap';
import { BlockhouseError } from '../../../core/index.ts';
import { checkMounts, findMount, type Mount } from '../../../transports/http/mounts.ts';
import { someTurns } from '../../support/fake-timers.ts';
import { startServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';

const handler: Mount['handler'] = (_req, res) => void res.end('mounted');
const mount = (prefix: string, open?: string[]): Mount => ({ prefix, handler, ...(open !== undefined && { public: open }) });

t.test('a prefix that is malformed or shadows the server is refused', async (t) => {
  const bad = ['', '/', 'app', '/app/', '/a//b', '/a b', '/..', '/a/../v1', '/./v1', '/app/.', '/%61pi', '/é', '/a?b', '/a#b', '/:id'];
  for (const prefix of bad) t.throws(() => checkMounts([mount(prefix)]), /must look like/, JSON.stringify(prefix));
  for (const prefix of ['/api', '/v1', '/openapi.json', '/asyncapi.json', '/api/x', '/v1/chat', '/v1/x/y', '/ollama', '/ollama/x'])
    t.throws(() => checkMounts([mount(prefix)]), /shadow/, prefix);
  t.throws(() => checkMounts([mount('/app'), mount('/app')]), /used twice/);
  t.doesNotThrow(() => checkMounts([mount('/app'), mount('/app/sub'), mount('/v2'), mount('/apis'), mount('/v1-x'), mount('/.well-known/x'), mount('/...')]));
});

t.test('a server with a bad mount is not built', async (t) => {
  await t.rejects(startServer(t, { http: { mounts: [mount('/v1/chat')] } }), /shadow/);
});

t.test('the longest prefix wins, and a prefix ends at a slash', async (t) => {
  const inner: Mount = { prefix: '/app/admin', handler: () => undefined };
  const outer: Mount = { prefix: '/app', handler: () => undefined };
  const mounts = [outer, inner];
  t.equal(findMount(mounts, '/app/admin/x')?.handler, inner.handler);
  t.equal(findMount(mounts, '/app/admin')?.handler, inner.handler);
  t.equal(findMount(mounts, '/app/administrator')?.handler, outer.handler);
  t.equal(findMount(mounts, '/app')?.handler, outer.handler);
  t.equal(findMount(mounts, '/application'), undefined);
  t.equal(findMount(mounts, '/'), undefined);
  t.strictSame(mounts, [outer, inner], 'the list is left as it was');
});

t.test('a path is public only as it is written', async (t) => {
  const mounts = [mount('/app', ['/', '/open', '/deep/open'])];
  for (const path of ['/app', '/app/', '/app/open', '/app/deep/open']) t.equal(findMount(mounts, path)?.public, true, path);
  const closed = [
    '/app/secret',
    '/app/open/',
    '/app/open/..',
    '/app/open/../secret',
    '/app/./open',
    '/app//open',
    '/app/%6fpen',
    '/app/open%2f..%2fsecret',
    '/app/OPEN',
    '/app/open;x',
    '/app/open%00',
  ];
  for (const path of closed) t.equal(findMount(mounts, path)?.public, false, path);
  t.equal(findMount([mount('/app')], '/app')?.public, false, 'nothing is public unless it is named');
});

t.test('a mounted handler gets requests below its prefix: with the token, or without it where public', async (t) => {
  const seen: string[] = [];
  const record = (req: IncomingMessage, res: ServerResponse): void => {
    seen.push(`${req.method} ${req.url}`);
    res.end('mounted');
  };
  const server = await startServer(t, { http: { mounts: [{ prefix: '/app', handler: record, public: ['/open'] }] } });
  t.match(await server.call('GET', '/app/x?q=1'), { status: 200, text: 'mounted' });
  t.match(await server.call('PATCH', '/app'), { status: 200 });
  t.match(await server.call('GET', '/app/open', { token: false }), { status: 200 });
  t.match(await server.call('GET', '/app/open?q=1', { token: false }), { status: 200 });
  t.strictSame(seen.splice(0), ['GET /app/x?q=1', 'PATCH /app', 'GET /app/open', 'GET /app/open?q=1']);
  for (const path of ['/app', '/app/secret', '/app/open/../secret', '/app/%6fpen', '/app/open%2f..%2fsecret', '/app/open/', '/app/secret?/open'])
    t.match(await server.call('GET', path, { token: false }), { status: 401, json: { code: 'UNAUTHORIZED' } }, path);
  t.match(await server.call('GET', '/app/open', { token: false, headers: { host: 'evil.example' } }), { status: 403 }, 'the Host counts for public paths too');
  t.match(await server.call('GET', '/application'), { status: 404 });
  t.strictSame(seen, [], 'a refused request never reaches the handler');
});

t.test('what a mounted handler throws becomes an INTERNAL_ERROR without its text; the log has the cause', async (t) => {
  const failures: [title: string, handler: Mount['handler']][] = [
    [
      'thrown',
      () => {
        throw new Error('secret-7');
      },
    ],
    ['rejected', () => Promise.reject(new Error('secret-7'))],
  ];
  for (const [title, failing] of failures) {
    const server = await startServer(t, { http: { mounts: [{ prefix: '/app', handler: failing }] } });
    const answer = await server.call('GET', '/app', { headers: { 'x-request-id': 'r1' } });
    t.match(answer, { status: 500, json: { status: 500, code: 'INTERNAL_ERROR', requestId: 'r1' } }, title);
    t.notMatch(answer.text, 'secret-7');
    const line = server.log.find(({ level }) => level === 'error');
    t.match(line, { fields: { requestId: 'r1', status: 500, err: { message: 'secret-7' } } }, 'the cause is logged');
  }
});

t.test('a fault of the network or the disk that a mounted handler meets is its own, and no fault of our storage', async (t) => {
  for (const [syscall, code] of [
    ['connect', 'ETIMEDOUT'],
    ['read', 'ETIMEDOUT'],
    ['open', 'EMFILE'],
  ] as const) {
    const failing: Mount['handler'] = () => Promise.reject(Object.assign(new Error(`${syscall} ${code}`), { code, syscall }));
    const server = await startServer(t, { http: { mounts: [{ prefix: '/app', handler: failing }] } });
    t.match(await server.call('GET', '/app'), { status: 500, json: { code: 'INTERNAL_ERROR' } }, `${syscall} ${code}`);
    t.match(
      server.log.find(({ level }) => level === 'error'),
      { fields: { err: { code } } },
    );
  }
});

t.test('a mounted handler may throw an error of ours, and it is answered as it is', async (t) => {
  const failing: Mount['handler'] = () => Promise.reject(new BlockhouseError('BLOCK_NOT_FOUND', 'There is no block x.'));
  const server = await startServer(t, { http: { mounts: [{ prefix: '/app', handler: failing }] } });
  t.match(await server.call('GET', '/app'), { status: 404, json: { code: 'BLOCK_NOT_FOUND' } });
});

t.test('without a log, the cause of what a mounted handler throws is on stderr', async (t) => {
  const written = t.capture(process.stderr, 'write', () => true);
  const failing: Mount['handler'] = () => Promise.reject(new Error('outer', { cause: new Error('secret-7') }));
  const server = await startServer(t, { http: { mounts: [{ prefix: '/app', handler: failing }], log: undefined } });
  await server.call('GET', '/app', { headers: { 'x-request-id': 'r1' } });
  await server.call('GET', '/nowhere');
  const text = written()
    .map(({ args }) => String(args[0]))
    .join('');
  t.match(text, /request failed.*r1[\s\S]*Error: outer\n\s+at [\s\S]*Error: secret-7/);
  t.notMatch(text, 'nowhere', 'a refusal is no news to a program that asked for no log');
});

t.test('a mounted handler that fails in the middle of its answer breaks the connection, not the process', async (t) => {
  const half: Mount['handler'] = async (_req, res) => {
    res.writeHead(200);
    res.write('half');
    await new Promise((resolve) => setImmediate(resolve));
    throw new Error('secret-7');
  };
  const server = await startServer(t, { http: { mounts: [{ prefix: '/app', handler: half }] } });
  for (const body of [undefined, 'x'.repeat(3_000_000)]) {
    await t.rejects(server.call('POST', '/app', { body }), 'half an answer does not look like a whole one');
  }
  const lines = server.log.filter(({ level }) => level === 'error');
  t.match(lines, [{ fields: { err: { message: 'secret-7' } } }, { fields: { err: { message: 'secret-7' } } }], 'the log has the cause');
  t.match(await server.call('GET', '/v1/health'), { status: 200 });
});

t.test('a stream that fails inside `pipeline` breaks the connection, and the log has the cause', async (t) => {
  async function* source(pieces: readonly string[]): AsyncGenerator<string> {
    yield* pieces;
    await new Promise((resolve) => setTimeout(resolve, 20));
    throw new Error('secret-7');
  }
  for (const pieces of [[], ['half']]) {
    const title = pieces.length === 0 ? 'at once' : 'after the headers';
    const server = await startServer(t, { http: { mounts: [{ prefix: '/app', handler: (_req, res) => pipeline(source(pieces), res) }] } });
    await t.rejects(server.call('GET', '/app'), title);
    await until('the failure is logged', () => server.log.some(({ level }) => level === 'error'));
    t.match(
      server.log.find(({ level }) => level === 'error'),
      { fields: { err: { message: 'secret-7' } }, message: 'request failed' },
      title,
    );
  }
});

t.test('a mount that never ends its answer keeps its connection, and `close` waits until the client leaves', async (t) => {
  const server = await startServer(t, { http: { mounts: [{ prefix: '/app', handler: (_req, res) => void res.write('…') }] } });
  const request = server.open('GET', '/app');
  request.on('error', () => undefined);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.on('error', () => undefined);
  let isClosed = false;
  const closed = server.transport.close().then(() => {
    isClosed = true;
  });
  await t.rejects(server.call('GET', '/v1/health'), { code: 'ECONNREFUSED' }, 'it takes no connections any more');
  await someTurns();
  t.equal(isClosed, false);
  request.destroy();
  await closed;
});

t.test('an answer of a mount carries the request id and the protecting headers', async (t) => {
  const server = await startServer(t, { http: { mounts: [{ prefix: '/app', handler: (_req, res) => void res.end('hi') }] } });
  const { headers } = await server.call('GET', '/app', { headers: { 'x-request-id': 'mine-1' } });
  t.match(headers, { 'x-request-id': 'mine-1', 'x-content-type-options': 'nosniff' });
});

t.test('a mount replaces the headers that forbid a page everything', async (t) => {
  const policy = "default-src 'none'; img-src 'self'";
  const page: Mount['handler'] = (_req, res) => {
    res.setHeader('content-type', 'text/html; charset=utf-8');
    res.writeHead(200, { 'content-security-policy': policy }).end('<p>hi');
  };
  const server = await startServer(t, { http: { mounts: [{ prefix: '/app', handler: page }] } });
  const { headers } = await server.call('GET', '/app');
  t.match(headers, { 'content-security-policy': policy, 'content-type': 'text/html; charset=utf-8', 'x-content-type-options': 'nosniff' });
});
