import type dns from 'node:dns';
import type { Socket } from 'node:net';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { Upstream, type UpstreamHandler, type UpstreamRequest } from '../../adapters/http.ts';
import { BlockhouseError, type ErrorCode } from '../../core/index.ts';
import { adapterCall, type CallParts, Collector, closedPort, resolveNames, startRawUpstream } from '../support/adapter-call.ts';
import { until } from '../support/until.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';

function newUpstream(t: Test): Upstream {
  const upstream = new Upstream();
  t.teardown(() => upstream.close());
  return upstream;
}

function get(url: URL | string): UpstreamRequest {
  return { method: 'GET', url: new URL(url), headers: {} };
}

function post(url: URL | string, body = '{}'): UpstreamRequest {
  return { method: 'POST', url: new URL(url), headers: { 'content-type': 'application/json' }, body: Buffer.from(body) };
}

/** The error that a call ends with. */
async function failure(promise: Promise<void>): Promise<BlockhouseError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof BlockhouseError) return error;
    throw error;
  }
  throw new Error('the call succeeded');
}

async function refused(t: Test, promise: Promise<void>, code: ErrorCode, more: Record<string, unknown> = {}): Promise<BlockhouseError> {
  const error = await failure(promise);
  t.match(error, { code, ...more });
  return error;
}

/** Sends and waits until the connection may be used again, which is some turns of the event loop after the answer. */
async function sendThenIdle(upstream: Upstream, request: UpstreamRequest): Promise<void> {
  await upstream.send(adapterCall(), request, new Collector());
  for (let turn = 0; turn < 5; turn += 1) await nextTurn();
}

const LOOPBACK = { address: '127.0.0.1', family: 4 };
const METADATA = { address: '169.254.169.254', family: 4 };
const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

t.test('H1: where a call may go', async (t) => {
  t.test('an origin that is not allowed is refused before any connection', async (t) => {
    const server = await startRawUpstream(t, (socket) => socket.end(OK));
    const asked = resolveNames(t, () => [LOOPBACK]);
    const call = adapterCall({ egress: { ownKey: false } });
    const error = await refused(t, newUpstream(t).send(call, get(`http://somewhere.test:${server.url.port}/`), new Collector()), 'INVALID_REQUEST');
    t.match(error.message, /^config\.baseURL names http:\/\/somewhere\.test/);
    t.equal(error.mayHaveRun, false);
    t.same(asked, [], 'the name was not even looked up');
    t.equal(server.connections.length, 0);
  });

  for (const host of ['169.254.169.254', '0xA9FEA9FE', '2852039166', '[fe80::1]', '[::ffff:169.254.169.254]', 'metadata.google.internal', '0.0.0.0']) {
    t.test(`${host} is refused, whoever's key it is`, async (t) => {
      const asked = resolveNames(t, () => [LOOPBACK]);
      await refused(t, newUpstream(t).send(adapterCall(), get(`http://${host}/`), new Collector()), 'INVALID_REQUEST');
      t.same(asked, []);
    });
  }

  const families: [string, dns.LookupAddress[]][] = [
    ['a link-local address', [METADATA]],
    ['a good address and a link-local one', [LOOPBACK, METADATA]],
    ['a link-local IPv6 address', [{ address: 'fe80::1', family: 6 }]],
    ['the unspecified address, which connects to loopback', [{ address: '0.0.0.0', family: 4 }]],
  ];
  for (const [what, addresses] of families) {
    t.test(`a name that resolves to ${what} is refused without a connection`, async (t) => {
      const server = await startRawUpstream(t, (socket) => socket.end(OK));
      resolveNames(t, () => addresses);
      const error = await refused(t, newUpstream(t).send(adapterCall(), get(`http://rebound.test:${server.url.port}/`), new Collector()), 'INVALID_REQUEST');
      t.match(error.message, /link-local, metadata or unroutable/);
      t.equal(server.connections.length, 0);
    });
  }

  t.test("an origin on the operator's list may resolve to such an address", async (t) => {
    const server = await startRawUpstream(t, (socket) => socket.write(OK));
    resolveNames(t, () => [{ address: '0.0.0.0', family: 4 }]);
    const origin = `http://listed.test:${server.url.port}`;
    const answer = new Collector();
    await newUpstream(t).send(adapterCall({ egress: { allowedOrigins: new Set([origin]) } }), get(origin), answer);
    t.equal(answer.text, 'ok');
  });

  t.test('a name is looked up once and the connection goes to the address that was checked', async (t) => {
    const server = await startRawUpstream(t, (socket) => socket.write(OK));
    let first = true;
    const asked = resolveNames(t, () => {
      const addresses = first ? [LOOPBACK] : [METADATA];
      first = false;
      return addresses;
    });
    const upstream = newUpstream(t);
    for (let n = 0; n < 2; n += 1) await sendThenIdle(upstream, get(`http://pinned.test:${server.url.port}/`));
    t.same(asked, ['pinned.test']);
    t.match(server.requests[0], /\r\nhost: pinned\.test:\d+\r\n/i);
  });

  t.test('a name that does not resolve is an unreachable provider', async (t) => {
    resolveNames(t, () => []);
    const error = await refused(t, newUpstream(t).send(adapterCall(), get('http://nobody.test/'), new Collector()), 'UPSTREAM_UNREACHABLE');
    t.match(error, { retryable: true, mayHaveRun: false, message: /nobody\.test.*ENOTFOUND/ });
  });
});

