// Connections to the provider: which are used again, and whose clock ends a silence.
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { fakeTimers, someTurns } from '../support/fake-timers.ts';
import { CHAT, DAEMON_END, daemonLine, friendlyDaemon, responseOf, startServer, type TestServerOptions, until } from '../support/server.ts';
import type { Answerer } from '../support/upstream.ts';

const STREAM = { ...CHAT, stream: true };

/** Answers the first request with `first`, the next ones as they should be; tells which sockets they came on. */
function onSockets(first: Answerer): { readonly sockets: (Socket | null)[]; readonly answer: Answerer } {
  const sockets: (Socket | null)[] = [];
  const answer: Answerer = (request, res, index) => {
    sockets.push(res.socket);
    return (index === 0 ? first : friendlyDaemon)(request, res, index);
  };
  return { sockets, answer };
}

t.test('a connection whose answer was not read to its end is closed, and never carries another request', async (t) => {
  const half = daemonLine('half');
  const broken: [title: string, first: Answerer, options?: TestServerOptions][] = [
    ['a line that is no JSON', (_request, res) => void res.write(`${half}<html>\n`)],
    ['an error line', (_request, res) => void res.write(`${half}{"error":"runner died"}\n`)],
    ['silence in the middle', (_request, res) => void res.write(half), { timeouts: { idleMs: 100 } }],
    ['silence before the first byte', () => undefined, { timeouts: { firstByteMs: 100 } }],
    [
      'a compressed answer',
      (_request, res) => {
        res.writeHead(200, { 'content-encoding': 'gzip' });
        res.write('x');
      },
    ],
    [
      'an error whose body never ends',
      (_request, res) => {
        res.writeHead(400, { 'content-type': 'application/json' });
        res.write('{"error":"no');
      },
      { timeouts: { idleMs: 100 } },
    ],
    ['an end mark without an end', (_request, res) => void res.write(half + DAEMON_END)],
  ];
  for (const [title, first, options] of broken) {
    const { sockets, answer } = onSockets(first);
    const server = await startServer(t, { answer, retries: 0, ...options });
    await server.call('POST', '/v1/chat', { body: STREAM });
    await server.upstream.requests[0]?.closed;
    t.match(await server.call('POST', '/v1/chat', { body: STREAM }), { status: 200, text: /Hello[\s\S]*event: done/ }, title);
    t.equal(server.upstream.requests.length, 2, `${title}: and was not sent again`);
    t.not(sockets[1], sockets[0], `${title}: another connection`);
    await until(() => sockets[0]?.destroyed === true, 'the end of the first connection');
  }
});

t.test('a connection whose client left is closed, and never carries another request', async (t) => {
  const { sockets, answer } = onSockets((_request, res) => void res.write(daemonLine('half')));
  const server = await startServer(t, { answer });
  const request = server.open('POST', '/v1/chat', { body: STREAM });
  request.on('error', () => undefined); // we break it ourselves
  const response = await responseOf(request);
  response.on('error', () => undefined);
  request.destroy();
  await server.upstream.requests[0]?.closed;
  t.match(await server.call('POST', '/v1/chat', { body: STREAM }), { status: 200 });
  t.not(sockets[1], sockets[0]);
});

t.test('a connection whose answer came whole carries the next request', async (t) => {
  const { sockets, answer } = onSockets(friendlyDaemon);
  const server = await startServer(t, { answer });
  for (let n = 0; n < 4; n += 1) {
    await server.call('POST', '/v1/chat', { body: STREAM });
    await delay(20); // some turns of the event loop until it may be used again
  }
  // The first chat comes right behind the question for the model's context, whose connection may not be free again.
  t.equal(new Set(sockets.slice(1)).size, 1);
});

t.test('seven minutes of silence end nothing where our own limits are off, neither before the first byte nor after it', async (t) => {
  const pass = fakeTimers(t);
  let answer = (): void => undefined;
  const server = await startServer(t, {
    timeouts: { firstByteMs: 0, idleMs: 0 },
    retries: 0,
    answer: (request, res, index) =>
      new Promise((resolve) => {
        const streamed = request.body.includes('"stream":true');
        if (index > 1) {
          res.writeHead(200);
          res.write(streamed ? daemonLine('Hello') : '{"message":{"content":"Hello, you"},');
        }
        answer = () => {
          if (index <= 1) void friendlyDaemon(request, res, index);
          else res.end(streamed ? DAEMON_END : '"done":true,"done_reason":"stop"}');
          resolve();
        };
      }),
  });
  for (const [index, body] of [CHAT, STREAM, CHAT, STREAM].entries()) {
    const done = server.call('POST', '/v1/chat', { body });
    await server.upstream.arrived(index);
    await someTurns(); // for the head and the first bytes of the later two to be read
    await pass(7 * 60_000);
    answer();
    t.match(await done, { status: 200, text: /Hello/ });
  }
});

t.test('the limits for receiving a request do not end one whose answer is long in coming', async (t) => {
  let answer = (): void => undefined;
  const server = await startServer(t, {
    answer: (request, res, index) =>
      new Promise((resolve) => {
        answer = () => {
          void friendlyDaemon(request, res, index);
          resolve();
        };
      }),
  });
  const { server: http } = server.transport;
  t.equal(http.timeout, 0, 'no limit on the silence of a socket');
  http.headersTimeout = 50;
  http.requestTimeout = 50;
  const done = server.call('POST', '/v1/chat', { body: STREAM });
  await server.upstream.arrived(0);
  await delay(2500); // two rounds of the server's search for requests that are late
  answer();
  t.match(await done, { status: 200, text: /event: done/ });
});

t.test('our own limits end a silence, as a 502 that says which', async (t) => {
  for (const [body, timeouts, said] of [
    [CHAT, { firstByteMs: 100 }, /sent nothing for 0\.1 s/],
    [STREAM, { firstByteMs: 100 }, /sent nothing for 0\.1 s/],
    [CHAT, { idleMs: 100 }, /stopped in the middle of its answer for 0\.1 s/],
  ] as const) {
    const server = await startServer(t, {
      timeouts,
      answer: (_request, res) => {
        if ('idleMs' in timeouts) res.write('{');
      },
    });
    t.match(await server.call('POST', '/v1/chat', { body }), { status: 502, json: { code: 'UPSTREAM_TIMEOUT', error: said } });
    t.equal(server.upstream.requests.length, 1, 'and nothing is sent again: the provider may be at work');
  }
});
