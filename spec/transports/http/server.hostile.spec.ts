import { randomBytes } from 'node:crypto';
import t, { type Test } from 'tap';
import { exchange, RawClient } from '../../support/raw.ts';
import { CHAT, startServer, type TestServer } from '../../support/server.ts';
import { sweep } from '../../support/sweep.ts';

const CHAT_TEXT = JSON.stringify(CHAT);
const JSON_TYPE = 'Content-Type: application/json\r\n';

interface Parts {
  readonly host: string;
  /** Host and token. */
  readonly head: string;
  readonly hidden: string;
}

function parts({ port, token }: TestServer): Parts {
  const host = `Host: 127.0.0.1:${port}\r\n`;
  const head = `${host}Authorization: Bearer ${token}\r\n`;
  return { host, head, hidden: `GET /hidden HTTP/1.1\r\n${head}\r\n` };
}

const post =
  (framing: string, body: string): ((p: Parts) => string) =>
  (p) =>
    `POST /v1/chat HTTP/1.1\r\n${p.head}${JSON_TYPE}${framing}\r\n${body}${p.hidden}`;
const chunked = (lines: string): ((p: Parts) => string) => post('Transfer-Encoding: chunked\r\n', lines);
const health =
  (headers: string, version = 'HTTP/1.1'): ((p: Parts) => string) =>
  (p) =>
    `GET /v1/health ${version}\r\n${p.head}${headers}\r\n${p.hidden}`;

