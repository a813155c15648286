import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import type { Upstream } from '../../../adapters/outbound/client.ts';
import { Connection, type ConnectionOwner, type Exchange } from '../../../adapters/outbound/connection.ts';
import { type LateReader, ReadTurns, readTurns } from '../../../adapters/outbound/read-turns.ts';
import { adapterCall, Collector, startRawUpstream } from '../../support/adapter-call.ts';
import { argsForText } from '../../support/node-args.ts';
import { until } from '../../support/until.ts';
import { get, newUpstream, post, sendThenIdle } from '../../support/upstream-call.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

t.test('a provider that says how long it keeps an idle connection is not asked on it later than that', async (t) => {
  for (const [keepAlive, connections] of [
    ['timeout=1', 2],
    ['timeout=0', 2],
    ['timeout=60', 1],
  ] as const) {
    const server = await startRawUpstream(t, (socket) => socket.write(`HTTP/1.1 200 OK\r\nkeep-alive: ${keepAlive}\r\ncontent-length: 2\r\n\r\nok`));
    const upstream = newUpstream(t);
    await sendThenIdle(upstream, get(server.url));
    await sendThenIdle(upstream, get(server.url));
    t.equal(server.connections.length, connections, keepAlive);
  }
});

t.test('a connection that is open longer than that ends', async (t) => {
  const server = await startRawUpstream(t, (socket) => socket.write('HTTP/1.1 200 OK\r\nkeep-alive: timeout=2\r\ncontent-length: 2\r\n\r\nok'));
  await sendThenIdle(newUpstream(t), get(server.url));
  t.equal(server.connections[0]?.closed, false);
  await until('it is closed', () => server.connections[0]?.closed === true);
});

t.test('a connection that was answered before it had sent the whole request carries no other', async (t) => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined); // the other side may leave
    socket.once('data', () => {
      socket.pause();
      socket.write(OK);
    });
  }).listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await once(server, 'listening');
  let connections = 0;
  server.on('connection', (socket) => {
    connections += 1;
    t.teardown(() => socket.destroy());
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const upstream = newUpstream(t);
  await sendThenIdle(upstream, post(url, 'x'.repeat(16_000_000)));
  await sendThenIdle(upstream, post(url));
  t.equal(connections, 2);
});

