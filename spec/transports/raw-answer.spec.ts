import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { parseJson } from '../../core/base/json.ts';
import { BlockhouseError, type ErrorCode } from '../../core/index.ts';
import { answerRaw, COMMON_HEADERS } from '../../transports/raw-answer.ts';
import { exchange, RawClient } from '../support/raw.ts';
import { until } from '../support/until.ts';

/** A server that does this with every connection once something has arrived on it. */
async function listen(t: Test, serve: (socket: Socket) => void): Promise<number> {
  const server = createServer((socket) => void socket.once('data', () => serve(socket)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  return (server.address() as AddressInfo).port;
}

t.test('the answer has the error body and the headers of every answer, and ends the connection', async (t) => {
  const port = await listen(t, (socket) => answerRaw(socket, new BlockhouseError('NOT_FOUND', 'There is no /ü.'), 'req_1'));
  const { responses } = await exchange(t, port, 'x');
  t.equal(responses.length, 1);
  t.equal(responses[0]?.status, 404);
  t.strictSame(parseJson(Buffer.from(responses[0]?.body ?? '', 'latin1').toString()), {
    error: 'There is no /ü.',
    status: 404,
    code: 'NOT_FOUND',
    requestId: 'req_1',
  });
  t.match(Object.fromEntries(responses[0]?.headers ?? []), {
    ...COMMON_HEADERS,
    'content-type': 'application/json; charset=utf-8',
    connection: 'close',
    'cache-control': 'no-store',
    'x-request-id': 'req_1',
  });
});

t.test('a code that wants a header has it, and further headers may be given', async (t) => {
  const cases: [code: ErrorCode, more: Record<string, string>, expected: Record<string, string>, retryAfterMs?: number][] = [
    ['UNAUTHORIZED', {}, { 'www-authenticate': 'Bearer' }],
    ['METHOD_NOT_ALLOWED', {}, { allow: '' }],
    ['METHOD_NOT_ALLOWED', { allow: 'GET' }, { allow: 'GET' }],
    ['TOO_MANY_ATTEMPTS', {}, { 'retry-after': '3' }, 2001],
  ];
  for (const [code, more, expected, retryAfterMs] of cases) {
    const port = await listen(t, (socket) =>
      answerRaw(socket, new BlockhouseError(code, 'no', { ...(retryAfterMs !== undefined && { retryAfterMs }) }), 'req_1', more),
    );
    const { responses } = await exchange(t, port, 'x');
    t.match(Object.fromEntries(responses[0]?.headers ?? []), expected, code);
  }
});

t.test('a client that resets the connection meanwhile does no harm', async (t) => {
  let accepted: Socket | undefined;
  const port = await listen(t, (socket) => {
    accepted = socket;
    socket.write('ready');
  });
  const client = await RawClient.connect(t, port);
  client.send('x');
  await once(client.socket, 'data');
  client.socket.resetAndDestroy();
  const socket = accepted as Socket;
  answerRaw(socket, new BlockhouseError('NOT_FOUND', 'no'), 'req_1');
  await until('the connection is gone', () => socket.closed);
});
