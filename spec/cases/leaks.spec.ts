// What is left behind by many streams, and what one stalled client may cost.
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { CHAT, DAEMON_END, daemonLine, responseOf, startServer, type TestServer, until } from '../support/server.ts';
import { sweep } from '../support/sweep.ts';
import type { Answerer } from '../support/upstream.ts';

const STREAM = { ...CHAT, stream: true };
/** Requests at the same time: as many connections may stay open to the provider, for the next ones. */
const AT_ONCE = 16;
const STREAMS = sweep(2000, 300);
/** Before it is measured: what is made once is there. */
const FIRST_STREAMS = sweep(300, 150);
/** Below the cap of a streamed answer, which is 128 MiB. */
const PROVIDER_MIB = sweep(100, 48);

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

interface Holdings {
  /** Sockets, timers and the like, by the kind that Node gives them. */
  readonly resources: Record<string, number>;
  readonly descriptors: number;
  readonly heapBytes: number;
}

function holdings(): Holdings {
  const resources: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) resources[kind] = (resources[kind] ?? 0) + 1;
  collectGarbage();
  return { resources, descriptors: process.platform === 'linux' ? readdirSync('/proc/self/fd').length : 0, heapBytes: process.memoryUsage().heapUsed };
}

/** Waits until nobody is connected to the server any more. */
async function untilQuiet(server: TestServer): Promise<void> {
  await until(() => new Promise((resolve) => server.transport.server.getConnections((_error, count) => resolve(count === 0))), 'the last connection to close');
  server.upstream.requests.splice(0);
  server.log.splice(0);
}

async function finished(server: TestServer): Promise<void> {
  await server.call('POST', '/v1/chat', { body: STREAM });
}

async function aborted(server: TestServer): Promise<void> {
  const request = server.open('POST', '/v1/chat', { body: { ...STREAM, model: 'endless' } });
  request.on('error', () => undefined); // we break it ourselves
  const response = await responseOf(request);
  response.on('error', () => undefined);
  await once(response, 'data');
  request.destroy();
}

async function failed(server: TestServer): Promise<void> {
  await server.call('POST', '/v1/chat', { body: { ...STREAM, model: 'cut' } });
}

async function many(server: TestServer, count: number, kinds: readonly ((server: TestServer) => Promise<void>)[]): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < count) {
      next += 1;
      await kinds[next % kinds.length]?.(server);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  await untilQuiet(server);
}

const answer: Answerer = (request, res) => {
  res.writeHead(200, { 'content-type': 'application/x-ndjson' });
  res.write(daemonLine('Hello'));
  if (request.body.includes('"endless"')) return;
  res.end(request.body.includes('"cut"') ? '' : DAEMON_END);
};

t.test('very many streams, finished, cut short and aborted, leave no descriptor, timer, listener or memory behind', async (t) => {
  const server = await startServer(t, { answer, retries: 0, http: { sse: { openAfterMs: 50, keepAliveMs: 50 } } });
  const kinds = [finished, aborted, failed];
  await many(server, FIRST_STREAMS, kinds);
  const before = holdings();
  const listeners = [...server.core.events.all.values()].flat().length;
  await many(server, STREAMS, kinds);
  const after = holdings();
  // Both ends of the connections that are kept are in this process; what so many streams leak is far more.
  const slack = 2 * AT_ONCE;
  t.ok(after.descriptors <= before.descriptors + slack, `descriptors: ${before.descriptors} before, ${after.descriptors} after`);
  for (const [kind, count] of Object.entries(after.resources)) {
    const had = before.resources[kind] ?? 0;
    t.ok(count <= had + slack, `${kind}: ${had} before, ${count} after`);
  }
  const grown = after.heapBytes - before.heapBytes;
  t.comment(`${grown} bytes grown`);
  // An answer that is held somewhere takes 7 KiB.
  t.ok(grown < STREAMS * 4096, `the heap grew by ${Math.round(grown / 1024)} KiB, less than 4 KiB for each`);
  t.equal([...server.core.events.all.values()].flat().length, listeners);
  for (const event of ['uncaughtException', 'unhandledRejection', 'warning', 'exit', 'SIGTERM']) t.ok(process.listenerCount(event) < 10, event);
});

t.test('connections that stay open gather no listeners over many streams', async (t) => {
  const server = await startServer(t, { answer });
  const warnings: string[] = [];
  const note = (warning: Error): void => void warnings.push(warning.message);
  process.on('warning', note);
  t.teardown(() => process.off('warning', note));
  const sockets = new Map<object, number>();
  server.transport.server.on('request', (req) => sockets.set(req.socket, req.socket.listenerCount('close')));
  const { Agent, request: httpRequest } = await import('node:http');
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.teardown(() => agent.destroy());
  const body = JSON.stringify(STREAM);
  const counts: number[] = [];
  for (let n = 0; n < 50; n += 1) {
    const request = httpRequest({
      port: server.port,
      host: '127.0.0.1',
      method: 'POST',
      path: '/v1/chat',
      agent,
      headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json', 'content-length': body.length },
    });
    request.end(body);
    const response = await responseOf(request);
    response.resume();
    await once(response, 'end');
    counts.push(...sockets.values());
  }
  t.equal(sockets.size, 1, 'one connection');
  t.equal(Math.max(...counts), counts[0], 'no more listeners at the last request than at the first');
  t.same(warnings, []);
});

t.test('a client that stops reading holds its provider back, and costs no more than the buffers between', async (t) => {
  const line = Buffer.from(daemonLine('x'.repeat(64 * 1024)));
  const total = PROVIDER_MIB * 1024 * 1024;
  let written = 0;
  const server = await startServer(t, {
    answer: async (_request, res) => {
      while (written < total && !res.destroyed) {
        written += line.length;
        if (!res.write(line)) await once(res, 'drain');
      }
      res.end(DAEMON_END);
    },
  });
  let answered: ServerResponse | undefined;
  let mostBuffered = 0;
  server.transport.server.prependListener('request', (_req, res) => {
    answered = res;
  });
  const look = (): void => {
    mostBuffered = Math.max(mostBuffered, answered?.writableLength ?? 0);
  };
  const response = await responseOf(server.open('POST', '/v1/chat', { body: STREAM }));
  let last = -1;
  for (let still = 0; still < 40; still = written === last ? still + 1 : 0) {
    last = written;
    await delay(10);
    look();
  }
  // The kernel's own buffers, twice, are some megabytes; ours must not be counted in those.
  t.ok(written < 40 * 1024 * 1024, `${written} bytes were taken from the provider for a client that reads nothing`);
  t.ok(mostBuffered < 2 * 1024 * 1024, `${mostBuffered} bytes waited in the server`);
  let read = 0;
  response.on('data', (chunk: Buffer) => {
    read += chunk.length;
    look();
  });
  await once(response, 'end');
  t.ok(read > Math.floor(total / line.length) * 64 * 1024, `${read} bytes arrive once it reads on`);
  t.ok(mostBuffered < 2 * 1024 * 1024, `${mostBuffered} bytes waited at most`);
});
