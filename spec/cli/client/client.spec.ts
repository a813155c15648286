import { getEventListeners, once } from 'node:events';
import { createServer } from 'node:http';
import t from 'tap';
import { Client, failureOf, findServer } from '../../../cli/client/client.ts';
import { openFeed } from '../../../cli/client/socket.ts';
import { CliError } from '../../../cli/terminal/exit-codes.ts';
import { WorkspaceLock } from '../../../core/store/files/lock.ts';
import { answer, refusal, startFakeBlockServer } from '../../support/fake-block-server.ts';
import { writeNewToken } from '../../support/new-token.ts';
import { testFolder } from '../../support/test-folder.ts';
import { until } from '../../support/until.ts';

t.test('a workspace without a server says how to start one', async (t) => {
  const workspace = testFolder(t);
  await t.rejects(findServer(workspace, 'blockhouse serve'), {
    kind: 'server',
    message: /^No server is running for the workspace .*; start one with `blockhouse serve`\.$/,
  });
  await t.rejects(findServer(`${workspace}/none`, 'blockhouse serve'), {
    kind: 'place',
    message: /^There is no workspace .*none; `blockhouse serve` creates it\.$/,
  });
});

t.test('the server is the one that the lock names, with the token of the workspace', async (t) => {
  const workspace = testFolder(t);
  const lock = await WorkspaceLock.acquire(workspace);
  t.teardown(() => lock.release());
  await lock.announce('http://0.0.0.0:8421');
  await t.rejects(findServer(workspace, 'x'), { kind: 'place', message: /\.api-token can't be used: it does not exist/ });
  const token = await writeNewToken(workspace);
  const place = await findServer(workspace, 'x');
  t.equal(place.url.origin, 'http://127.0.0.1:8421', 'a server that listens everywhere is here, too');
  t.equal(place.token, token);
  t.equal(place.pid, process.pid);
});

t.test('the lock is read before each request: a server that has ended gets nothing, and one that started again elsewhere is found', async (t) => {
  const workspace = testFolder(t);
  await writeNewToken(workspace);
  const [first, second] = [await startFakeBlockServer(t, (_call, res) => answer(res, 1)), await startFakeBlockServer(t, (_call, res) => answer(res, 2))];
  const find = () => findServer(workspace, 'x');
  const lock = await WorkspaceLock.acquire(workspace);
  await lock.announce(first.place.url.origin);
  const client = new Client(await find(), new AbortController().signal, find);
  t.equal(await client.json('GET', '/'), 1);
  await lock.release();
  await t.rejects(client.json('GET', '/'), { kind: 'server', message: /^No server is running/ });
  await t.rejects(openFeed(client, 'b', { refresh() {}, step() {}, gone() {}, lost() {} }), { kind: 'server', message: /^No server is running/ });
  t.equal(first.calls.length, 1);
  const next = await WorkspaceLock.acquire(workspace);
  t.teardown(() => next.release());
  await next.announce(second.place.url.origin);
  t.equal(await client.json('GET', '/'), 2);
});

t.test('a server that still starts is waited for', async (t) => {
  const workspace = testFolder(t);
  await writeNewToken(workspace);
  const lock = await WorkspaceLock.acquire(workspace);
  t.teardown(() => lock.release());
  const finding = findServer(workspace, 'x');
  await lock.announce('http://[::]:8421');
  t.equal((await finding).url.hostname, '[::1]');
});

t.test('a call carries the token, a body and its headers, and gives the answer', async (t) => {
  const { api, calls } = await startFakeBlockServer(t, (_call, res) => answer(res, { fine: true }));
  t.same(await api.client.json('PUT', '/api/x', { body: { a: 1 }, headers: { 'if-match': '"3"' } }), { fine: true });
  await api.client.json('POST', '/api/x', { bytes: Buffer.from('zip') });
  await api.client.json('GET', '/api/x');
  t.match(calls[0], { method: 'PUT', path: '/api/x', headers: { authorization: 'Bearer bh_token', 'content-type': 'application/json', 'if-match': '"3"' } });
  t.equal(String(calls[0]?.body), '{"a":1}');
  t.match(calls[1]?.headers, { 'content-type': 'application/gzip', 'content-length': '3' });
  t.equal(calls[2]?.headers['content-type'], undefined);
  t.same(await api.client.bytes('GET', '/api/x'), Buffer.from('{"fine":true}'));
});

t.test('what the server refuses keeps its text and has the exit code of its kind', async (t) => {
  const { api } = await startFakeBlockServer(t, ({ path }, res) => answer(res, refusal(path.slice(1), 'no\nway\x1b[2J'), 400));
  for (const [code, kind] of [
    ['BLOCK_NOT_FOUND', 'usage'],
    ['BLOCK_DAMAGED', 'place'],
    ['SHUTTING_DOWN', 'server'],
    ['QUEUE_FULL', 'unexpected'],
    ['ADAPTER_NOT_CONFIGURED', 'credentials'],
    ['__proto__', 'unexpected'],
  ] as const)
    await t.rejects(api.client.json('GET', `/${code}`), { kind, message: 'no way', body: { code } }, code);
  await t.rejects(api.client.bytes('GET', '/NAME_TAKEN'), { kind: 'usage', message: /./ });
  t.match(failureOf({ ...refusal('UNAUTHORIZED', 'x'), code: 'UNAUTHORIZED' }), { kind: 'credentials', message: /rejected the token/ });
});

t.test('something else at that address is told apart', async (t) => {
  const { api } = await startFakeBlockServer(t, (_call, res) => void res.end('<html>'));
  await t.rejects(api.client.json('GET', '/'), { kind: 'server', message: /is not a Blockhouse server/ });
  const server = createServer((_req, res) => void res.end('{}')).listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const url = new URL(`http://127.0.0.1:${(server.address() as { port: number }).port}`);
  const client = new Client({ url, token: 'x', pid: 7 }, new AbortController().signal);
  await t.rejects(client.json('GET', '/'), { kind: 'server', message: /is not a Blockhouse server \(status 200\)/ });
  await t.rejects(client.bytes('GET', '/'), { kind: 'server', message: /is not a Blockhouse server \(status 200\)/ });
});

t.test('a server that is gone is told with its place, without the token', async (t) => {
  const server = createServer((req) => req.socket.destroy()).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  const client = new Client({ url: new URL(`http://127.0.0.1:${port}`), token: 'bh_canary', pid: 7 }, new AbortController().signal);
  await t.rejects(client.json('GET', '/'), {
    kind: 'server',
    message: `The server of this workspace (process 7) can't be reached at http://127.0.0.1:${port}: ECONNRESET.`,
  });
  await new Promise((resolve) => server.close(resolve));
  const error = (await client.json('GET', '/').catch((error: unknown) => error)) as CliError;
  t.match(error, { kind: 'server', message: /ECONNREFUSED/ });
  t.notMatch(error.message, 'canary');
});

t.test('the signal ends a call, and that is no fault of the server', async (t) => {
  const { place } = await startFakeBlockServer(t, () => controller.abort());
  const controller = new AbortController();
  const error = await new Client(place, controller.signal).json('GET', '/').catch((error: unknown) => error);
  t.notOk(error instanceof CliError);
  t.equal(controller.signal.aborted, true);
});

t.test('a call leaves no connection and no listener behind', async (t) => {
  const open = new Set<object>();
  const server = createServer((_req, res) => void res.setHeader('x-request-id', 'one').end('{}')).listen(0, '127.0.0.1');
  server.on('connection', (socket) => void open.add(socket.once('close', () => open.delete(socket))));
  t.teardown(() => server.close());
  await once(server, 'listening');
  const { signal } = new AbortController();
  const client = new Client({ url: new URL(`http://127.0.0.1:${(server.address() as { port: number }).port}`), token: 'x', pid: 7 }, signal);
  for (let call = 0; call < 12; call += 1) await client.json('GET', '/');
  await until('all connections are closed', () => open.size === 0);
  await until('no listener is left', () => getEventListeners(signal, 'abort').length === 0);
});
