import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { ConnectionReads } from '../../../../transports/http/wire/connection-reads.ts';
import { Pipelines } from '../../../../transports/http/wire/pipelines.ts';
import { RawClient } from '../../../support/raw.ts';
import { CHAT, startServer, until } from '../../../support/server.ts';

const MIB = 1024 * 1024;

t.test('of one connection nine requests are in work; the others wait, and nothing of them is left when the client leaves', async (t) => {
  const server = await startServer(t, { answer: () => undefined });
  const client = await RawClient.connect(t, server.port);
  const body = JSON.stringify(CHAT);
  const head = `Host: localhost:${server.port}\r\nAuthorization: Bearer ${server.token}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
  client.send(`POST /v1/chat HTTP/1.1\r\n${head}\r\n${body}`.repeat(30));
  await server.upstream.arrived(8);
  t.match(await server.call('GET', '/v1/health', { token: false }), { status: 200 }, 'others are served');
  for (let n = 0; n < 100; n += 1) await turn();
  t.equal(server.upstream.requests.length, 9);
  client.socket.destroy();
  await Promise.all(server.upstream.requests.map(({ closed }) => closed));
  await until(() => server.log.filter(({ fields }) => fields['status'] === 499).length === 9, 'nine requests that were cancelled');
  t.equal(server.upstream.requests.length, 9);
});

t.test('a client that reads nothing gets what the buffers of the system take; when it reads, all of it comes in order', async (t) => {
  const bytes = MIB / 2;
  const count = 100;
  const begun: number[] = [];
  const mount = {
    prefix: '/big',
    handler: (req: { readonly url?: string | undefined }, res: ServerResponse) => {
      const n = Number(req.url?.split('?')[1]);
      begun.push(n);
      res.end(Buffer.alloc(bytes, String.fromCharCode((n % 90) + 0x21)));
    },
  };
  const server = await startServer(t, { http: { mounts: [mount] } });
  const client = await RawClient.connect(t, server.port);
  client.socket.pause();
  const head = `Host: localhost:${server.port}\r\nAuthorization: Bearer ${server.token}\r\n`;
  client.send(Array.from({ length: count }, (_, n) => `GET /big?${n} HTTP/1.1\r\n${head}\r\n`).join(''));
  let before = -1;
  while (before !== begun.length) {
    before = begun.length;
    for (let n = 0; n < 20; n += 1) await server.call('GET', '/v1/health', { token: false });
  }
  t.ok(begun.length > 0 && begun.length < count, `${begun.length} have begun`);
  client.socket.resume();
  await until(() => client.received.length > count * bytes, 'all have come');
  t.strictSame(
    begun,
    Array.from({ length: count }, (_, n) => n),
  );
  const responses = await client.settle(count);
  t.strictSame(
    responses.map(({ body }) => `${body[0]} ${body.length}`),
    begun.map((n) => `${String.fromCharCode((n % 90) + 0x21)} ${bytes}`),
  );
});

t.test('thousands of requests in one packet, from several clients, are answered in order', async (t) => {
  const server = await startServer(t);
  const count = 1500;
  const clients = await Promise.all([1, 2, 3].map(() => RawClient.connect(t, server.port)));
  const ids = Array.from({ length: count }, (_, n) => String(n));
  for (const client of clients) client.send(ids.map((id) => `HEAD / HTTP/1.1\r\nHost:[::1]:${server.port}\r\nx-request-id:${id}\r\n\r\n`).join(''));
  for (const client of clients) {
    await until(() => client.received.includes(`x-request-id: ${count - 1}\r\n`), 'the last answer');
    t.strictSame(
      [...client.received.matchAll(/x-request-id: (\d+)/g)].map(([, id]) => id),
      ids,
    );
  }
});

t.test('the room of a body is free again when its client leaves while its answer waits behind another', async (t) => {
  const server = await startServer(t, { answer: () => undefined, http: { bodies: { bytes: 4 * MIB, patienceMs: 20 } } });
  const body = JSON.stringify({ ...CHAT, messages: [{ role: 'user', content: 'x'.repeat(3 * MIB) }] });
  const head = `Host: localhost:${server.port}\r\nAuthorization: Bearer ${server.token}\r\n`;
  for (let round = 0; round < 3; round += 1) {
    const client = await RawClient.connect(t, server.port);
    client.send(`GET /v1/adapters/ollama/models HTTP/1.1\r\n${head}\r\n`);
    client.send(`POST /v1/chat HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    const index = 2 * round;
    await until(() => server.upstream.requests.length > index + 1 || client.received !== '' || client.closed, 'both are in work');
    t.equal(server.upstream.requests.length, index + 2, `round ${round}: the body had its room`);
    client.socket.destroy();
    await Promise.all(server.upstream.requests.map(({ closed }) => closed));
  }
  t.notMatch(JSON.stringify(server.log), /QUEUE_FULL/);
});

interface HoldingServer {
  readonly port: number;
  readonly begun: ServerResponse[];
}

/** A server that answers no request, and hands over those that are pipelined. */
async function holdingServer(t: Test, pipelines: Pipelines): Promise<HoldingServer> {
  const begun: ServerResponse[] = [];
  const server = createServer((req, res) => {
    if (req.socket.destroyed) return;
    if (res.socket === null) pipelines.wait(res, () => begun.push(res));
    else begun.push(res);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  t.teardown(() => server.closeAllConnections());
  return { port: (server.address() as AddressInfo).port, begun };
}

const get = (count: number): string => 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(count);

t.test('when too many wait, the connection with the most of them is closed', async (t) => {
  let cuts = 0;
  const pipelines = new Pipelines(
    new ConnectionReads(),
    () => {
      cuts += 1;
    },
    100,
  );
  const { port, begun } = await holdingServer(t, pipelines);
  const much = await RawClient.connect(t, port);
  much.send(get(80));
  await until(() => pipelines.waiting === 71, 'nine of 80 have begun');
  const little = await RawClient.connect(t, port);
  little.send(get(50));
  await until(() => much.closed, 'the connection of the 80 is closed');
  await until(() => pipelines.waiting === 41, 'those of the other wait');
  t.equal(cuts, 1);
  for (let n = 9; n < 59; n += 1) {
    await until(() => begun.length > n, 'the next one has begun');
    begun[n]?.end('ok');
  }
  t.equal((await little.settle(50)).length, 50);
  t.equal(pipelines.waiting, 0);
});

t.test('when a client leaves, the answers behind its oldest one are closed, and errors have their stack as before', async (t) => {
  const pipelines = new Pipelines(new ConnectionReads(), () => undefined);
  const { port, begun } = await holdingServer(t, pipelines);
  const client = await RawClient.connect(t, port);
  client.send(get(25));
  await until(() => begun.length === 9, 'nine have begun');
  const closed: ServerResponse[] = [];
  for (const res of begun) res.on('close', () => closed.push(res));
  const { stackTraceLimit } = Error;
  client.socket.destroy();
  await until(() => closed.length > 8, 'all are closed');
  t.strictSame([new Set(closed).size, closed.length, pipelines.waiting], [9, 9, 0], 'once each');
  t.ok(begun.every((res) => res.destroyed));
  t.equal(Error.stackTraceLimit, stackTraceLimit);
});
