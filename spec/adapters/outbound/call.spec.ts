import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { EnoughRead } from '../../../adapters/outbound/call.ts';
import type { UpstreamHandler } from '../../../adapters/outbound/client.ts';
import { BodyCollector } from '../../../adapters/shared/response-handlers.ts';
import { adapterCall, type CallParts, Collector, resolveNames, startRawUpstream } from '../../support/adapter-call.ts';
import { fakeTimers, someTurns } from '../../support/fake-timers.ts';
import { until } from '../../support/until.ts';
import { startUpstream } from '../../support/upstream.ts';
import { get, newUpstream, post, refused, sendThenIdle } from '../../support/upstream-call.ts';

const LOOPBACK = { address: '127.0.0.1', family: 4 };
const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
const CONTINUE = 'HTTP/1.1 100 Continue\r\nx-note: why not\r\n\r\n';

t.test('abort-now: an aborted signal', async (t) => {
  t.test('an already aborted call opens no connection', async (t) => {
    const server = await startRawUpstream(t, (socket) => socket.end(OK));
    const reason = new Error('gone');
    const error = await refused(t, newUpstream(t).send(adapterCall({ signal: AbortSignal.abort(reason) }), get(server.url), new Collector()), 'CANCELLED');
    t.equal(error.cause, reason);
    t.equal(error.mayHaveRun, false);
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

  t.test('aborted while the connection is made: it is given up at once, and the next call opens its own', async (t) => {
    const upstream = newUpstream(t);
    // The first byte of a TLS handshake is never answered.
    const server = await startRawUpstream(t, () => undefined);
    const connecting = get(`https://127.0.0.1:${server.url.port}/`);
    for (let call = 1; call <= 3; call += 1) {
      const abort = new AbortController();
      const ended = upstream.send(adapterCall({ signal: abort.signal, timeouts: { connectMs: 3_600_000 } }), connecting, new Collector());
      await until('the connection is there', () => server.connections.length === call);
      abort.abort();
      await refused(t, ended, 'CANCELLED');
      await until('and is gone', () => server.connections.every(({ closed }) => closed));
    }
    const answering = await startRawUpstream(t, (socket) => socket.end(OK));
    await upstream.send(adapterCall({}), get(answering.url), new Collector());
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
      await refused(t, ended, 'CANCELLED', { retryable: false, mayHaveRun: true });
      await until('the provider sees its connection closed', () => server.connections[0]?.closed === true);
    });
  }

  t.test('with `until`, a call that was sent is read on when its caller leaves, and ends with `until`', async (t) => {
    for (const isRead of [true, false]) {
      const server = await startRawUpstream(t, (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nabc'));
      const [abort, last] = [new AbortController(), new AbortController()];
      const answer = new Collector();
      const ended = newUpstream(t).send(adapterCall({ signal: abort.signal, until: last.signal }), post(server.url), answer);
      await until('the first bytes are read', () => answer.text === 'abc');
      abort.abort();
      t.equal(server.connections[0]?.closed, false);
      if (isRead) {
        server.connections[0]?.socket.write('def');
        await ended;
        t.equal(answer.text, 'abcdef');
      } else {
        last.abort();
        await refused(t, ended, 'CANCELLED', { mayHaveRun: true });
      }
    }
  });

  t.test('with `until`, a call of which nothing was sent ends at once when its caller leaves', async (t) => {
    const server = await startRawUpstream(t, () => undefined);
    const abort = new AbortController();
    const connecting = post(`https://127.0.0.1:${server.url.port}/`); // its handshake is never answered
    const call = adapterCall({ signal: abort.signal, until: new AbortController().signal, timeouts: { connectMs: 3_600_000 } });
    const ended = newUpstream(t).send(call, connecting, new Collector());
    await until('the connection is there', () => server.connections.length === 1);
    abort.abort();
    await refused(t, ended, 'CANCELLED', { mayHaveRun: false });
  });

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

  t.test('a signal has one listener, however many calls it has seen', async (t) => {
    const server = await startRawUpstream(t, (socket) => socket.write(OK));
    const { signal } = new AbortController();
    let listeners = 0;
    const add = signal.addEventListener.bind(signal);
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners += 1;
      add(...args);
    };
    const upstream = newUpstream(t);
    for (let call = 0; call < 3; call += 1) await upstream.send(adapterCall({ signal }), get(server.url), new Collector());
    t.equal(listeners, 1);
  });
});

t.test('own-limits: limits', async (t) => {
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

t.test('answers that are not as HTTP wants them', async (t) => {
  const damaged: [string, string][] = [
    ['headers of more than 64 KiB', `HTTP/1.1 200 OK\r\n${'x-flood: 0123456789abcdef\r\n'.repeat(3000)}\r\n`],
    ['no HTTP', 'SSH-2.0-OpenSSH_9.6\r\n'],
    ['content-length beside transfer-encoding', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['two different content-lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nabc'],
    ['a bad chunk size', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n'],
    ['line feeds alone', 'HTTP/1.1 200 OK\ncontent-length: 2\n\nok'],
    ['an object in place of chunks', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{"a":1}'],
    ['a flood of 102', 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(3000)],
    ['a 100 that never ends', `HTTP/1.1 100 Continue\r\n${'x-flood: 0123456789abcdef\r\n'.repeat(3000)}`],
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

  for (const reused of [false, true]) {
    for (const pieces of [[CONTINUE + OK], [CONTINUE, OK], [...CONTINUE, OK], [CONTINUE + CONTINUE.slice(0, 10), CONTINUE.slice(10) + OK]]) {
      const how = `${pieces.length === 1 ? 'with the answer' : `in ${pieces.length} pieces`}, on a ${reused ? 'kept-alive' : 'fresh'} connection`;
      t.test(`a 100 Continue that was not asked for is skipped, ${how}`, async (t) => {
        const server = await startRawUpstream(t, async (socket, index) => {
          if (reused && index === 0) socket.write(OK);
          else
            for (const piece of pieces) {
              socket.write(piece);
              await delay(2);
            }
        });
        const upstream = newUpstream(t);
        if (reused) await sendThenIdle(upstream, post(server.url));
        const answer = new Collector();
        await upstream.send(adapterCall(), post(server.url), answer);
        t.match(answer, { status: 200, text: 'ok' });
        await delay(10);
        await sendThenIdle(upstream, post(server.url));
        t.equal(server.connections.length, 1, 'the connection stays in use');
      });
    }
  }

  for (const start of ['HTTP', 'HTTP/1.1 1', 'HTTP/1.1 100', 'HTTP/1.1 100 Continue\r\n']) {
    t.test(`a connection that ends behind ${JSON.stringify(start)} has broken before the answer`, async (t) => {
      const server = await startRawUpstream(t, (socket) => void socket.end(start));
      await refused(t, newUpstream(t).send(adapterCall(), post(server.url), new Collector()), 'UPSTREAM_UNREACHABLE', { mayHaveRun: true, retryable: false });
    });
  }

  t.test('an answer that looks like a 100 Continue for its first bytes is read whole', async (t) => {
    const server = await startRawUpstream(t, async (socket) => {
      for (const piece of [OK.slice(0, 9), OK.slice(9, 11), OK.slice(11)]) {
        socket.write(piece);
        await delay(5);
      }
    });
    const answer = new Collector();
    await newUpstream(t).send(adapterCall(), post(server.url), answer);
    t.equal(answer.text, 'ok');
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

t.test('a header that would break the request is not sent', async (t) => {
  const server = await startRawUpstream(t, (socket) => socket.write(OK));
  for (const headers of [{ 'x-a': 'b\r\nx-c: d' }, { 'x-a\r\nx-c': 'd' }, { 'x-a': '\u20ac' }, { 'x a': 'b' }, { '': 'b' }]) {
    await t.rejects(newUpstream(t).send(adapterCall(), { ...get(server.url), headers }, new Collector()), /can't be sent/);
  }
  t.equal(server.connections.length, 0);
});

t.test('what the call says itself is said once', async (t) => {
  const server = await startRawUpstream(t, (socket) => socket.write(OK));
  const headers = { Host: 'elsewhere.test', connection: 'close', 'Content-Length': '9', 'transfer-encoding': 'chunked', 'x-a': 'b' };
  await newUpstream(t).send(adapterCall(), { ...post(server.url, 'body'), headers }, new Collector());
  const lines = server.requests[0]?.split('\r\n');
  t.strictSame(lines, [
    'POST / HTTP/1.1',
    `host: 127.0.0.1:${server.url.port}`,
    'connection: keep-alive',
    'accept-encoding: identity',
    'x-a: b',
    'content-length: 4',
    '',
    'body',
  ]);
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
    complete: false,
    head: () => undefined,
    data(chunk) {
      bytes += chunk.length;
      return false;
    },
    onceWritable: (resume) => resume(),
    end: () => undefined,
  };
  await newUpstream(t).send(adapterCall(), get(server.url), eager);
  t.equal(bytes, 400_000);
});

t.test('released: an answer whose connection ends while its reader pauses is handed over first', async (t) => {
  const CLOSE = 'connection: close\r\n';
  const answers: [what: string, head: string, body: string, whole: 'whole' | 'cut'][] = [
    ['without a length', `HTTP/1.1 200 OK\r\n${CLOSE}\r\n`, 'hello', 'whole'],
    ['of HTTP/1.0', 'HTTP/1.0 200 OK\r\n\r\n', 'hello', 'whole'],
    ['in chunks, whole', `HTTP/1.1 200 OK\r\n${CLOSE}transfer-encoding: chunked\r\n\r\n`, '5\r\nhello\r\n0\r\n\r\n', 'whole'],
    ['in chunks, cut', `HTTP/1.1 200 OK\r\n${CLOSE}transfer-encoding: chunked\r\n\r\n`, '5\r\nhello\r\n', 'cut'],
    ['shorter than its length', `HTTP/1.1 200 OK\r\n${CLOSE}content-length: 10\r\n\r\n`, 'hello', 'cut'],
    ['in chunks, cut, of a connection that was to be kept', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n', '5\r\nhello\r\n', 'cut'],
  ];
  for (const [what, head, body, end] of answers) {
    for (const how of ['end', 'resetAndDestroy'] as const) {
      t.test(`${what}, by ${how === 'end' ? 'its end' : 'a reset'}`, async (t) => {
        const answer = new Collector();
        answer.writable = false;
        const server = await startRawUpstream(t, (socket) => socket.write(head + body));
        const ended = newUpstream(t).send(adapterCall(), get(server.url), answer);
        ended.catch(() => undefined); // looked at below
        await until('the reader has paused', () => answer.paused);
        server.connections[0]?.socket[how]();
        await delay(50);
        answer.resume();
        if (end === 'whole') await ended;
        else await refused(t, ended, 'UPSTREAM_MALFORMED', { mayHaveRun: true });
        t.equal(answer.text, 'hello');
        t.equal(answer.ended, end === 'whole');
      });
    }
  }

  t.test('the pause of an earlier answer is not that of a later one', async (t) => {
    const server = await startRawUpstream(t, (socket, index) => {
      if (index === 0) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello');
      else socket.end(`HTTP/1.1 200 OK\r\n${CLOSE}\r\nworld`);
    });
    const upstream = newUpstream(t);
    for (const expected of ['hello', 'world']) {
      const answer = new Collector();
      answer.writable = false;
      const ended = upstream.send(adapterCall(), get(server.url), answer);
      await until('the reader has paused', () => answer.paused);
      answer.resume();
      await ended;
      t.equal(answer.text, expected);
    }
  });
});

t.test('what a handler throws ends the call with that error, and the connection', async (t) => {
  for (const where of ['head', 'data', 'end'] as const) {
    t.test(`in ${where}`, async (t) => {
      const server = await startRawUpstream(
        t,
        (socket) => void socket.write(`HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: ${where === 'end' ? 3 : 10}\r\n\r\nabc`),
      );
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

t.test('a handler that wants nothing more is served at once, and the connection is closed', async (t) => {
  const server = await startRawUpstream(t, (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc'));
  const handler = new Collector();
  handler.data = () => {
    throw new EnoughRead();
  };
  await newUpstream(t).send(adapterCall(), get(server.url), handler);
  t.equal(handler.ended, true);
  await until('the connection is closed', () => server.connections[0]?.closed === true);
});

t.test('linger: a handler that has all it needs', async (t) => {
  for (const [what, end] of [
    ['stalls', () => undefined],
    ['is reset', (res: ServerResponse) => res.socket?.resetAndDestroy()],
    ['ends', (res: ServerResponse) => res.end()],
  ] as const) {
    t.test(`is served although its connection ${what}`, async (t) => {
      const upstream = await startUpstream(t, (_request, res) => {
        res.writeHead(200);
        res.write('all', () => end(res));
      });
      const handler = new Collector();
      handler.completeAfter = 3;
      await newUpstream(t).send(adapterCall(), get(upstream.url), handler);
      t.equal(handler.text, 'all');
      t.equal(handler.ended, true);
      await upstream.requests[0]?.closed;
    });
  }
});

t.test('a call settles with what its handler still does after the end of the answer', async (t) => {
  const upstream = await startUpstream(t, (_request, res) => void res.end('all'));
  const send = (rest: () => Promise<void>): Promise<void> => {
    const handler = new Collector();
    handler.end = rest;
    return newUpstream(t).send(adapterCall(), get(upstream.url), handler);
  };
  await send(async () => undefined);
  await t.rejects(
    send(() => Promise.reject(new Error('unreadable'))),
    { message: 'unreadable' },
  );
});

t.test('the body of an error may come a while after its head', async (t) => {
  const pass = fakeTimers(t);
  const server = await startRawUpstream(t, (socket) => socket.write('HTTP/1.1 429 Too Many Requests\r\ncontent-length: 5\r\n\r\n'));
  const handler = new BodyCollector();
  const ended = newUpstream(t).send(adapterCall(), get(server.url), handler);
  while (!handler.complete) await someTurns(); // the head has come
  await pass(4900);
  server.connections[0]?.socket.write('quota');
  await ended;
  t.match(handler.answer(), { status: 429, text: 'quota' });
});

t.test('of an error that came compressed the status and the headers are told', async (t) => {
  const server = await startRawUpstream(t, (socket) =>
    socket.write('HTTP/1.1 429 Too Many Requests\r\nretry-after: 7\r\ncontent-encoding: gzip\r\ncontent-length: 100\r\n\r\nnever read'),
  );
  const handler = new BodyCollector();
  await newUpstream(t).send(adapterCall(), get(server.url), handler);
  t.match(handler.answer(), { status: 429, headers: { 'retry-after': '7' }, text: '' });
  await until('the connection is closed', () => server.connections[0]?.closed === true);
});

t.test('the error for a compressed answer names a coding that is known, and quotes no other text of its header', async (t) => {
  const table: [coding: string, message: string][] = [
    ['GZIP', 'The provider compressed its answer (gzip) although it was asked not to.'],
    ['deflate, br', 'The provider compressed its answer (deflate, br) although it was asked not to.'],
    ['gzip, key-of-the-owner-0123456789', 'The provider compressed its answer although it was asked not to.'],
    ['Bearer key-of-the-owner-0123456789', 'The provider compressed its answer although it was asked not to.'],
  ];
  for (const [coding, message] of table) {
    const server = await startRawUpstream(t, (socket) =>
      socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: ${coding}\r\ncontent-length: 100\r\n\r\nnever read`),
    );
    await t.rejects(newUpstream(t).send(adapterCall(), get(server.url), new BodyCollector()), { code: 'UPSTREAM_MALFORMED', message }, coding);
  }
});
