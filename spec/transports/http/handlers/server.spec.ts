import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { asyncApiDocument } from '../../../../transports/asyncapi.ts';
import { openApiDocument } from '../../../../transports/http/openapi/openapi.ts';
import { ROUTES } from '../../../../transports/http/routes.ts';
import { startServer } from '../../../support/server.ts';
import { startWsServer } from '../../../support/ws.ts';

t.test('GET /api/health tells how the server is, without a token', async (t) => {
  const server = await startServer(t);
  const answer = await server.call('GET', '/api/health', { token: false });
  t.match(answer, { status: 200, headers: { 'content-type': 'application/json; charset=utf-8' } });
  t.match(answer.json, { status: 'ok', version: server.core.version, uptimeSeconds: Number, blocks: 0, monitorsRunning: 0 });
  t.strictSame(Object.keys(answer.json), ['status', 'version', 'uptimeSeconds', 'blocks', 'monitorsRunning']);
  t.ok((answer.json['uptimeSeconds'] as number) >= 0);
});

t.test('GET /api/nodes lists the servers, for the token alone', async (t) => {
  const server = await startServer(t);
  const { status, json } = await server.call('GET', '/api/nodes');
  t.equal(status, 200);
  t.match(json, { nodes: [{ self: true, version: server.core.version, alive: true, blocks: 0 }] });
  t.match(await server.call('GET', '/api/nodes', { token: false }), { status: 401 });
});

t.test('the uptime counts from the start of the server, not of the program', async (t) => {
  while (process.uptime() < 0.5) await delay(10);
  const begin = performance.now();
  const server = await startServer(t);
  const { json } = await server.call('GET', '/api/health');
  t.ok((json['uptimeSeconds'] as number) * 1000 <= performance.now() - begin + 50, 'rounded to a tenth');
});

t.test('GET /api/auth/status says whether the presented token is valid, and is 200 either way', async (t) => {
  const server = await startServer(t);
  const cases: [title: string, authorization: string | string[] | undefined, authenticated: boolean][] = [
    ['the token', `Bearer ${server.token}`, true],
    ['none', undefined, false],
    ['a wrong one', `Bearer bh_${'A'.repeat(43)}`, false],
    ['an empty one', 'Bearer ', false],
    ['another scheme', `Basic ${server.token}`, false],
    ['two headers', [`Bearer ${server.token}`, `Bearer ${server.token}`], false],
  ];
  for (const [title, authorization, authenticated] of cases) {
    const answer = await server.call('GET', '/api/auth/status', { token: false, ...(authorization !== undefined && { headers: { authorization } }) });
    t.equal(answer.status, 200, title);
    t.strictSame(answer.json, { authenticated }, title);
  }
});

t.test('the published contracts are served without a token', async (t) => {
  const server = await startWsServer(t);
  for (const [path, document] of [
    ['/openapi.json', openApiDocument(ROUTES)],
    ['/asyncapi.json', asyncApiDocument()],
  ] as const) {
    for (let i = 0; i < 2; i += 1) {
      const answer = await server.call('GET', path, { token: false });
      t.match(answer, { status: 200, headers: { 'content-type': 'application/json; charset=utf-8' } }, path);
      t.strictSame(answer.json, JSON.parse(JSON.stringify(document)), path);
    }
    t.match(await server.call('GET', path, { token: false, headers: { host: 'evil.example' } }), { status: 403 }, path);
    t.match(await server.call('GET', path, { token: false, headers: { origin: 'http://evil.example' } }), { status: 403 }, path);
  }
});

t.test('a contract comes compressed for who takes gzip, and not at all for who has it', async (t) => {
  const server = await startServer(t);
  const ask = (headers: Record<string, string>) => fetch(`${server.url}/openapi.json`, { headers: { 'accept-encoding': 'identity', ...headers } });
  const plain = await ask({});
  const zipped = await ask({ 'accept-encoding': 'br, gzip' });
  t.equal(plain.headers.get('content-encoding'), null);
  t.match(Object.fromEntries(zipped.headers), { 'content-encoding': 'gzip', vary: 'accept-encoding' });
  t.ok(Number(zipped.headers.get('content-length')) < Number(plain.headers.get('content-length')) / 5);
  t.equal(await zipped.text(), await plain.text());
  t.equal((await ask({ 'accept-encoding': 'gzip;q=0' })).headers.get('content-encoding'), null);
  const [one, other] = [plain, zipped].map(({ headers }) => headers.get('etag') ?? '');
  t.not(one, other, 'two forms, two tags');
  t.equal((await ask({ 'if-none-match': one ?? '' })).status, 304);
  t.equal((await ask({ 'if-none-match': one ?? '', 'accept-encoding': 'gzip' })).status, 200);
  t.match(await ask({ 'if-none-match': other ?? '', 'accept-encoding': 'gzip' }), { status: 304, body: null });
});

t.test('a server without a WebSocket has no contract of it', async (t) => {
  const server = await startServer(t);
  t.match(await server.call('GET', '/asyncapi.json', { token: false }), { status: 404, json: { code: 'NOT_FOUND', error: /no WebSocket/ } });
});
