import t from 'tap';
import { parserFailure } from '../../../transports/http/connection.ts';
import { exchange, RawClient } from '../../support/raw.ts';
import { CHAT, daemonLine, startServer, until } from '../../support/server.ts';

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

t.test('a client that leaves aborts every request it has pipelined', async (t) => {
  const server = await startServer(t, { answer: () => undefined });
  const client = await RawClient.connect(t, server.port);
  const head = `Host: localhost:${server.port}\r\nAuthorization: Bearer ${server.token}\r\n`;
  client.send(`GET /v1/adapters/ollama/models HTTP/1.1\r\n${head}\r\n`.repeat(3));
  await server.upstream.arrived(2);
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
