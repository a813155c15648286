import { EventEmitter } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import t, { type Test } from 'tap';
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
  /** The connections that are read again, in their order. */
  readonly resumed: Socket[];
}

/** A server that answers no request, and hands over those that are pipelined. */
async function holdingServer(t: Test, pipelines: Pipelines): Promise<HoldingServer> {
  const begun: ServerResponse[] = [];
  const resumed: Socket[] = [];
  const server = createServer((req, res) => {
    if (req.socket.destroyed) return;
    if (res.socket === null) pipelines.wait(res, () => begun.push(res));
    else begun.push(res);
  });
  server.on('connection', (socket) => {
    pipelines.add(socket);
    socket.on('resume', () => resumed.push(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  t.teardown(() => server.closeAllConnections());
  return { port: (server.address() as AddressInfo).port, begun, resumed };
}

const get = (count: number): string => 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(count);

t.test('when too many wait, the connection with the most of them is closed', async (t) => {
  let cuts = 0;
  const pipelines = new Pipelines(() => {
    cuts += 1;
  }, 100);
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

t.test('a connection that has never sent ahead is read again before those that may flood', async (t) => {
  const pipelines = new Pipelines(() => undefined);
  const { port, begun, resumed } = await holdingServer(t, pipelines);
  const strangers = await Promise.all(Array.from({ length: 40 }, () => RawClient.connect(t, port)));
  const kept = await RawClient.connect(t, port);
  kept.send(get(1));
  await until(() => begun.length === 1, 'its request has come');
  begun[0]?.end('ok');
  await kept.settle(1);
  resumed.length = 0;
  strangers[0]?.send(get(1500));
  await until(() => resumed.length > 40, 'all are read again');
  const others = resumed.map((socket) => socket.remotePort).filter((remote) => remote !== strangers[0]?.socket.localPort);
  t.equal(others[0], kept.socket.localPort);
});

t.test('of those that are not read, each caller has one read by turns, a new client at once', async (t) => {
  let now = 0;
  const pipelines = new Pipelines(
    () => undefined,
    undefined,
    () => now,
  );
  const { port, resumed } = await holdingServer(t, pipelines);
  const clients: RawClient[] = [];
  for (let n = 0; n < 45; n += 1) {
    clients.push(await RawClient.connect(t, port));
    await until(() => resumed.length === n + 1, 'it is read');
  }
  const names = new Map(resumed.map((socket, n) => [socket, n]));
  for (const socket of resumed.slice(0, 40)) pipelines.belongs(socket, 'key of many');
  pipelines.belongs(resumed[42] as Socket, 'key of one');
  for (const socket of resumed) pipelines.noteRead(socket);
  now += 50;
  pipelines.noteRead(resumed[0] as Socket);
  resumed.length = 0;
  await until(() => resumed.length === 45, 'all are read again');
  t.strictSame(
    resumed.slice(0, 8).map((socket) => names.get(socket)),
    [39, 44, 42, 0, 40, 38, 43, 1],
  );
});

t.test('a turn that has read for long reads no other connection', async (t) => {
  let now = 0;
  const pipelines = new Pipelines(
    () => undefined,
    undefined,
    () => now,
  );
  const { port, resumed } = await holdingServer(t, pipelines);
  const clients = await Promise.all(Array.from({ length: 3 }, () => RawClient.connect(t, port)));
  await until(() => resumed.length === 3, 'they are read');
  for (let n = 0; n < 5; n += 1) await turn(); // they are new no longer
  const [socket] = resumed.splice(0) as [Socket];
  const read = (...tookMs: readonly number[]): void => {
    for (const ms of tookMs) {
      pipelines.noteRead(socket);
      now += ms;
    }
  };
  read(49, 0);
  for (let n = 0; n < 5; n += 1) await turn();
  read(49, 0);
  for (let n = 0; n < 5; n += 1) await turn();
  t.equal(resumed.length, 0, 'each turn has its time');
  read(20, 30, 0);
  await until(() => resumed.length === 3, 'those that were held are read again in later turns');
  t.ok(clients.every(({ closed }) => !closed));
});

/** What `Pipelines` uses of a socket. */
class StandIn extends EventEmitter {
  readonly destroyed = false;
  readonly bytesWritten: number;
  readonly remoteAddress: string;
  bytesRead = 0;
  #isPaused = false;

  constructor(bytesWritten: number, remoteAddress = '10.0.0.1') {
    super();
    this.bytesWritten = bytesWritten;
    this.remoteAddress = remoteAddress;
  }

  isPaused(): boolean {
    return this.#isPaused;
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.emit('resume');
  }
}

t.test('idle connections of a caller do not keep its other ones from being read while somebody floods', async (t) => {
  let now = 0;
  const pipelines = new Pipelines(
    () => undefined,
    undefined,
    () => now,
  );
  let resumed: StandIn[] = [];
  const connect = (owner: string): StandIn => {
    const socket = new StandIn(owner === '' ? 0 : 100);
    socket.on('resume', () => resumed.push(socket));
    pipelines.add(socket as unknown as Socket);
    if (owner !== '') pipelines.belongs(socket as unknown as Socket, owner);
    return socket;
  };
  const floods = new Set(Array.from({ length: 100 }, () => connect('')));
  for (let n = 0; n < 500; n += 1) connect('key of many');
  const uploads = new Set(Array.from({ length: 10 }, () => connect('key of uploads')));
  const asking = connect('key of many');
  const read = (socket: StandIn): void => {
    if (socket.isPaused()) return;
    socket.bytesRead += 65_536;
    if (uploads.has(socket)) return;
    pipelines.noteRead(socket as unknown as Socket);
    now += 10;
  };
  for (const flood of floods) read(flood);
  let turns = 0;
  for (; asking.bytesRead === 0 && turns < 300; turns += 1) {
    await turn();
    const inOrder = resumed;
    resumed = [];
    for (const socket of inOrder) if (floods.has(socket) || uploads.has(socket) || socket === asking) read(socket);
  }
  const slowest = Math.min(...[...uploads].map(({ bytesRead }) => bytesRead));
  t.ok(slowest >= (turns - 1) * 65_536, 'large bodies are read in each turn');
  t.ok(turns < 20, `it was read after ${turns} turns`);
});

t.test('while new connections come, those that were read for a moment wait for them, but not for long', async (t) => {
  let now = 0;
  const pipelines = new Pipelines(
    () => undefined,
    undefined,
    () => now,
  );
  const sockets = [new StandIn(100), new StandIn(100)];
  for (const socket of sockets) pipelines.add(socket as unknown as Socket);
  for (const [ms, held] of [
    [4, 0],
    [5, 2],
    [10, 2],
    [10, 0],
  ] as const) {
    pipelines.add(new StandIn(0) as unknown as Socket);
    for (const tookMs of [ms, 0]) {
      pipelines.noteRead(sockets[0] as unknown as Socket);
      now += tookMs;
    }
    await turn();
    t.equal(sockets.filter((socket) => socket.isPaused()).length, held, `after ${now} ms`);
  }
});

t.test('while somebody floods, new connections are let in before anything is read, and each address has its turns', async (t) => {
  let now = 0;
  const pipelines = new Pipelines(
    () => undefined,
    undefined,
    () => now,
  );
  let resumed: StandIn[] = [];
  const connect = (address: string): StandIn => {
    const socket = new StandIn(0, address);
    pipelines.add(socket as unknown as Socket);
    socket.resume();
    socket.on('resume', () => resumed.push(socket));
    return socket;
  };
  const flood = connect('10.0.0.1') as unknown as Socket;
  pipelines.noteRead(flood);
  now += 50;
  pipelines.noteRead(flood);
  const clients: StandIn[] = [];
  for (let n = 0; n < 40; n += 1) {
    clients.push(connect(n === 20 ? '10.0.0.2' : '10.0.0.1'));
    await turn();
  }
  t.equal(resumed.length, 0, 'nothing is read while they come');
  t.ok(clients.every((socket) => socket.isPaused()));
  while (resumed.length === 0) await turn();
  t.ok(resumed.slice(0, 2).includes(clients[20] as StandIn), 'the one of another address is read at once');
  const turns = resumed.length;
  connect('10.0.0.1');
  await turn();
  now += 20;
  for (let n = 0; n < 3; n += 1) {
    connect('10.0.0.1');
    await turn();
  }
  t.ok(resumed.length > turns, 'others are read between them');
  resumed = [];
  now += 1000;
  t.notOk(connect('10.0.0.1').isPaused(), 'a second after the flood they are read at once');
});

t.test('when a client leaves, the answers behind its oldest one are closed, and errors have their stack as before', async (t) => {
  const pipelines = new Pipelines(() => undefined);
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
