import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { parserFailure } from '../../../../transports/http/wire/connection.ts';
import { exchange, RawClient } from '../../../support/raw.ts';
import { CHAT, DAEMON_END, daemonLine, startServer, until } from '../../../support/server.ts';

const STREAM = JSON.stringify({ ...CHAT, stream: true });

t.test('what the parser refuses has the code of its fault', async (t) => {
  const cases: [code: string | undefined, status: number][] = [
    ['HPE_HEADER_OVERFLOW', 431],
    ['ERR_HTTP_REQUEST_TIMEOUT', 408],
    ['HPE_INVALID_METHOD', 400],
    [undefined, 400],
  ];
  for (const [code, status] of cases) t.equal(parserFailure(code).status, status, String(code));
});

t.test('bytes that are no request get the error body and the headers of every answer', async (t) => {
  const { port } = await startServer(t);
  const { responses } = await exchange(t, port, 'hello\r\n\r\n');
  t.equal(responses.length, 1);
  t.match(JSON.parse(responses[0]?.body ?? ''), { status: 400, code: 'INVALID_REQUEST', error: String });
  t.match(Object.fromEntries(responses[0]?.headers ?? []), {
    'content-type': 'application/json; charset=utf-8',
    connection: 'close',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
});

t.test('garbage behind a request is never answered into the stream that is open', async (t) => {
  const server = await startServer(t, {
    answer: (_request, res) => {
      res.writeHead(200);
      res.write(daemonLine('first'));
    },
  });
  const client = await RawClient.connect(t, server.port);
  client.send(
    `POST /v1/chat HTTP/1.1\r\nHost: localhost:${server.port}\r\nAuthorization: Bearer ${server.token}\r\nContent-Type: application/json\r\nContent-Length: ${STREAM.length}\r\n\r\n${STREAM}`,
  );
  await until(() => client.received.includes('first'), 'the first fragment');
  client.send('garbage\r\n\r\n');
  await client.untilClosed();
  t.equal(client.received.split('HTTP/1.1 ').length, 2, 'one status line');
  await server.upstream.requests[0]?.closed;
});

for (const [what, bytes] of [
  ['garbage', 'garbage\r\n\r\n'],
  ['a CONNECT', 'CONNECT x.test:443 HTTP/1.1\r\nHost: x.test\r\n\r\n'],
] as const) {
  t.test(`${what} behind a request whose answer has not begun is not answered in its place`, async (t) => {
    const server = await startServer(t, { answer: () => undefined });
    const client = await RawClient.connect(t, server.port);
    const head = `Host: localhost:${server.port}\r\nAuthorization: Bearer ${server.token}\r\n`;
    client.send(`GET /v1/adapters/ollama/models HTTP/1.1\r\n${head}\r\n`);
    await server.upstream.arrived(0);
    client.send(bytes);
    await client.untilClosed();
    t.equal(client.received, '');
    await server.upstream.requests[0]?.closed;
  });
}

t.test('of two streams that are pipelined to a client which reads slowly, both come to their end', async (t) => {
  const many = daemonLine('a'.repeat(16_000));
  const server = await startServer(t, {
    answer: async (_request, res, index) => {
      res.writeHead(200);
      for (let n = 0; n < (index === 0 ? 900 : 20) && !res.destroyed; n += 1) {
        if (!res.write(index === 0 ? many : daemonLine('b'))) await Promise.race([once(res, 'drain'), once(res, 'close')]);
        if (index === 1) await delay(5);
      }
      res.end(DAEMON_END);
    },
  });
  const client = await RawClient.connect(t, server.port);
  client.socket.pause();
  const head = `Host: localhost:${server.port}\r\nAuthorization: Bearer ${server.token}\r\nContent-Type: application/json\r\n`;
  client.send(`POST /v1/chat HTTP/1.1\r\n${head}Content-Length: ${STREAM.length}\r\n\r\n${STREAM}`.repeat(2));
  await until(() => server.upstream.requests.length === 2, 'both requests are there');
  await server.upstream.requests[1]?.closed; // all of the second answer came while the first was unread
  client.socket.resume();
  const ends = (): string[] => client.received.match(/event: (done|error)/g) ?? [];
  await until(() => client.closed || ends().length === 2, 'both answers have ended');
  t.strictSame(ends(), ['event: done', 'event: done']);
  t.equal(client.received.split('a'.repeat(16_000)).length - 1, 900);
});

t.test('a client that leaves aborts every request it has pipelined', async (t) => {
  const server = await startServer(t, { answer: () => undefined });
  const client = await RawClient.connect(t, server.port);
  const head = `Host: localhost:${server.port}\r\nAuthorization: Bearer ${server.token}\r\n`;
  client.send(`GET /v1/adapters/ollama/models HTTP/1.1\r\n${head}\r\n`.repeat(3));
  await server.upstream.arrived(0); // the same question is asked once
  client.socket.destroy();
  await Promise.all(server.upstream.requests.map(({ closed }) => closed));
  await until(() => server.log.filter(({ fields }) => fields['status'] === 499).length === 3, 'three requests that were cancelled');
  t.equal(server.log.filter(({ level }) => level === 'error').length, 0);
});

t.test('what never became a request has a request id too, in the answer and in the log', async (t) => {
  const server = await startServer(t);
  const { received } = await exchange(t, server.port, 'GET / HTTP/1.1\r\nbad header\r\n\r\n');
  const id = /x-request-id: (\S+)/.exec(received)?.[1] ?? 'none';
  t.match(received, `"requestId":"${id}"`);
  await until(() => server.log.some((line) => JSON.stringify(line).includes(id)), 'the log line');
});
