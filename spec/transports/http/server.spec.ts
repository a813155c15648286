import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import t from 'tap';
import { createCore } from '../../../core/index.ts';
import { createHttpTransport } from '../../../transports/http/index.ts';
import { RawClient } from '../../support/raw.ts';
import { friendlyDaemon, readAnswer, responseOf, startServer } from '../../support/server.ts';

t.test('a core without a workspace has no token, and so no server', async (t) => {
  t.throws(() => createHttpTransport(createCore({ adapters: [], env: {} })), /needs a workspace/);
});

t.test('listen resolves with the URL, IPv6 too, and rejects when the port is taken', async (t) => {
  const server = await startServer(t);
  t.equal(server.url, `http://127.0.0.1:${server.port}`);
  const second = createHttpTransport(server.core);
  await t.rejects(second.listen(server.port, '127.0.0.1'), { code: 'EADDRINUSE' });
  await second.close();
  const probe = createServer();
  const canIpv6 = await new Promise<boolean>((resolve) => {
    probe.once('error', () => resolve(false));
    probe.listen(0, '::1', () => resolve(true));
  });
  probe.close();
  if (!canIpv6) return;
  const third = createHttpTransport(server.core);
  const url = await third.listen(0, '::1');
  t.match(url, /^http:\/\/\[::1\]:\d+$/);
  t.match(await readAnswer(await responseOf(get(`${url}/v1/health`, { agent: false }))), { status: 200 });
  await third.close();
});

t.test('close does not wait for clients that say nothing, or half of it', async (t) => {
  const server = await startServer(t);
  const head = `GET /api/health HTTP/1.1\r\nHost: localhost:${server.port}\r\n`;
  const clients = await Promise.all(
    ['', head, `${head}\r\n`, `${head}\r\n${head}`].map(async (bytes) => (await RawClient.connect(t, server.port)).send(bytes)),
  );
  await Promise.all(clients.slice(2).map((client) => client.settle()));
  await server.transport.close();
  for (const client of clients) await client.untilClosed();
  t.strictSame(
    clients.map(({ responses }) => responses.map(({ status }) => status)),
    [[], [], [200], [200]],
  );
});

t.test('close lets an open answer end, and then does not wait for its idle connection', async (t) => {
  let answer = (): void => undefined;
  const server = await startServer(t, {
    answer: async (request, res, index) => {
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      await friendlyDaemon(request, res, index);
    },
  });
  const agent = new Agent({ keepAlive: true });
  t.teardown(() => agent.destroy());
  const request = get({
    host: '127.0.0.1',
    port: server.port,
    path: '/v1/adapters/ollama/models',
    agent,
    headers: { authorization: `Bearer ${server.token}` },
  });
  await server.upstream.arrived(0);
  let closed = false;
  const closing = server.transport.close().then(() => {
    closed = true;
  });
  t.equal(closed, false);
  answer();
  const response = await responseOf(request);
  t.match(await readAnswer(response), { status: 200, json: { count: 2 } });
  const before = performance.now();
  await closing;
  t.ok(performance.now() - before < 30_000, 'the keep-alive time is not waited for');
  const refused = get({ host: '127.0.0.1', port: server.port, agent: false });
  const [error] = (await once(refused, 'error')) as [NodeJS.ErrnoException];
  t.equal(error.code, 'ECONNREFUSED');
});

t.test('a server takes connections that others have accepted: it answers, refuses late requests, has its limit, and ends', async (t) => {
  const { core, token } = await startServer(t);
  const transport = createHttpTransport(core, { maxConnections: 1 });
  const taken: boolean[] = [];
  const other = createServer({ allowHalfOpen: true }, (socket) => {
    socket.allowHalfOpen = false; // as one that came from another process has it
    taken.push(transport.take(socket));
    if (taken.at(-1) === false) socket.destroy();
  });
  t.teardown(() => other.close());
  other.listen(0, '127.0.0.1');
  await once(other, 'listening');
  const address = other.address() as AddressInfo;
  const url = transport.serveAt(address);
  t.equal(url, `http://127.0.0.1:${address.port}`);
  t.ok(
    core.ownAddresses.own.some(({ origins }) => origins.includes(url)),
    'its own address is known as such',
  );

  const ask = async (): Promise<number> =>
    (await readAnswer(await responseOf(get(`${url}/api/health`, { agent: false, headers: { authorization: `Bearer ${token}` } })))).status;
  t.equal(await ask(), 200);
  const head = `GET /v1/health HTTP/1.1\r\nHost: localhost:${address.port}\r\n`;
  const half = await RawClient.connect(t, address.port);
  half.send(`${head}\r\n`).socket.end();
  await half.untilClosed();
  t.match(half.responses, [{ status: 200 }], 'also a client that sends no more');

  transport.server.headersTimeout = 100;
  const slow = (await RawClient.connect(t, address.port)).send(head);
  await slow.untilClosed();
  t.match(slow.responses, [{ status: 408 }]);
  t.equal(await ask(), 200);

  const idle = await RawClient.connect(t, address.port);
  const closing = transport.close();
  await Promise.all([closing, idle.untilClosed()]);
  t.notOk(core.ownAddresses.own.some(({ origins }) => origins.includes(url)));
  const late = await RawClient.connect(t, address.port);
  await late.untilClosed();
  t.equal(taken.at(-1), false, 'it takes no more');
});
