import { once } from 'node:events';
import { Agent, createServer, get, type IncomingMessage, ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { PassThrough } from 'node:stream';
import t, { type Test } from 'tap';
import { nextTurn } from '../../../../core/base/next-turn.ts';
import { BlockhouseError } from '../../../../core/index.ts';
import { errorReply, ok, Written, writeJson } from '../../../../transports/http/wire/reply.ts';
import { unreadAnswers } from '../../../../transports/http/wire/unread-answers.ts';
import { COMMON_HEADERS } from '../../../../transports/raw-answer.ts';
import { type Answer, readAnswer, responseOf, until } from '../../../support/server.ts';

async function answerOf(t: Test, write: (res: ServerResponse) => void): Promise<Answer> {
  const server = createServer((_req, res) => write(res)).listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await once(server, 'listening');
  return readAnswer(await responseOf(get({ host: '127.0.0.1', port: (server.address() as AddressInfo).port, agent: false })));
}

t.test('an error reply is the error body with the headers that belong to the code', async (t) => {
  const cases: [BlockhouseError, ReturnType<typeof errorReply>][] = [
    [new BlockhouseError('NOT_FOUND', 'no'), { status: 404, body: { error: 'no', status: 404, code: 'NOT_FOUND', requestId: 'r' }, headers: {} }],
    [
      new BlockhouseError('UNAUTHORIZED', 'no'),
      { status: 401, body: { error: 'no', status: 401, code: 'UNAUTHORIZED', requestId: 'r' }, headers: { 'www-authenticate': 'Bearer' } },
    ],
    [
      new BlockhouseError('UPSTREAM_FAILED', 'no', { upstreamStatus: 529, retryAfterMs: 2500 }),
      {
        status: 502,
        body: { error: 'no', status: 502, code: 'UPSTREAM_FAILED', requestId: 'r', upstreamStatus: 529, retryable: true },
        headers: { 'retry-after': '3' },
      },
    ],
  ];
  for (const [error, reply] of cases) t.strictSame(errorReply(error, 'r'), reply, error.code);
});

t.test('Retry-After is whole seconds, at least one', async (t) => {
  for (const [ms, header] of [
    [0, '1'],
    [1, '1'],
    [1000, '1'],
    [1001, '2'],
    [60_000, '60'],
  ] as const)
    t.equal(errorReply(new BlockhouseError('QUEUE_FULL', 'no', { retryAfterMs: ms }), 'r').headers?.['retry-after'], header, `${ms} ms`);
});

t.test('a JSON answer says what it is, that it must not be kept, and which request it is for', async (t) => {
  const answer = await answerOf(t, (res) => writeJson(res, { ...ok({ text: 'é\u2028' }), headers: { 'x-more': '1' } }, 'r1'));
  t.strictSame(answer.json, { text: 'é\u2028' });
  t.match(answer.headers, {
    ...COMMON_HEADERS,
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(answer.text)),
    'cache-control': 'no-store',
    'x-request-id': 'r1',
    'x-more': '1',
  });
});

t.test('an answer without a body has no content type', async (t) => {
  const answer = await answerOf(t, (res) => writeJson(res, { status: 204, body: undefined }, 'r1'));
  t.equal(answer.status, 204);
  t.equal(answer.headers['content-type'], undefined);
  t.equal(answer.text, '');
});

t.test('an answer that has begun is left alone', async (t) => {
  const answer = await answerOf(t, (res) => {
    res.writeHead(200, { 'x-first': '1' });
    writeJson(res, ok({}), 'r1');
    res.end('whole');
  });
  t.match(answer, { status: 200, text: 'whole', headers: { 'x-first': '1' } });
});

t.test('a held answer has left before its exchange ends', async (t) => {
  let release = (): void => undefined;
  const hold = new Promise<void>((resolve) => {
    release = resolve;
  });
  const server = createServer((req, res) => writeJson(res, req.url === '/empty' ? { status: 200, body: undefined } : ok({ a: 1 }), 'r1', hold));
  server.listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const answer = await readAnswer(await responseOf(get({ host: '127.0.0.1', port, agent: false })));
  t.strictSame(answer.json, { a: 1 });
  const empty = await responseOf(get({ host: '127.0.0.1', port, agent: false, path: '/empty' }));
  t.equal(empty.statusCode, 200);
  release();
  t.equal((await readAnswer(empty)).text, '');
});