/** All of these are a 400 and the end of the connection. What follows them is never taken for a request. */
const REFUSED: [title: string, bytes: (p: Parts) => string][] = [
  ['Content-Length beside Transfer-Encoding', post('Content-Length: 5\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n')],
  ['Transfer-Encoding beside Content-Length', post('Transfer-Encoding: chunked\r\nContent-Length: 5\r\n', '0\r\n\r\n')],
  ['two equal Content-Lengths', post('Content-Length: 2\r\nContent-Length: 2\r\n', '{}')],
  ['two different Content-Lengths', post('Content-Length: 2\r\nContent-Length: 200\r\n', '{}')],
  ...['1, 1', '+1', '-1', '0x1', '1 1', '1e1', '18446744073709551616', '99999999999999999999', 'x', ''].map((length): [string, (p: Parts) => string] => [
    `Content-Length: ${length}`,
    post(`Content-Length: ${length}\r\n`, '{'),
  ]),
  ...['xchunked', 'chunked, identity', 'identity', 'chunked, chunked', 'chunked,', '"chunked"', 'chunked;x=y', '\x0bchunked', 'chun\tked'].map(
    (encoding): [string, (p: Parts) => string] => [
      `Transfer-Encoding: ${JSON.stringify(encoding)}`,
      post(`Transfer-Encoding: ${encoding}\r\n`, '2\r\n{}\r\n0\r\n\r\n'),
    ],
  ),
  ['Transfer-Encoding twice', post('Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n', '2\r\n{}\r\n0\r\n\r\n')],
  ['Transfer-Encoding with a space before its colon', post('Transfer-Encoding : chunked\r\nContent-Length: 2\r\n', '{}')],
  ...['0x2', '-2', '+2', ' 2', '2 ', '2 ;', '', 'F'.repeat(17), '1', '3', '2;a\nb', 'g'].map((size): [string, (p: Parts) => string] => [
    `a chunk of size ${JSON.stringify(size)}`,
    chunked(`${size}\r\n{}\r\n0\r\n\r\n`),
  ]),
  ['a chunk size that ends in a bare LF', chunked('2\n{}\r\n0\r\n\r\n')],
  ['a chunk that ends in a bare LF', chunked('2\r\n{}\n0\r\n\r\n')],
  ['a bare LF behind the request line', (p) => `GET /v1/health HTTP/1.1\n${p.head}\r\n${p.hidden}`],
  ['a bare LF behind a header', health('X: y\nZ: z\r\n')],
  ['nothing but bare LFs', (p) => `GET /v1/health HTTP/1.1\n${p.head.replaceAll('\r', '')}\n${p.hidden}`],
  ['a bare CR in a header', health('X: y\rZ: z\r\n')],
  ['a folded header', health('X: y\r\n z\r\n')],
  ['a folded first header', (p) => `GET /v1/health HTTP/1.1\r\n X: y\r\n${p.head}\r\n${p.hidden}`],
  ['a NUL in a header', health('X: y\0z\r\n')],
  ['a space before a colon', health('X : y\r\n')],
  ['a header without a name', health(': y\r\n')],
  ['a header without a colon', health('X\r\n')],
  ['a Content-Length in the trailers', chunked(`2\r\n{}\r\n0\r\nContent-Length: 2\r\n\r\n`)],
  ['no Host in HTTP/1.0', () => 'GET /v1/health HTTP/1.0\r\n\r\n'],
  ['no version', () => 'GET /v1/health\r\n\r\n'],
  ['version 0.9', (p) => `GET /v1/health HTTP/0.9\r\n${p.host}\r\n`],
  ['version 1.9', health('', 'HTTP/1.9')],
  ['version 9', health('', 'HTTP/9')],
  ['a lower-case version', health('', 'http/1.1')],
  ['an unknown method', (p) => `FOO /v1/health HTTP/1.1\r\n${p.head}\r\n${p.hidden}`],
  ['a lower-case method', (p) => `get /v1/health HTTP/1.1\r\n${p.head}\r\n${p.hidden}`],
  ['a target without a slash', (p) => `GET v1/health HTTP/1.1\r\n${p.head}\r\n${p.hidden}`],
  ['a space in the target', (p) => `GET /a b HTTP/1.1\r\n${p.head}\r\n${p.hidden}`],
  ['a NUL in the target', (p) => `GET /a\0b HTTP/1.1\r\n${p.head}\r\n${p.hidden}`],
  ['raw bytes in the target', (p) => `GET /\xe9\xff HTTP/1.1\r\n${p.head}\r\n${p.hidden}`],
  ['the preface of HTTP/2', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['a TLS hello', () => `\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03${'\x00\x8f'.repeat(200)}`],
  ['an SSH banner', () => 'SSH-2.0-OpenSSH_9.6\r\n'],
];

/** What holds after every case. */
async function assertUnharmed(t: Test, server: TestServer, title: string): Promise<void> {
  const unexpected = server.log.filter(({ level, fields }) => level === 'error' || fields['path'] === '/hidden' || fields['status'] === 500);
  t.strictSame(unexpected, [], `${title}: nothing hidden was routed, nothing failed`);
  t.match(await server.call('GET', '/v1/health', { token: false }), { status: 200 }, `${title}: alive`);
}

t.test('malformed HTTP is one 400 with the error body, and the end of the connection', async (t) => {
  const server = await startServer(t);
  for (const [title, bytes] of REFUSED) {
    const { responses } = await exchange(t, server.port, bytes(parts(server)));
    t.equal(responses.length, 1, `${title}: one answer`);
    t.match(responses[0], { status: 400 }, `${title}: 400`);
    t.match(JSON.parse(responses[0]?.body || '{}'), { status: 400, code: 'INVALID_REQUEST' }, `${title}: the error body`);
    await assertUnharmed(t, server, title);
  }
  t.equal(server.upstream.requests.length, 0);
});

t.test('a request that is whole but not ours to serve is refused, each with its status', async (t) => {
  const server = await startServer(t);
  const p = parts(server);
  const close = 'Connection: close\r\n';
  const cases: [title: string, status: number, code: string, bytes: string][] = [
    ['no Host', 400, 'INVALID_REQUEST', 'GET /v1/health HTTP/1.1\r\n\r\n'],
    ['two equal Hosts', 400, 'INVALID_REQUEST', `GET /v1/health HTTP/1.1\r\n${p.head}${p.host}\r\n`],
    ['two different Hosts', 400, 'INVALID_REQUEST', `GET /v1/health HTTP/1.1\r\n${p.head}Host: evil.example\r\n\r\n`],
    ['an empty Host', 400, 'INVALID_REQUEST', `GET /v1/health HTTP/1.1\r\nHost:\r\n\r\n`],
    ['version 2.0', 400, 'INVALID_REQUEST', `GET /v1/health HTTP/2.0\r\n${p.head}\r\n`],
    ['a foreign Host', 403, 'FORBIDDEN_ORIGIN', `GET /v1/health HTTP/1.1\r\nHost: evil.example\r\n\r\n`],
    ['the wrong port', 403, 'FORBIDDEN_ORIGIN', `GET /v1/health HTTP/1.1\r\nHost: localhost:1\r\n\r\n`],
    ['no port', 403, 'FORBIDDEN_ORIGIN', `GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n`],
    ['an absolute target elsewhere', 403, 'FORBIDDEN_ORIGIN', `GET http://evil.example/v1/health HTTP/1.1\r\n${p.head}${close}\r\n`],
    ['an absolute target here, a Host elsewhere', 403, 'FORBIDDEN_ORIGIN', `GET ${server.url}/v1/health HTTP/1.1\r\nHost: evil.example\r\n${close}\r\n`],
    ['OPTIONS *', 400, 'INVALID_REQUEST', `OPTIONS * HTTP/1.1\r\n${p.head}${close}\r\n`],
    ['TRACE', 405, 'METHOD_NOT_ALLOWED', `TRACE /v1/health HTTP/1.1\r\n${p.head}${close}\r\n`],
    ['CONNECT', 405, 'METHOD_NOT_ALLOWED', `CONNECT evil.example:443 HTTP/1.1\r\n${p.head}\r\n`],
    ['CONNECT here', 405, 'METHOD_NOT_ALLOWED', `CONNECT 127.0.0.1:${server.port} HTTP/1.1\r\n${p.head}\r\n${p.hidden}`],
    ['headers of 33 KB', 431, 'HEADERS_TOO_LARGE', `GET /v1/health HTTP/1.1\r\n${p.head}X: ${'x'.repeat(33 * 1024)}\r\n\r\n`],
    ['a URL of 9 KB', 414, 'URI_TOO_LONG', `GET /${'x'.repeat(9 * 1024)} HTTP/1.1\r\n${p.head}${close}\r\n`],
    ['a query of 9 KB', 414, 'URI_TOO_LONG', `GET /v1/health?${'x'.repeat(9 * 1024)} HTTP/1.1\r\n${p.head}${close}\r\n`],
    [
      'a token in the trailers',
      401,
      'UNAUTHORIZED',
      `GET /v1/adapters HTTP/1.1\r\n${p.host}${close}Transfer-Encoding: chunked\r\n\r\n0\r\nAuthorization: Bearer ${server.token}\r\n\r\n`,
    ],
  ];
  for (const [title, status, code, bytes] of cases) {
    const { responses } = await exchange(t, server.port, bytes);
    t.equal(responses.length, 1, `${title}: one answer`);
    t.match(responses[0], { status }, `${title}: ${status}`);
    t.match(JSON.parse(responses[0]?.body || '{}'), { status, code }, `${title}: ${code}`);
    await assertUnharmed(t, server, title);
  }
});

t.test('a header that a server might drop neither grants nor loses the token', async (t) => {
  const server = await startServer(t);
  const { host, head } = parts(server);
  const many = 'a:\r\n'.repeat(2001);
  const request = (headers: string): string => `GET /v1/adapters HTTP/1.1\r\n${headers}Connection: close\r\n\r\n`;
  const authorization = `Authorization: Bearer ${server.token}\r\n`;
  for (const [title, headers] of [
    ['the token as header 2,003', host + many + authorization],
    ['a second token as header 2,004', head + many + authorization],
    ['a second Host as header 2,004', head + many + host],
  ] as const)
    t.match((await exchange(t, server.port, request(headers))).responses, [{ status: 431 }], title);
  const most = 'a:\r\n'.repeat(250 - 3);
  for (const [title, headers, status] of [
    ['the token as header 249 of 250', host + most + authorization, 200],
    ['a second token as one too many', head + most + authorization, 431],
    ['an upgrade with one too many', `${head}${most.slice(4)}Upgrade: websocket\r\nConnection: upgrade\r\n`, 431],
  ] as const)
    t.match((await exchange(t, server.port, request(headers))).responses, [{ status }], title);
});

t.test('our own names are taken in each spelling of the request', async (t) => {
  const server = await startServer(t);
  for (const name of ['localhost', '127.0.0.1', '[::1]', 'LocalHost'])
    t.match(
      (await exchange(t, server.port, `GET /v1/health HTTP/1.1\r\nHost: ${name}:${server.port}\r\nConnection: close\r\n\r\n`)).responses,
      [{ status: 200 }],
      name,
    );
  t.match((await exchange(t, server.port, `GET /v1/health HTTP/1.0\r\nHost: localhost:${server.port}\r\n\r\n`)).responses, [{ status: 200 }], 'HTTP/1.0');
  t.match(
    (await exchange(t, server.port, `\r\n\r\nGET /v1/health HTTP/1.1\r\nHost: localhost:${server.port}\r\nConnection: close\r\n\r\n`)).responses,
    [{ status: 200 }],
    'empty lines before the request',
  );
});

t.test('Expect: 100-continue gets its 100 only when the headers promise an acceptable body', async (t) => {
  const server = await startServer(t);
  const { host, head } = parts(server);
  const expect = (headers: string, length: number, expectation = '100-continue', version = 'HTTP/1.1'): string =>
    `POST /v1/chat ${version}\r\n${headers}Expect: ${expectation}\r\nConnection: close\r\nContent-Length: ${length}\r\n\r\n`;

  const good = await RawClient.connect(t, server.port);
  t.match(await good.send(expect(head + JSON_TYPE, CHAT_TEXT.length)).settle(1), [{ status: 100 }]);
  t.match(await good.send(CHAT_TEXT).untilClosed(), [{ status: 100 }, { status: 200 }]);

  const refused: [title: string, bytes: string, status: number][] = [
    ['a body over the limit', expect(head + JSON_TYPE, 10 * 1024 * 1024 + 1), 413],
    ['a bad token', expect(`${host}${JSON_TYPE}Authorization: Bearer x\r\n`, CHAT_TEXT.length), 401],
    ['no token', expect(host + JSON_TYPE, CHAT_TEXT.length), 401],
    ['a wrong type', expect(`${head}Content-Type: text/plain\r\n`, CHAT_TEXT.length), 415],
    ['a foreign Host', expect(`Host: evil.example\r\n${JSON_TYPE}`, CHAT_TEXT.length), 403],
    ['another expectation', expect(head + JSON_TYPE, CHAT_TEXT.length, 'x'), 417],
    ['another expectation of nobody', expect(host + JSON_TYPE, CHAT_TEXT.length, '200-ok'), 417],
  ];
  // At once: the server waits a moment for each client to leave.
  const answers = await Promise.all(refused.map(([, bytes]) => exchange(t, server.port, bytes)));
  for (const [index, [title, , status]] of refused.entries()) t.match(answers[index]?.responses, [{ status }], title);

  const old = await exchange(t, server.port, `${expect(head + JSON_TYPE, CHAT_TEXT.length, '100-continue', 'HTTP/1.0')}${CHAT_TEXT}`);
  t.match(old.responses, [{ status: 200 }], 'HTTP/1.0 knows no 100');
  await assertUnharmed(t, server, 'after all');
});

t.test('what follows a body that nobody reads is never parsed out of it', async (t) => {
  const server = await startServer(t);
  const { head, hidden } = parts(server);
  const visible = `GET /v1/adapters HTTP/1.1\r\n${head}Connection: close\r\n\r\n`;
  for (const [title, line] of [
    ['GET', 'GET /v1/health'],
    ['DELETE', 'DELETE /v1/health'],
    ['an unknown path', 'POST /nowhere'],
  ] as const) {
    const small = hidden.repeat(3);
    const drained = await exchange(t, server.port, `${line} HTTP/1.1\r\n${head}Content-Length: ${small.length}\r\n\r\n${small}${visible}`);
    t.ok(drained.responses.length >= 1 && drained.responses.length <= 2, `${title}: a small body is drained, or the connection closed`);
    await assertUnharmed(t, server, title);

    const client = await RawClient.connect(t, server.port);
    client.send(`${line} HTTP/1.1\r\n${head}Content-Length: 10000000\r\n\r\n`);
    await client.settle(1);
    client.send(Buffer.from(hidden.repeat(Math.ceil(10_000_000 / hidden.length)).slice(0, 10_000_000), 'latin1')).send(visible);
    t.equal((await client.untilClosed()).length, 1, `${title}: a body of 10 MB takes its connection with it`);
    await assertUnharmed(t, server, title);
  }
});

t.test('pipelined requests are answered in order', async (t) => {
  const server = await startServer(t);
  const client = await RawClient.connect(t, server.port);
  client.socket.pause();
  const count = sweep(2000, 600);
  let bytes = '';
  for (let i = 0; i < count; i += 1)
    bytes += `GET /${i % 2 === 0 ? 'v1/health' : 'nowhere'} HTTP/1.1\r\nHost: localhost:${server.port}\r\nX-Request-Id: ${i}\r\n\r\n`;
  client.send(bytes);
  client.socket.resume();
  const responses = await client.settle(count);
  t.strictSame(
    responses.map(({ status, headers }) => `${headers.get('x-request-id')} ${status}`),
    Array.from({ length: count }, (_, i) => `${i} ${i % 2 === 0 ? 200 : 401}`),
  );
});

t.test('noise ends in a 400 or a closed connection', async (t) => {
  const server = await startServer(t);
  for (let round = 0; round < 20; round += 1) {
    const client = await RawClient.connect(t, server.port);
    client.send(randomBytes(round === 0 ? 1_000_000 : 1000)).send('\r\n\r\n');
    const responses = await client.untilClosed();
    t.ok(responses.length <= 1 && (responses[0]?.status ?? 400) === 400);
  }
  await assertUnharmed(t, server, 'noise');
});

t.test('trailers are read and forgotten', async (t) => {
  const server = await startServer(t);
  const { head } = parts(server);
  const trailers = 'Authorization: Bearer x\r\nHost: evil.example\r\n__proto__: x\r\n';
  const { responses } = await exchange(
    t,
    server.port,
    `POST /v1/chat HTTP/1.1\r\n${head}${JSON_TYPE}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n${CHAT_TEXT.length.toString(16)};ext=1\r\n${CHAT_TEXT}\r\n0\r\n${trailers}\r\n`,
  );
  t.match(responses, [{ status: 200 }]);
  await assertUnharmed(t, server, 'trailers');
});