t.test('H2: what is not accepted', async (t) => {
  for (const status of [301, 302, 303, 307, 308]) {
    t.test(`a ${status} is handed over as it is, and the place it names sees nothing`, async (t) => {
      const second = await startRawUpstream(t, (socket) => socket.end(OK));
      const first = await startUpstream(t, (_request, res) => {
        res.writeHead(status, { location: second.url.href });
        res.end();
      });
      const answer = new Collector();
      await newUpstream(t).send(adapterCall(), { ...post(first.url), headers: { authorization: 'Bearer secret' } }, answer);
      t.equal(answer.status, status);
      t.equal(first.requests.length, 1);
      t.equal(second.connections.length, 0);
    });
  }

  for (const encoding of ['gzip', 'br', 'deflate', 'zstd', 'gzip, gzip', 'identity, gzip']) {
    t.test(`an answer with content-encoding ${encoding} is refused without decoding, and its connection closed`, async (t) => {
      const server = await startUpstream(t, (_request, res) => {
        res.writeHead(200, { 'content-encoding': encoding });
        res.write(Buffer.alloc(1024, 0x1f));
      });
      const answer = new Collector();
      const error = await refused(t, newUpstream(t).send(adapterCall(), get(server.url), answer), 'UPSTREAM_MALFORMED');
      t.match(error, { upstreamStatus: 200, mayHaveRun: true });
      t.equal(answer.bytes, 0);
      await server.requests[0]?.closed;
    });
  }

  for (const encoding of ['identity', 'Identity', '']) {
    t.test(`content-encoding ${JSON.stringify(encoding)} is none`, async (t) => {
      const server = await startUpstream(t, (_request, res) => {
        res.writeHead(200, { 'content-encoding': encoding });
        res.end('ok');
      });
      const answer = new Collector();
      await newUpstream(t).send(adapterCall(), get(server.url), answer);
      t.equal(answer.text, 'ok');
    });
  }

  t.test('a request asks for identity, whatever the adapter thinks', async (t) => {
    const server = await startUpstream(t, (_request, res) => sendJson(res, {}));
    await newUpstream(t).send(adapterCall(), { ...get(server.url), headers: { 'accept-encoding': 'gzip' } }, new Collector());
    t.equal(server.requests[0]?.headers['accept-encoding'], 'identity');
  });

  t.test('method, path, query, headers and body arrive as given', async (t) => {
    const server = await startUpstream(t, (_request, res) => sendJson(res, {}));
    const request = { ...post(`${server.url}/a/b%2Fc?d=e%20f`, '{"x":"ü"}'), headers: { 'x-key': 'k' } };
    await newUpstream(t).send(adapterCall(), request, new Collector());
    t.match(server.requests[0], { method: 'POST', path: '/a/b%2Fc?d=e%20f', body: '{"x":"ü"}', headers: { 'x-key': 'k' } });
  });
});

