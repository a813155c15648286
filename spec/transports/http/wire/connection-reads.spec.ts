import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { ConnectionReads, noteBodyLeft } from '../../../../transports/http/wire/connection-reads.ts';
import { Pipelines } from '../../../../transports/http/wire/pipelines.ts';
import { fakeTimers } from '../../../support/fake-timers.ts';
import { RawClient } from '../../../support/raw.ts';
import { StandIn } from '../../../support/stand-in-socket.ts';
import { CHAT, startServer, until } from '../../../support/server.ts';

interface SilentServer {
  readonly port: number;
  readonly begun: ServerResponse[];
  /** The connections that are read again, in their order. */
  readonly resumed: Socket[];
}

/** A server that answers no request. */
async function silentServer(t: Test, reads: ConnectionReads): Promise<SilentServer> {
  const pipelines = new Pipelines(reads, () => undefined);
  const begun: ServerResponse[] = [];
  const resumed: Socket[] = [];
  const server = createServer((req, res) => {
    if (req.socket.destroyed) return;
    if (res.socket === null) pipelines.wait(res, () => begun.push(res));
    else begun.push(res);
  });
  server.on('connection', (socket) => {
    reads.add(socket, nothing);
    socket.on('resume', () => resumed.push(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  t.teardown(() => server.closeAllConnections());
  return { port: (server.address() as AddressInfo).port, begun, resumed };
}

/** HTTP has it already. */
const nothing = (): void => undefined;

const get = (count: number): string => 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(count);

t.test('a connection that has never sent ahead is read again before those that may flood', async (t) => {
  const reads = new ConnectionReads();
  const { port, begun, resumed } = await silentServer(t, reads);
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
  const reads = new ConnectionReads(() => now);
  const { port, resumed } = await silentServer(t, reads);
  const clients: RawClient[] = [];
  for (let n = 0; n < 45; n += 1) {
    clients.push(await RawClient.connect(t, port));
    await until(() => resumed.length === n + 1, 'it is read');
  }
  const names = new Map(resumed.map((socket, n) => [socket, n]));
  for (const socket of resumed.slice(0, 40)) reads.belongs(socket, 'key of many');
  reads.belongs(resumed[42] as Socket, 'key of one');
  for (const socket of resumed) reads.note(socket);
  now += 50;
  reads.note(resumed[0] as Socket);
  resumed.length = 0;
  await until(() => resumed.length === 45, 'all are read again');
  t.strictSame(
    resumed.slice(0, 8).map((socket) => names.get(socket)),
    [39, 44, 42, 0, 40, 38, 43, 1],
  );
});

t.test('a turn that has read for long reads no other connection', async (t) => {
  let now = 0;
  const reads = new ConnectionReads(() => now);
  const { port, resumed } = await silentServer(t, reads);
  const clients = await Promise.all(Array.from({ length: 3 }, () => RawClient.connect(t, port)));
  await until(() => resumed.length === 3, 'they are read');
  for (let n = 0; n < 5; n += 1) await turn(); // they are new no longer
  const [socket] = resumed.splice(0) as [Socket];
  const read = (...tookMs: readonly number[]): void => {
    for (const ms of tookMs) {
      reads.note(socket);
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

t.test('idle connections of a caller do not keep its other ones from being read while somebody floods', async (t) => {
  let now = 0;
  const reads = new ConnectionReads(() => now);
  let resumed: StandIn[] = [];
  const connect = (owner: string): StandIn => {
    const socket = new StandIn(owner === '' ? 0 : 100);
    socket.on('resume', () => resumed.push(socket));
    reads.add(socket as unknown as Socket, nothing);
    if (owner !== '') reads.belongs(socket as unknown as Socket, owner);
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
    reads.note(socket as unknown as Socket);
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
  const reads = new ConnectionReads(() => now);
  const sockets = [new StandIn(100), new StandIn(100)];
  for (const socket of sockets) reads.add(socket as unknown as Socket, nothing);
  for (const [ms, held] of [
    [4, 0],
    [5, 2],
    [10, 2],
    [10, 0],
  ] as const) {
    reads.add(new StandIn(0) as unknown as Socket, nothing);
    for (const tookMs of [ms, 0]) {
      reads.note(sockets[0] as unknown as Socket);
      now += tookMs;
    }
    await turn();
    t.equal(sockets.filter((socket) => socket.isPaused()).length, held, `after ${now} ms`);
  }
});

t.test(
  'of the callers that are not read, the first is the one of whom it is longest ago that something was read that cost time, also where new ones come',
  async (t) => {
    let now = 0;
    const reads = new ConnectionReads(() => now);
    let resumed: StandIn[] = [];
    const connect = (owner: string, bytesWritten: number): StandIn => {
      const socket = new StandIn(bytesWritten);
      socket.on('resume', () => resumed.push(socket));
      reads.add(socket as unknown as Socket, nothing);
      reads.belongs(socket as unknown as Socket, owner);
      return socket;
    };
    const floods = Array.from({ length: 3 }, () => connect('key of floods', 100));
    const upload = connect('key of an upload', 0);
    await turn();
    now += 20;
    reads.holdOthers();
    await turn();
    t.equal(resumed.length, 4);
    for (let round = 0; round < 5; round += 1) {
      for (const socket of round === 0 ? floods : [upload, ...floods]) {
        socket.bytesRead += 65_536;
        if (socket !== upload) reads.note(socket as unknown as Socket);
      }
      reads.holdOthers();
      for (let n = 0; n < 2; n += 1) {
        reads.add(new StandIn(0) as unknown as Socket, nothing);
        await turn();
        reads.holdOthers(); // for what new ones have sent
      }
      resumed = [];
      now += 20;
      await turn();
      t.equal(resumed[0], upload);
      await turn();
    }
  },
);

/** Reads that count a flood now, and the connection that floods. `now` sets the clock on. */
function flooded(): { readonly reads: ConnectionReads; readonly pass: (ms: number) => void } {
  let now = 0;
  const reads = new ConnectionReads(() => now);
  const flood = new StandIn(0) as unknown as Socket;
  reads.add(flood, nothing);
  reads.note(flood);
  now += 50;
  reads.note(flood);
  return { reads, pass: (ms) => (now += ms) };
}

t.test('while somebody floods, new connections with many lines wait while others come; then each turn reads one, by turns of their addresses', async (t) => {
  const { reads, pass } = flooded();
  const begun: string[] = [];
  const connect = (address: string): void => {
    const socket = new StandIn(0, address);
    reads.add(socket as unknown as Socket, () => begun.push(address));
    socket.say('\n'.repeat(257));
  };
  for (let n = 0; n < 20; n += 1) {
    connect(n === 12 || n === 13 ? '10.0.0.2' : n === 14 ? '10.0.0.3' : '10.0.0.1');
    await turn();
  }
  t.equal(begun.length, 0, 'none is read while they come');
  pass(20);
  connect('10.0.0.1');
  await turn();
  t.equal(begun.length, 1, 'one is read between them');
  for (let n = 2; n < 7; n += 1) {
    await turn();
    t.equal(begun.length, n);
  }
  t.strictSame(begun, ['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.1', '10.0.0.2', '10.0.0.1']);
  pass(1000);
  connect('10.0.0.4');
  t.equal(begun.at(-1), '10.0.0.4', 'a second after the flood they are read at once');
});

t.test('while somebody floods, HTTP gets a new connection that says nothing a second later, and all of them when the server closes', async (t) => {
  const pass = fakeTimers(t);
  const { reads } = flooded();
  let begun = 0;
  const begin = (): void => {
    begun += 1;
  };
  for (let n = 0; n < 3; n += 1) reads.add(new StandIn(0) as unknown as Socket, begin);
  await pass(999);
  t.equal(begun, 0);
  await pass(1);
  t.equal(begun, 3);
  const gone = new StandIn(0);
  reads.add(gone as unknown as Socket, begin);
  gone.emit('error', new Error('ECONNRESET'));
  gone.emit('close');
  for (let n = 0; n < 3; n += 1) reads.add(new StandIn(0) as unknown as Socket, begin);
  reads.end();
  t.equal(begun, 6);
  reads.add(new StandIn(0) as unknown as Socket, begin);
  t.equal(begun, 7);
});

t.test('a new connection that is about to be held when HTTP gets it keeps the order of its bytes', async (t) => {
  const { reads } = flooded();
  const bodies: string[] = [];
  const server = createServer((req, res) => {
    let body = '';
    req.on('data', (piece: Buffer) => (body += piece.toString()));
    req.on('end', () => {
      bodies.push(body);
      res.end('ok');
    });
  });
  const [toHttp] = server.listeners('connection');
  server.removeAllListeners('connection');
  let begun = 0;
  server.on('connection', (socket) => {
    socket.once('readable', () => reads.holdOthers()); // so that it waits for the end of the turn
    reads.add(socket, () => {
      begun += 1;
      process.nextTick(() => reads.holdOthers()); // as after others that have begun in this turn
      toHttp?.call(server, socket);
      client.send('body');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  t.teardown(() => server.closeAllConnections());
  const client = await RawClient.connect(t, (server.address() as AddressInfo).port);
  client.send('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n');
  await until(() => bodies.length === 1 || client.closed, 'it is answered');
  t.strictSame([begun, bodies], [1, ['body']]);
});

t.test('a long body of a known caller is read in each turn, all but its end', async (t) => {
  const { reads, pass } = flooded();
  await turn();
  const [known, stranger, flood] = [new StandIn(0), new StandIn(0), new StandIn(0)];
  for (const socket of [known, stranger, flood]) {
    reads.add(socket as unknown as Socket, nothing);
    socket.say('POST');
  }
  for (let n = 0; n < 3; n += 1) await turn();
  pass(20);
  await turn();
  reads.belongs(known as unknown as Socket, 'key');
  for (const socket of [known, stranger]) noteBodyLeft(socket as unknown as Socket, 65_537);
  const arePaused = (): boolean[] => [known, stranger].map((socket) => socket.isPaused());
  const hold = (): void => {
    reads.note(flood as unknown as Socket);
    pass(50);
    reads.note(flood as unknown as Socket);
  };
  hold();
  t.strictSame(arePaused(), [false, true]);
  noteBodyLeft(known as unknown as Socket, 65_536);
  t.strictSame(arePaused(), [true, true], 'what comes behind it may be dear');
});

t.test('the reader of a body says how much of it is to come', async (t) => {
  const left: number[] = [];
  class Noted extends ConnectionReads {
    override noteBodyLeft(_: Socket, bytes: number): void {
      left.push(bytes);
    }
  }
  const server = await startServer(t);
  server.transport.server.prependListener('request', ({ socket }: IncomingMessage) => new Noted().add(socket, nothing));
  const client = await RawClient.connect(t, server.port);
  const body = JSON.stringify({ ...CHAT, messages: [{ role: 'user', content: 'x'.repeat(200_000) }] });
  const head = `POST /v1/chat HTTP/1.1\r\nHost: localhost:${server.port}\r\nAuthorization: Bearer ${server.token}\r\nContent-Type: application/json`;
  client.send(`${head}\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 100_000)}`);
  await until(() => left.includes(body.length - 100_000), 'the first half has come');
  client.send(body.slice(100_000));
  await client.settle(1);
  t.equal(left.at(-1), 0);
});