t.test('a connection that was answered early is kept once the rest of its request has left', async (t) => {
  let hasAll = false;
  let readRest = (): void => undefined;
  const server = createServer((socket) => {
    socket.on('error', () => undefined); // the other side may leave
    socket.once('data', () => {
      socket.pause();
      socket.write(OK);
      readRest = () => void socket.resume();
      socket.on('data', (bytes) => {
        if (hasAll) socket.write(OK);
        else hasAll = bytes.toString('latin1').endsWith('.');
      });
    });
  }).listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await once(server, 'listening');
  let connections = 0;
  server.on('connection', (socket) => {
    connections += 1;
    t.teardown(() => socket.destroy());
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const upstream = newUpstream(t);
  await upstream.send(adapterCall(), post(url, `${'x'.repeat(8_000_000)}.`), new Collector());
  t.notOk(hasAll);
  readRest();
  await until('the rest has come', () => hasAll);
  for (let turn = 0; turn < 50; turn += 1) await nextTurn();
  await sendThenIdle(upstream, post(url, '{}'));
  t.equal(connections, 1);
});

t.test('once a POST has left, neither its body nor its headers, which have the key, are held until the answer ends', async (t) => {
  for (const size of [100, 1_000_000]) {
    const server = await startRawUpstream(t, (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nfirst'));
    const answer = new Collector();
    const { ended, parts } = sendWeakly(newUpstream(t), server.url, size, answer);
    await until('the answer has begun', () => answer.text === 'first');
    await until('the request is freed', () => {
      collectGarbage();
      return parts.every((part) => part.deref() === undefined);
    });
    server.connections[0]?.socket.write('last');
    await ended;
  }
});

t.test('a connection that is gone is held by nothing, although its timers had long to run', async (t) => {
  const server = await startRawUpstream(t, (socket) => socket.write(OK));
  let isGone = false;
  const gone = (): void => {
    isGone = true;
  };
  const connection = useOnce(server.url, { idle: () => server.connections[0]?.socket.destroy(), gone });
  await until('it is gone', () => isGone);
  const isFreed = (): boolean => {
    collectGarbage();
    return connection.deref() === undefined;
  };
  await until('it is freed', isFreed, 15_000);
});

t.test('bytes that nobody asked for end an idle connection, and the next request has another', async (t) => {
  const server = await startRawUpstream(t, (socket) => socket.write(OK));
  const upstream = newUpstream(t);
  await sendThenIdle(upstream, post(server.url));
  server.connections[0]?.socket.write('HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\n\r\n');
  const answer = new Collector();
  await upstream.send(adapterCall(), post(server.url), answer); // taken, and not written yet, when they come
  t.equal(answer.status, 200);
  t.equal(server.connections.length, 2);
  server.connections[1]?.socket.write('more');
  await until('the other one ends, too', () => server.connections[1]?.closed === true);
});

t.test('a program that has nothing else to do ends, although a connection is kept', async (t) => {
  const server = await startRawUpstream(t, (socket) => socket.write(OK));
  const script = `
    import { Upstream } from './adapters/outbound/client.ts';
    const egress = { trustedOrigins: new Set(), allowedOrigins: new Set(), ownKey: true };
    const call = { settings: { values: {}, sources: {} }, egress, timeouts: { connectMs: 9e6, firstByteMs: 9e6, idleMs: 9e6 }, signal: new AbortController().signal };
    const handler = { complete: false, head() {}, data: () => true, onceWritable() {}, end() {} };
    await new Upstream().send(call, { method: 'GET', url: new URL(${JSON.stringify(String(server.url))}), headers: {} }, handler);
    console.log('answered');
  `;
  const child = spawn(process.execPath, argsForText(script), { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.on('data', (bytes) => {
    said += bytes;
  });
  const [code] = await once(child, 'close');
  t.equal(code, 0);
  t.equal(said, 'answered\n');
});

t.test('in-turns: what is read in a later turn is whole, also where the connection ends right after it', async (t) => {
  const server = await startRawUpstream(t, (socket, index) => {
    if (index === 0) socket.write(OK);
    else socket.end('HTTP/1.1 200 OK\r\n\r\nuntil the end');
  });
  const stop = useUpAllTurns();
  t.teardown(stop);
  const upstream = newUpstream(t);
  for (const text of ['ok', 'until the end']) {
    const answer = new Collector();
    await upstream.send(adapterCall(), get(server.url), answer);
    t.match(answer, { text, ended: true });
  }
});

t.test('in-turns: a reader that pauses gets nothing more before it goes on', async (t) => {
  const server = await startRawUpstream(t, (socket) => socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 4000000\r\n\r\n${'x'.repeat(4_000_000)}`));
  t.teardown(useUpAllTurns());
  const answer = new Collector();
  answer.writable = false;
  const sent = newUpstream(t).send(adapterCall(), get(server.url), answer);
  await until('it pauses', () => answer.paused);
  const { bytes } = answer;
  for (let turn = 0; turn < 20; turn += 1) await nextTurn();
  t.equal(answer.bytes, bytes);
  answer.resume();
  await sent;
  t.equal(answer.bytes, 4_000_000);
});

t.test('bounded-turn: once a turn is used up, further bytes wait, and groups take turns', async (t) => {
  const turns = new ReadTurns(20);
  t.equal(turns.hasRoom, true);
  turns.took(15);
  t.equal(turns.hasRoom, true);
  turns.took(5);
  t.equal(turns.hasRoom, false);
  const read: string[] = [];
  const reader = (group: object, name: string, ms: number): LateReader => ({
    group,
    readLate: () => {
      read.push(name);
      turns.took(ms);
    },
  });
  const [flood, other] = [{}, {}];
  for (const name of ['flood 1', 'flood 2', 'flood 3']) turns.add(reader(flood, name, 30));
  turns.add(reader(other, 'other 1', 0));
  turns.add(reader(other, 'other 2', 0));
  t.strictSame(read, [], 'not in this turn');
  const seen: string[][] = [];
  while (read.length < 5) {
    await nextTurn();
    if (read.length > seen.flat().length) seen.push(read.slice(seen.flat().length));
  }
  t.strictSame(seen, [['flood 1'], ['other 1', 'flood 2'], ['other 2', 'flood 3']]);
  await nextTurn();
  t.equal(turns.hasRoom, true, 'nothing waits any more');
});

/** Makes everything that comes wait for a later turn, until the function that is returned is called. */
function useUpAllTurns(): () => void {
  let isStopped = false;
  const reader: LateReader = { group: {}, readLate: () => (isStopped ? undefined : readTurns.add(reader)) };
  readTurns.add(reader);
  return () => {
    isStopped = true;
  };
}

/** Sends a request that nobody here holds. */
function sendWeakly(
  upstream: Upstream,
  url: URL,
  size: number,
  answer: Collector,
): { readonly ended: Promise<void>; readonly parts: readonly WeakRef<object>[] } {
  const request = post(url, 'x'.repeat(size));
  const parts = [request.headers, request.body ?? {}].map((part) => new WeakRef<object>(part));
  return { ended: upstream.send(adapterCall(), request, answer), parts };
}

/** Opens a connection that nobody here holds, and sends one request. */
function useOnce(url: URL, owner: ConnectionOwner): WeakRef<Connection> {
  const nothing = (): void => undefined;
  const exchange: Exchange = {
    head: 'GET / HTTP/1.1\r\n\r\n',
    body: undefined,
    onSend: (connection) => connection.silence.start(600_000, nothing),
    onWritten: nothing,
    onHead: nothing,
    onData: nothing,
    onEnd: nothing,
    onBreak: nothing,
    onStale: nothing,
  };
  const open = (opened: () => void): Socket => connect(Number(url.port), url.hostname, opened);
  return new WeakRef(new Connection(open, owner, exchange));
}