t.test('a body that is written out already is sent as it is, with its type', async (t) => {
  const kept = await answerOf(t, (res) => writeJson(res, ok(new Written('{"a":"é"}')), 'r1'));
  t.match(kept, { text: '{"a":"é"}', headers: { 'content-type': 'application/json; charset=utf-8', 'content-length': '10' } });
  const bytes = await answerOf(t, (res) => writeJson(res, ok(new Written(Buffer.from('abc'), 'application/gzip'), { 'x-more': '1' }), 'r1'));
  t.match(bytes, {
    status: 200,
    text: 'abc',
    headers: { 'content-type': 'application/gzip', 'content-length': '3', 'x-more': '1', 'cache-control': 'no-store' },
  });
});

t.test('a client that leaves a large answer unread is cut off, and one that reads it is left in peace', async (t) => {
  const answers: ServerResponse[] = [];
  const server = createServer((req, res) => {
    answers.push(res);
    writeJson(res, ok(new Written(Buffer.alloc(req.url === '/small' ? 10 : 20_000_000), 'application/gzip')), 'r1');
  }).listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.teardown(() => agent.destroy());

  const small = await readAnswer(await responseOf(get({ host: '127.0.0.1', port, agent, path: '/small' })));
  t.equal(small.text.length, 10);
  const read = await responseOf(get({ host: '127.0.0.1', port, agent }));
  const { socket } = answers[1] as ServerResponse;
  t.equal(socket?.timeout, 15_000, 'the clock runs');
  t.equal((await readAnswer(read)).text.length, 20_000_000);
  await until(() => socket?.timeout !== 15_000, 'another time limit');
  t.ok((socket?.timeout ?? 0) > 0, 'a kept connection may still be idle for a while only');

  const unread = await responseOf(get({ host: '127.0.0.1', port, agent }));
  const cut = once(unread, 'error');
  answers[2]?.socket?.emit('timeout');
  unread.resume();
  t.match(await cut, [{ code: 'ECONNRESET' }]);
});

t.test('the clock of a large answer does not run for the slow one behind it', async (t) => {
  const answers: ServerResponse[] = [];
  const server = createServer((req, res) => {
    answers.push(res);
    if (req.url === '/large') writeJson(res, ok(new Written(Buffer.alloc(20_000_000), 'application/gzip')), 'r1');
  }).listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  t.teardown(() => client.destroy());
  client.pause();
  client.write('GET /large HTTP/1.1\r\nHost: x\r\n\r\nGET /slow HTTP/1.1\r\nHost: x\r\n\r\n');
  await until(() => answers.length === 2, 'both requests');
  const { socket } = answers[0] as ServerResponse;
  t.equal(socket?.timeout, 15_000);
  client.resume();
  await until(() => answers[0]?.writableFinished === true, 'the large answer to be read');
  t.equal(socket?.timeout, 0);
});

t.test('long answers to many at once leave in several turns, and callers take turns, too; short ones wait for nobody', async (t) => {
  const written: string[] = [];
  const answer = (name: string, length: number): void => {
    const res = new ServerResponse({ method: 'GET', httpVersionMajor: 1, httpVersionMinor: 1 } as IncomingMessage);
    Object.assign(res, { socket: new PassThrough(), req: { socket: { destroyed: name === 'gone' } } });
    unreadAnswers.belongs(res, name.replace(/ .*/, ''));
    for (const way of ['write', 'end'] as const) Object.assign(res, { [way]: () => written.push(name) });
    writeJson(res, { status: 200, body: new Written(Buffer.alloc(length)) }, 'r');
  };
  const before = Array.from({ length: 3 }, (_, index) => nextTurn('other').then(() => written.push(`other ${index}`)));
  for (const name of ['a 1', 'a 2', 'gone']) answer(name, 100_000);
  answer('b 1', 100_000);
  answer('short', 100);
  await Promise.all(before);
  await until(() => written.includes('a 2'), 'all are written');
  t.equal(written.filter((name) => name === 'short').length > 0 && written.indexOf('short') < written.indexOf('a 1'), true, 'a short answer is there first');
  t.ok(written.indexOf('other 0') < written.indexOf('a 1') && written.indexOf('a 1') < written.indexOf('other 2'), 'one after the other');
  t.ok(written.indexOf('b 1') < written.indexOf('a 2'), written.join(', '));
  t.notOk(written.includes('gone'), 'who has left gets nothing');
});