t.test('H3: an aborted signal', async (t) => {
  t.test('an already aborted call opens no connection', async (t) => {
    const server = await startRawUpstream(t, (socket) => socket.end(OK));
    const reason = new Error('gone');
    const error = await refused(t, newUpstream(t).send(adapterCall({ signal: AbortSignal.abort(reason) }), get(server.url), new Collector()), 'CANCELLED');
    t.equal(error.cause, reason);
    t.equal(server.connections.length, 0);
  });

  t.test('aborted while the name is looked up: rejects at once, and no request is sent later', async (t) => {
    const server = await startRawUpstream(t, (socket) => socket.end(OK));
    const abort = new AbortController();
    resolveNames(t, () => {
      abort.abort();
      return [LOOPBACK];
    });
    await refused(t, newUpstream(t).send(adapterCall({ signal: abort.signal }), get(`http://slow.test:${server.url.port}/`), new Collector()), 'CANCELLED');
    await until('the connection that was on its way is gone', () => server.connections.every(({ closed }) => closed));
    t.same(server.requests, []);
  });

  const phases: [string, string][] = [
    ['before the headers', ''],
    ['after half of the headers', 'HTTP/1.1 200 OK\r\ncontent-'],
    ['before the first byte', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n'],
    ['in the middle of the answer', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc'],
    ['in the middle of a chunked answer', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n'],
  ];
  for (const [phase, bytes] of phases) {
    t.test(`aborted ${phase}: rejects CANCELLED and the connection is closed`, async (t) => {
      const server = await startRawUpstream(t, (socket) => socket.write(bytes));
      const abort = new AbortController();
      const answer = new Collector();
      const ended = newUpstream(t).send(adapterCall({ signal: abort.signal }), post(server.url), answer);
      await until('the request is there', () => server.requests.length === 1);
      if (bytes.endsWith('abc') || bytes.endsWith('abc\r\n')) await until('the first bytes are read', () => answer.text === 'abc');
      else if (bytes.endsWith('\r\n\r\n')) await until('the headers are read', () => answer.status === 200);
      abort.abort();
      await refused(t, ended, 'CANCELLED', { retryable: false });
      await until('the provider sees its connection closed', () => server.connections[0]?.closed === true);
    });
  }

  t.test('aborted while the reader has paused: the connection is closed', async (t) => {
    const server = await startRawUpstream(t, (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc'));
    const abort = new AbortController();
    const answer = new Collector();
    answer.writable = false;
    const ended = newUpstream(t).send(adapterCall({ signal: abort.signal }), get(server.url), answer);
    await until('the reader has paused', () => answer.paused);
    abort.abort();
    await refused(t, ended, 'CANCELLED');
    await until('the provider sees its connection closed', () => server.connections[0]?.closed === true);
    answer.resume();
    t.equal(answer.text, 'abc', 'a late resume is without effect');
  });

  t.test('an abort after the last byte changes nothing', async (t) => {
    const server = await startRawUpstream(t, (socket) => socket.write(OK));
    const abort = new AbortController();
    const answer = new Collector();
    const upstream = newUpstream(t);
    await upstream.send(adapterCall({ signal: abort.signal }), get(server.url), answer);
    abort.abort();
    for (let n = 0; n < 2; n += 1) await sendThenIdle(upstream, get(server.url));
    t.equal(server.connections[0]?.closed, false);
    t.ok(server.connections.length <= 2, 'the connection is still in use');
  });

  t.test('a signal keeps no listener of a finished call', async (t) => {
    const server = await startRawUpstream(t, (socket) => socket.write(OK));
    const { signal } = new AbortController();
    let listeners = 0;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners += 1;
      add(...args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      listeners -= 1;
      remove(...args);
    };
    await newUpstream(t).send(adapterCall({ signal }), get(server.url), new Collector());
    t.equal(listeners, 0);
  });
});

t.test('H4: limits', async (t) => {
  const silences: [string, CallParts['timeouts'], string][] = [
    ['nothing at all', { firstByteMs: 100 }, ''],
    ['headers only', { firstByteMs: 100 }, 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n'],
    ['a first byte and no more', { idleMs: 100 }, 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\na'],
  ];
  for (const [what, timeouts, bytes] of silences) {
    t.test(`a provider that sends ${what} is given up, and its connection closed`, async (t) => {
      const server = await startRawUpstream(t, (socket) => socket.write(bytes));
      const error = await refused(t, newUpstream(t).send(adapterCall({ timeouts: timeouts ?? {} }), get(server.url), new Collector()), 'UPSTREAM_TIMEOUT');
      t.match(error, { retryable: true, mayHaveRun: true, message: /for 0\.1 s/ });
      await until('the provider sees its connection closed', () => server.connections[0]?.closed === true);
    });
  }

  t.test('1xx answers do not count as a first byte', async (t) => {
    const server = await startRawUpstream(t, (socket) => {
      const timer = setInterval(() => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'), 20);
      socket.once('close', () => clearInterval(timer));
    });
    await refused(t, newUpstream(t).send(adapterCall({ timeouts: { firstByteMs: 200 } }), get(server.url), new Collector()), 'UPSTREAM_TIMEOUT');
  });

  t.test('bytes that keep coming keep the call alive beyond the idle limit', async (t) => {
    const server = await startUpstream(t, async (_request, res) => {
      res.writeHead(200);
      for (let n = 0; n < 12; n += 1) {
        res.write('.');
        await delay(100);
      }
      res.end();
    });
    const answer = new Collector();
    await newUpstream(t).send(adapterCall({ timeouts: { idleMs: 1000 } }), get(server.url), answer);
    t.equal(answer.text.length, 12);
  });

  t.test('a pause of the reader is not silence of the provider', async (t) => {
    const server = await startRawUpstream(t, (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nabc'));
    const answer = new Collector();
    answer.writable = false;
    let settled = false;
    const ended = newUpstream(t)
      .send(adapterCall({ timeouts: { idleMs: 100 } }), get(server.url), answer)
      .finally(() => {
        settled = true;
      });
    await until('the reader has paused', () => answer.paused);
    await delay(400);
    t.equal(settled, false);
    server.connections[0]?.socket.write('def');
    answer.resume();
    await ended;
    t.equal(answer.text, 'abcdef');
  });

  t.test('after a pause, silence counts again', async (t) => {
    const server = await startRawUpstream(t, (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nabc'));
    const answer = new Collector();
    answer.writable = false;
    const ended = newUpstream(t).send(adapterCall({ timeouts: { idleMs: 100 } }), get(server.url), answer);
    await until('the reader has paused', () => answer.paused);
    answer.resume();
    await refused(t, ended, 'UPSTREAM_TIMEOUT');
  });

  t.test('0 switches a limit off', async (t) => {
    const server = await startRawUpstream(t, (socket) => void setTimeout(() => socket.write(OK), 300));
    const answer = new Collector();
    await newUpstream(t).send(adapterCall({ timeouts: { connectMs: 0, firstByteMs: 0, idleMs: 0 } }), get(server.url), answer);
    t.equal(answer.text, 'ok');
  });

  t.test('a TLS handshake that is never answered ends with the connect limit', async (t) => {
    const server = await startRawUpstream(t, () => undefined);
    const error = await refused(
      t,
      newUpstream(t).send(adapterCall({ timeouts: { connectMs: 200 } }), get(`https://127.0.0.1:${server.url.port}/`), new Collector()),
      'UPSTREAM_UNREACHABLE',
    );
    t.match(error, { retryable: true, mayHaveRun: false });
  });
});

t.test('H5: connections that break', async (t) => {
  t.test('a refused connection is retryable, and nothing has run', async (t) => {
    const port = await closedPort();
    const error = await refused(t, newUpstream(t).send(adapterCall(), post(`http://127.0.0.1:${port}/`), new Collector()), 'UPSTREAM_UNREACHABLE');
    t.match(error, { retryable: true, mayHaveRun: false, message: /ECONNREFUSED/ });
  });

  const breaks: [string, (socket: Socket) => void][] = [
    ['closed', (socket) => socket.end()],
    ['reset', (socket) => socket.resetAndDestroy()],
    ['destroyed', (socket) => socket.destroy()],
  ];
  for (const [how, breakOff] of breaks) {
    t.test(`a fresh connection that is ${how} after the request is not used for a replay`, async (t) => {
      const server = await startRawUpstream(t, (socket) => breakOff(socket));
      const error = await refused(t, newUpstream(t).send(adapterCall(), post(server.url), new Collector()), 'UPSTREAM_UNREACHABLE');
      t.match(error, { retryable: true, mayHaveRun: true });
      t.equal(server.requests.length, 1);
    });

    t.test(`a kept-alive connection that is ${how} when the next request comes: that request is sent again, once, and succeeds`, async (t) => {
      const server = await startRawUpstream(t, (socket, index) => (index === 1 ? breakOff(socket) : socket.write(OK)));
      const upstream = newUpstream(t);
      await sendThenIdle(upstream, post(server.url, '{"n":1}'));
      const answer = new Collector();
      await upstream.send(adapterCall(), post(server.url, '{"n":2}'), answer);
      t.equal(answer.text, 'ok');
      t.same(
        server.requests.map((request) => request.slice(-7)),
        ['{"n":1}', '{"n":2}', '{"n":2}'],
      );
      t.equal(server.connections.length, 2);
    });
  }

  t.test('a replay that breaks too is an error, and is not repeated', async (t) => {
    const server = await startRawUpstream(t, (socket, index) => (index === 0 ? socket.write(OK) : socket.destroy()));
    const upstream = newUpstream(t);
    await sendThenIdle(upstream, post(server.url));
    await refused(t, upstream.send(adapterCall(), post(server.url), new Collector()), 'UPSTREAM_UNREACHABLE', { mayHaveRun: true });
    t.equal(server.requests.length, 3);
  });

  t.test('a replay that meets another kept-alive connection, stale too, is not repeated', async (t) => {
    let held: Socket[] = [];
    const server = await startRawUpstream(t, (socket, index) => {
      if (index > 1) socket.destroy();
      else if (held.push(socket) === 2) for (const waiting of held.splice(0)) waiting.write(OK);
    });
    const upstream = newUpstream(t);
    await Promise.all([0, 1].map(() => sendThenIdle(upstream, post(server.url))));
    held = [];
    t.equal(server.connections.length, 2);
    await refused(t, upstream.send(adapterCall(), post(server.url), new Collector()), 'UPSTREAM_UNREACHABLE', { mayHaveRun: true });
    t.equal(server.requests.length, 4);
  });

  t.test('a kept-alive connection that breaks after the provider worked for a while is not stale: nothing is sent again', async (t) => {
    const server = await startRawUpstream(t, (socket, index) => {
      if (index === 0) socket.write(OK);
      else setTimeout(() => socket.destroy(), 2500);
    });
    const upstream = newUpstream(t);
    await sendThenIdle(upstream, post(server.url));
    await refused(t, upstream.send(adapterCall(), post(server.url), new Collector()), 'UPSTREAM_UNREACHABLE', { mayHaveRun: true });
    t.equal(server.requests.length, 2);
  });

  t.test('a kept-alive connection that breaks after the first bytes is not replayed', async (t) => {
    const server = await startRawUpstream(t, (socket, index) => {
      if (index === 0) socket.write(OK);
      else socket.end('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc');
    });
    const upstream = newUpstream(t);
    await sendThenIdle(upstream, post(server.url));
    await refused(t, upstream.send(adapterCall(), post(server.url), new Collector()), 'UPSTREAM_MALFORMED', { mayHaveRun: true });
    t.equal(server.requests.length, 2);
  });

  t.test('a replay finds a connection although its pool was closed in the meantime', async (t) => {
    const upstream = newUpstream(t);
    const server = await startRawUpstream(t, (socket, index) => {
      if (index !== 1) {
        socket.write(OK);
        return;
      }
      const others = Array.from({ length: 64 }, (_, n) => upstream.send(adapterCall(), get(`http://h${n}.test:${server.url.port}/`), new Collector()));
      void Promise.all(others).then(() => socket.destroy());
    });
    resolveNames(t, () => [LOOPBACK]);
    await sendThenIdle(upstream, get(server.url));
    const answer = new Collector();
    await upstream.send(adapterCall(), get(server.url), answer);
    t.equal(answer.text, 'ok');
  });
});

t.test('answers that are not as HTTP wants them', async (t) => {
  const damaged: [string, string][] = [
    ['headers of more than 64 KiB', `HTTP/1.1 200 OK\r\n${'x-flood: 0123456789abcdef\r\n'.repeat(3000)}\r\n`],
    ['no HTTP', 'SSH-2.0-OpenSSH_9.6\r\n'],
    ['content-length beside transfer-encoding', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['two different content-lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nabc'],
    ['a bad chunk size', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n'],
    ['a 100 that was not asked for', 'HTTP/1.1 100 Continue\r\n\r\n'],
    ['a switch of protocols', 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n'],
  ];
  for (const reused of [false, true]) {
    for (const [what, bytes] of damaged) {
      t.test(`${what} on a ${reused ? 'kept-alive' : 'fresh'} connection is UPSTREAM_MALFORMED, and is not sent again`, async (t) => {
        const server = await startRawUpstream(t, (socket, index) => socket.write(reused && index === 0 ? OK : bytes));
        const upstream = newUpstream(t);
        if (reused) await sendThenIdle(upstream, get(server.url));
        await refused(t, upstream.send(adapterCall(), get(server.url), new Collector()), 'UPSTREAM_MALFORMED', { mayHaveRun: true });
        t.equal(server.requests.length, reused ? 2 : 1);
        await until('the connection is closed', () => server.connections.every(({ closed }) => closed));
      });
    }
  }

  const cut: [string, string][] = [
    ['less than its content-length', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc'],
    ['headers without a body', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n'],
    ['chunks without the last', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n'],
    ['half a chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n9\r\nabc'],
  ];
  for (const [what, bytes] of cut) {
    for (const how of ['end', 'resetAndDestroy'] as const) {
      t.test(`${what}, then ${how === 'end' ? 'the end' : 'a reset'}, is a cut answer`, async (t) => {
        const server = await startRawUpstream(t, (socket) => {
          socket.write(bytes);
          setTimeout(() => socket[how](), 50);
        });
        await refused(t, newUpstream(t).send(adapterCall(), get(server.url), new Collector()), 'UPSTREAM_MALFORMED', {
          mayHaveRun: true,
          message: /cut short/,
        });
      });
    }
  }

  t.test('an answer without a length ends with its connection', async (t) => {
    const server = await startRawUpstream(t, (socket) => socket.end('HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nall of it'));
    const answer = new Collector();
    await newUpstream(t).send(adapterCall(), get(server.url), answer);
    t.equal(answer.text, 'all of it');
  });

  t.test('102 and 103 are skipped', async (t) => {
    const server = await startRawUpstream(t, (socket) => socket.write(`HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n${OK}`));
    const answer = new Collector();
    await newUpstream(t).send(adapterCall(), get(server.url), answer);
    t.equal(answer.status, 200);
    t.equal(answer.text, 'ok');
    t.equal(answer.headers['link'], undefined);
  });

  t.test('bytes behind an answer do not become the next one', async (t) => {
    const server = await startRawUpstream(t, (socket, index) => {
      if (index === 0) socket.write(`${OK}HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nforged`);
      else socket.write(OK);
    });
    const upstream = newUpstream(t);
    await sendThenIdle(upstream, get(server.url));
    const answer = new Collector();
    await upstream.send(adapterCall(), get(server.url), answer);
    t.equal(answer.text, 'ok');
  });
});

t.test('back-pressure: a reader that pauses stops the provider, and gets everything once it goes on', async (t) => {
  const total = 64 * 1024 * 1024;
  const piece = Buffer.alloc(64 * 1024, 'x');
  let written = 0;
  const server = await startUpstream(t, (_request, res) => {
    const write = (): void => {
      while (written < total) {
        written += piece.length;
        if (!res.write(piece)) {
          res.once('drain', write);
          return;
        }
      }
      res.end();
    };
    write();
  });
  const answer = new Collector();
  answer.writable = false;
  const ended = newUpstream(t).send(adapterCall(), get(server.url), answer);
  await until('the reader has paused', () => answer.paused);
  let last = -1;
  for (let still = 0; still < 5; still = written === last ? still + 1 : 0) {
    last = written;
    await delay(50);
  }
  t.ok(written < total / 2, `${written} bytes were written to a paused reader`);
  const atPause = answer.bytes;
  await delay(50);
  t.equal(answer.bytes, atPause, 'a paused reader gets nothing');
  answer.resume();
  await ended;
  t.equal(answer.bytes, total);
});

t.test('back-pressure: a pause that ends at once loses nothing', async (t) => {
  const server = await startUpstream(t, (_request, res) => {
    res.write('a'.repeat(200_000));
    res.end('b'.repeat(200_000));
  });
  let bytes = 0;
  const eager: UpstreamHandler = {
    head: () => undefined,
    data(chunk) {
      bytes += chunk.length;
      return false;
    },
    onceWritable: (resume) => resume(),
  };
  await newUpstream(t).send(adapterCall(), get(server.url), eager);
  t.equal(bytes, 400_000);
});

t.test('what a handler throws ends the call with that error, and the connection', async (t) => {
  for (const where of ['head', 'data'] as const) {
    t.test(`in ${where}`, async (t) => {
      const server = await startRawUpstream(t, (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc'));
      const thrown = new Error('enough');
      const handler = new Collector();
      handler[where] = () => {
        throw thrown;
      };
      await t.rejects(newUpstream(t).send(adapterCall(), get(server.url), handler), thrown);
      await until('the connection is closed', () => server.connections[0]?.closed === true);
    });
  }
});

t.test('pools', async (t) => {
  t.test('at most 64 origins keep connections, and a live request survives the eviction of its own', async (t) => {
    const upstream = newUpstream(t);
    let live: Socket | undefined;
    const server = await startRawUpstream(t, (socket, index) => {
      if (index === 0) {
        live = socket;
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nabc');
      } else socket.write(OK);
    });
    resolveNames(t, () => [LOOPBACK]);
    const open = (): number => server.connections.filter(({ closed }) => !closed).length;
    const answer = new Collector();
    const ended = upstream.send(adapterCall(), get(`http://first.test:${server.url.port}/`), answer);
    await until('the first answer has begun', () => answer.text === 'abc');
    for (let n = 0; n < 80; n += 1) await upstream.send(adapterCall(), get(`http://h${n}.test:${server.url.port}/`), new Collector());
    await until('64 idle connections and the live one are left', () => open() <= 65);
    t.equal(open(), 65);
    live?.write('def');
    await ended;
    t.equal(answer.text, 'abcdef');
    await until('the connection of the evicted pool is gone', () => open() === 64);
  });

  t.test('requests at the same time have connections of their own; one after the other they share', async (t) => {
    const waiting: Socket[] = [];
    const server = await startRawUpstream(t, (socket, index) => {
      if (index >= 3) socket.write(OK);
      else if (waiting.push(socket) === 3) for (const one of waiting) one.write(OK);
    });
    const upstream = newUpstream(t);
    await Promise.all([1, 2, 3].map(() => sendThenIdle(upstream, get(server.url))));
    for (let n = 0; n < 3; n += 1) await sendThenIdle(upstream, get(server.url));
    t.equal(server.connections.length, 3);
  });

  t.test('close ends idle connections and running calls', async (t) => {
    const server = await startRawUpstream(t, (socket, index) => (index === 0 ? socket.write(OK) : undefined));
    const upstream = new Upstream();
    await sendThenIdle(upstream, get(server.url));
    const ended = failure(upstream.send(adapterCall(), get(server.url), new Collector()));
    await until('the second request is there', () => server.requests.length === 2);
    await upstream.close();
    t.match(await ended, { code: 'SHUTTING_DOWN', retryable: false, mayHaveRun: true });
    await until('every connection is closed', () => server.connections.every(({ closed }) => closed));
    t.equal(server.requests.length, 2, 'nothing is sent again');
  });
});
