import { request as httpRequest } from 'node:http';
import type { Socket } from 'node:net';
import t from 'tap';
import { WS_PATH } from '../../../transports/ws-path.ts';
import { writeNewToken } from '../../support/new-token.ts';
import { exchange, RawClient } from '../../support/raw.ts';
import { CHAT, readAnswer, responseOf } from '../../support/server.ts';
import { sweep } from '../../support/sweep.ts';
import { until } from '../../support/until.ts';
import { ACCEPT, type HandshakeOptions, handshake, KEY, RawWs, startWsServer, WsClient } from '../../support/ws.ts';

const json = (body: string | undefined): Record<string, unknown> => JSON.parse(body ?? '{}') as Record<string, unknown>;

t.test('whoever has the token, the path and the right place is let in', async (t) => {
  const server = await startWsServer(t);
  const ways: [title: string, options: HandshakeOptions][] = [
    ['plainly', {}],
    ['from our own page', { headers: { Origin: `http://127.0.0.1:${server.port}`, 'Sec-Fetch-Site': 'same-origin' } }],
    ['as localhost', { headers: { Host: `localhost:${server.port}` } }],
    ['with other things in the query', { path: `${WS_PATH}?a=1&token=${server.token}&%E0%A4%A` }],
    ['with the token percent-encoded', { path: `${WS_PATH}?token=${server.token.replace('_', '%5F')}` }],
    ['in mixed case', { headers: { Connection: 'keep-alive, UPGRADE', Upgrade: 'WebSocket' } }],
    ['with subprotocols, of which none is taken', { headers: { 'Sec-WebSocket-Protocol': 'chat, superchat' } }],
    [
      'offering compression, which is not taken',
      { headers: { 'Sec-WebSocket-Extensions': 'permessage-deflate; client_max_window_bits; server_max_window_bits=8' } },
    ],
    ['offering nonsense', { headers: { 'Sec-WebSocket-Extensions': 'permessage-deflate; server_max_window_bits=99; x="' } }],
    ['with the token in the header', { path: WS_PATH, headers: { Authorization: `Bearer ${server.token}` } }],
    ['with the token in the header and a wrong one in the query', { path: `${WS_PATH}?token=wrong`, headers: { Authorization: `Bearer ${server.token}` } }],
    ['with an Authorization of another scheme, which is not looked at', { headers: { Authorization: 'Basic nonsense' } }],
  ];
  for (const [title, options] of ways) {
    const client = await RawClient.connect(t, server.port);
    client.send(handshake(server, options));
    await until(`an answer (${title})`, () => client.received.includes('\r\n\r\n'));
    const [status, ...headers] = client.received.slice(0, client.received.indexOf('\r\n\r\n')).split('\r\n');
    t.equal(status, 'HTTP/1.1 101 Switching Protocols', title);
    t.strictSame(headers, ['Upgrade: websocket', 'Connection: Upgrade', `Sec-WebSocket-Accept: ${ACCEPT}`], title);
  }
  await until('all are counted', () => server.ws.connections() === ways.length);
  t.notMatch(JSON.stringify([server.log, server.wsLog]), server.token, 'the token is in no log');
});

t.test('a request that has the token and asks for no upgrade is told what is missing', async (t) => {
  const server = await startWsServer(t);
  const said = { status: 400, json: { code: 'INVALID_REQUEST', error: /^\/api\/ws is a WebSocket\. .*Upgrade: websocket.*proxy/ } };
  t.match(await server.call('GET', `${WS_PATH}?token=${server.token}`, { token: false }), said, 'as behind a proxy that drops the headers');
  t.match(await server.call('GET', WS_PATH), said, 'with the token in the header');
  for (const path of [WS_PATH, `${WS_PATH}?token=bh_wrong`])
    t.match(
      await server.call('GET', path, { token: false }),
      { status: 401, json: { error: /\/api\/ws\?token=<token>.*Authorization: Bearer <token>/ } },
      path,
    );
  t.match(
    await server.call('GET', `${WS_PATH}?token=${server.token}`, { token: false, headers: { authorization: 'Bearer wrong' } }),
    { status: 401 },
    'a wrong header wins',
  );
  t.match(await server.call('GET', `${WS_PATH}/`), { status: 404 });
});

t.test('everybody else gets the answer of HTTP, and the end of the connection', async (t) => {
  const server = await startWsServer(t);
  const own = `http://127.0.0.1:${server.port}`;
  const wrong = `bh_${'A'.repeat(43)}`;
  const cases: [title: string, options: HandshakeOptions, status: number, code: string][] = [
    ['a page of another site, with a valid token', { headers: { Origin: 'http://evil.example' } }, 403, 'FORBIDDEN_ORIGIN'],
    ['a page without an origin', { headers: { Origin: 'null' } }, 403, 'FORBIDDEN_ORIGIN'],
    ['another port of this machine', { headers: { Origin: 'http://127.0.0.1:1' } }, 403, 'FORBIDDEN_ORIGIN'],
    ['a cross-site fetch', { headers: { 'Sec-Fetch-Site': 'cross-site' } }, 403, 'FORBIDDEN_ORIGIN'],
    ['a foreign Host', { headers: { Host: 'evil.example' } }, 403, 'FORBIDDEN_ORIGIN'],
    ['a foreign Host on another path', { path: '/x', headers: { Host: 'evil.example' } }, 403, 'FORBIDDEN_ORIGIN'],
    ['a foreign Host without a token', { path: WS_PATH, headers: { Host: 'evil.example', Origin: own } }, 403, 'FORBIDDEN_ORIGIN'],
    ['an absolute target', { path: `http://evil.example${WS_PATH}?token=${server.token}` }, 403, 'FORBIDDEN_ORIGIN'],
    ['no Host', { headers: { Host: undefined } }, 400, 'INVALID_REQUEST'],
    ['two Hosts', { headers: { Host: [`127.0.0.1:${server.port}`, 'evil.example'] } }, 400, 'INVALID_REQUEST'],
    ['another path', { path: `/?token=${server.token}` }, 404, 'NOT_FOUND'],
    ['a route of HTTP', { path: `/v1/chat?token=${server.token}` }, 404, 'NOT_FOUND'],
    ['a route whose clients ask for a WebSocket first', { path: '/v1/responses' }, 426, 'HTTP_ONLY'],
    ['a slash behind the path', { path: `${WS_PATH}/?token=${server.token}` }, 404, 'NOT_FOUND'],
    ['the path in capitals', { path: `/API/WS?token=${server.token}` }, 404, 'NOT_FOUND'],
    ['the path by way of another', { path: `/api/../api/ws?token=${server.token}` }, 404, 'NOT_FOUND'],
    ['the path percent-encoded', { path: `/api/%77s?token=${server.token}` }, 404, 'NOT_FOUND'],
    ['a long target', { path: `${WS_PATH}?token=${server.token}&${'x'.repeat(9000)}` }, 414, 'URI_TOO_LONG'],
    ['no token', { path: WS_PATH }, 401, 'UNAUTHORIZED'],
    ['an empty token', { path: `${WS_PATH}?token=` }, 401, 'UNAUTHORIZED'],
    ['a wrong token', { path: `${WS_PATH}?token=${wrong}` }, 401, 'UNAUTHORIZED'],
    ['a shorter token', { path: `${WS_PATH}?token=${server.token.slice(0, -1)}` }, 401, 'UNAUTHORIZED'],
    ['two tokens', { path: `${WS_PATH}?token=${server.token}&token=${server.token}` }, 401, 'UNAUTHORIZED'],
    ['a non-ASCII token', { path: `${WS_PATH}?token=bh_%E9%FF${'A'.repeat(41)}` }, 401, 'UNAUTHORIZED'],
    ['the token under another name', { path: `${WS_PATH}?Token=${server.token}` }, 401, 'UNAUTHORIZED'],
    ['a wrong token in the header', { path: WS_PATH, headers: { Authorization: `Bearer ${wrong}` } }, 401, 'UNAUTHORIZED'],
    ['a wrong token in the header and the right one in the query', { headers: { Authorization: `Bearer ${wrong}` } }, 401, 'UNAUTHORIZED'],
    ['a header without its token and the right one in the query', { headers: { Authorization: 'Bearer' } }, 401, 'UNAUTHORIZED'],
    ['the token in two headers', { path: WS_PATH, headers: { Authorization: [`Bearer ${server.token}`, `Bearer ${server.token}`] } }, 401, 'UNAUTHORIZED'],
    ['the token in a header without a scheme', { path: WS_PATH, headers: { Authorization: server.token } }, 401, 'UNAUTHORIZED'],
    ['the token in a cookie', { path: WS_PATH, headers: { Cookie: `token=${server.token}` } }, 401, 'UNAUTHORIZED'],
    ['a POST', { method: 'POST' }, 405, 'METHOD_NOT_ALLOWED'],
    ['a HEAD', { method: 'HEAD' }, 405, 'METHOD_NOT_ALLOWED'],
    ['HTTP/1.0', { version: 'HTTP/1.0' }, 400, 'INVALID_REQUEST'],
    ['no version', { headers: { 'Sec-WebSocket-Version': undefined } }, 400, 'INVALID_REQUEST'],
    [
      'version 8, whose origin is elsewhere',
      { headers: { 'Sec-WebSocket-Version': '8', 'Sec-WebSocket-Origin': 'http://evil.example' } },
      400,
      'INVALID_REQUEST',
    ],
    ['version 14', { headers: { 'Sec-WebSocket-Version': '14' } }, 400, 'INVALID_REQUEST'],
    ['two versions', { headers: { 'Sec-WebSocket-Version': ['13', '13'] } }, 400, 'INVALID_REQUEST'],
    ['no key', { headers: { 'Sec-WebSocket-Key': undefined } }, 400, 'INVALID_REQUEST'],
    ['an empty key', { headers: { 'Sec-WebSocket-Key': '' } }, 400, 'INVALID_REQUEST'],
    ['a short key', { headers: { 'Sec-WebSocket-Key': 'AAAA' } }, 400, 'INVALID_REQUEST'],
    ['two keys', { headers: { 'Sec-WebSocket-Key': [KEY, KEY] } }, 400, 'INVALID_REQUEST'],
    ['subprotocols that are no list', { headers: { 'Sec-WebSocket-Protocol': 'a,,b' } }, 400, 'INVALID_REQUEST'],
    ['subprotocols twice the same', { headers: { 'Sec-WebSocket-Protocol': 'a, a' } }, 400, 'INVALID_REQUEST'],
    ['a body', { headers: { 'Content-Length': '5' } }, 400, 'INVALID_REQUEST'],
    ['a chunked body', { headers: { 'Transfer-Encoding': 'chunked' } }, 400, 'INVALID_REQUEST'],
  ];
  for (const [title, options, status, code] of cases) {
    // What follows must not be taken for a request.
    const hidden = `GET /hidden HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nAuthorization: Bearer ${server.token}\r\n\r\n`;
    const { responses, received } = await exchange(t, server.port, handshake(server, options) + hidden);
    t.equal(received.split('HTTP/1.1 ').length, 2, `${title}: one answer`);
    t.match(responses[0], { status }, title);
    t.match(json(responses[0]?.body), { status, code, error: String, requestId: responses[0]?.headers.get('x-request-id') }, title);
    t.match(Object.fromEntries(responses[0]?.headers ?? []), { connection: 'close', 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' }, title);
    t.notMatch(received, server.token, `${title}: the answer does not repeat the token`);
  }
  t.equal(server.ws.connections(), 0);
  const log = JSON.stringify([server.log, server.wsLog]);
  t.notMatch(log, server.token, 'the token is in no log');
  t.notMatch(log, wrong, 'nor is a wrong one');
  t.notMatch(log, '/hidden');
  t.equal(server.wsLog.filter(({ message }) => message === 'request refused').length, cases.length, 'each refusal is a line');
  t.equal([...server.log, ...server.wsLog].filter(({ level }) => level === 'error').length, 0);
});

t.test('a program that goes on with wrong tokens does not fill the log here either', async (t) => {
  const server = await startWsServer(t);
  for (let i = 0; i < 24; i += 1) await exchange(t, server.port, handshake(server, { path: `${WS_PATH}?token=wrong` }));
  const refusals = server.wsLog.filter(({ fields }) => fields['code'] === 'TOO_MANY_ATTEMPTS');
  t.strictSame(
    refusals.map(({ level }) => level),
    ['info', 'debug', 'debug', 'debug'],
  );
});

t.test('wrong tokens in the header and in the query count together, and the right one is still let in', async (t) => {
  const server = await startWsServer(t);
  const statusOf = async (options: HandshakeOptions): Promise<number | undefined> =>
    (await exchange(t, server.port, handshake(server, options))).responses[0]?.status;
  for (let i = 0; i < 10; i += 1) {
    t.equal(await statusOf({ path: `${WS_PATH}?token=wrong` }), 401);
    t.equal(await statusOf({ path: WS_PATH, headers: { Authorization: 'Bearer wrong' } }), 401);
  }
  t.equal(await statusOf({ path: WS_PATH, headers: { Authorization: 'Bearer wrong' } }), 429);
  const client = await RawClient.connect(t, server.port);
  client.send(handshake(server, { path: WS_PATH, headers: { Authorization: `Bearer ${server.token}` } }));
  await until('an answer', () => client.received.startsWith('HTTP/1.1 101 '));
});

t.test('refusals name what the client needs', async (t) => {
  const server = await startWsServer(t);
  const refusal = async (options: HandshakeOptions) => (await exchange(t, server.port, handshake(server, options))).responses[0];
  t.equal((await refusal({ headers: { 'Sec-WebSocket-Version': '12' } }))?.headers.get('sec-websocket-version'), '13');
  t.equal((await refusal({ method: 'PUT' }))?.headers.get('allow'), 'GET');
  t.equal((await refusal({ path: WS_PATH }))?.headers.get('www-authenticate'), 'Bearer');
  const kept = await refusal({ path: WS_PATH, headers: { 'X-Request-Id': 'mine-1' } });
  t.equal(kept?.headers.get('x-request-id'), 'mine-1');
  t.match(json(kept?.body)['error'], /blockhouse token/);
});

t.test('a server that is open to other machines lets in under any name, with the token', async (t) => {
  const server = await startWsServer(t, { allowRemote: true }, { http: { allowRemote: true } });
  const client = await RawClient.connect(t, server.port);
  client.send(handshake(server, { headers: { Host: 'box.example', Origin: 'https://box.example' } }));
  await until('an answer', () => client.received.includes('\r\n\r\n'));
  t.match(client.received, /^HTTP\/1\.1 101 /);
  const foreign = await exchange(t, server.port, handshake(server, { headers: { Host: 'box.example', Origin: 'https://evil.example' } }));
  t.match(foreign.responses, [{ status: 403 }]);
});

t.test('there is a most of sockets, and a place is free again when one closes', async (t) => {
  const server = await startWsServer(t, { limits: { maxSockets: 2 } });
  const first = await WsClient.connect(t, server);
  await WsClient.connect(t, server);
  const { responses } = await exchange(t, server.port, handshake(server));
  t.match(responses, [{ status: 503 }]);
  t.match(json(responses[0]?.body), { code: 'TOO_MANY_CONNECTIONS', error: /2 open WebSockets/ });
  first.socket.close();
  await until('its place is free', () => server.ws.connections() === 1);
  await WsClient.connect(t, server);
  t.match(await server.call('GET', '/v1/health', { token: false }), { status: 200 }, 'HTTP is not touched by it');
});

t.test('a token is good until it is replaced', async (t) => {
  const server = await startWsServer(t);
  const fresh = await writeNewToken(server.workspace);
  await until('the old token is refused', () => server.core.token?.matches(server.token) === false);
  t.match((await exchange(t, server.port, handshake(server))).responses, [{ status: 401 }]);
  await WsClient.connect(t, { port: server.port, token: fresh });
});

t.test('a client may offer another protocol, and is served by HTTP as if it had not', async (t) => {
  const server = await startWsServer(t);
  const offer = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAEAAEAAAAIAAAAAAAMAAAAAAAQBAAAAAAUAAEAAAAYABgAA' };
  t.match(await server.call('GET', '/v1/health', { headers: offer, token: false }), { status: 200, json: { status: 'ok' } });
  t.match(await server.call('POST', '/v1/chat', { headers: offer, body: CHAT }), { status: 200, json: { message: { content: 'Hello, you' } } });
  t.match(await server.call('GET', '/v1/adapters', { headers: offer, token: false }), { status: 401 });
  t.match(await server.call('GET', '/v1/adapters', { headers: { ...offer, host: 'evil.example' } }), { status: 403 });
  const large = { ...CHAT, messages: [{ role: 'user', content: 'x'.repeat(300_000) }] };
  t.match(await server.call('POST', '/v1/chat', { headers: offer, body: large }), { status: 200 }, 'a body of many pieces');
  t.match(
    await server.call('POST', '/v1/chat', { headers: { ...offer, expect: '100-continue' }, body: CHAT }),
    { status: 200 },
    'one that waits to be asked for',
  );
});

t.test('the connection of such a client can be used on and on, by one request after the other or all at once', async (t) => {
  const server = await startWsServer(t);
  const head = `Host: 127.0.0.1:${server.port}\r\nAuthorization: Bearer ${server.token}\r\n`;
  const offer = 'Connection: Upgrade\r\nUpgrade: h2c\r\n';
  const client = await RawClient.connect(t, server.port);
  for (let count = 1; count <= 5; count += 1) {
    client.send(`GET /v1/adapters HTTP/1.1\r\n${head}${offer}\r\n`);
    t.match((await client.settle(count))[count - 1], { status: 200 });
  }
  const body = JSON.stringify(CHAT);
  client.send(
    `POST /v1/chat HTTP/1.1\r\n${head}${offer}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}GET /v1/health HTTP/1.1\r\n${head}\r\n`,
  );
  const answers = await client.settle(7);
  t.match(answers.slice(5), [
    { status: 200, body: /Hello, you/ },
    { status: 200, body: /"status":"ok"/ },
  ]);
});

t.test('nothing stays on a connection of an offer that was served', async (t) => {
  const server = await startWsServer(t);
  const sockets = new Set<Socket>();
  server.transport.server.on('connection', (socket: Socket) => sockets.add(socket));
  const client = await RawClient.connect(t, server.port);
  const listeners: Record<string, number>[] = [];
  for (let count = 1; count <= 12; count += 1) {
    client.send(`GET /v1/health HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n`);
    t.match((await client.settle(count))[count - 1], { status: 200 });
    const [socket] = sockets;
    listeners.push(Object.fromEntries((socket?.eventNames() ?? []).map((name) => [String(name), socket?.listenerCount(name) ?? 0])));
  }
  t.equal(sockets.size, 1);
  t.ok(listeners[0]?.['error'], 'a break of the connection is still heard');
  t.strictSame(listeners.at(-1), listeners[0]);
});

t.test('an upgrade behind a request that is not answered yet ends the connection: its answer would be taken for the other', async (t) => {
  const server = await startWsServer(t, {}, { answer: () => undefined });
  const head = `Host: 127.0.0.1:${server.port}\r\nAuthorization: Bearer ${server.token}\r\n`;
  for (const second of [
    handshake(server),
    handshake(server, { path: '/x' }),
    `GET /v1/health HTTP/1.1\r\n${head}Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n`,
  ]) {
    const { received } = await exchange(t, server.port, `GET /v1/adapters/ollama/models HTTP/1.1\r\n${head}\r\n${second}`);
    t.equal(received, '');
  }
  t.equal(server.ws.connections(), 0);
});

t.test('a client that vanishes at any point of its handshake does no harm', async (t) => {
  const server = await startWsServer(t);
  const whole = handshake(server);
  const texts = [whole, handshake(server, { path: WS_PATH }), handshake(server, { path: '/x' }), `${whole}\x81\x85`, whole.slice(0, -2), whole.slice(0, 40)];
  for (let i = 0; i < sweep(1000, 180); i += 1) {
    const client = await RawClient.connect(t, server.port);
    const text = texts[i % texts.length] ?? whole;
    if (i % 3 === 0) client.send(text).socket.resetAndDestroy();
    else if (i % 3 === 1) client.socket.write(text, 'latin1', () => client.socket.resetAndDestroy());
    else client.send(text).socket.end();
  }
  await until('nothing of them is left', () => server.ws.connections() === 0);
  t.match(await server.call('GET', '/v1/health', { token: false }), { status: 200 });
  t.ok(await WsClient.connect(t, server));
  t.equal(server.wsLog.filter(({ level }) => level === 'error').length, 0);
});

t.test('frames that come in one piece with the handshake are read', async (t) => {
  const server = await startWsServer(t);
  const { frame } = await import('../../support/ws.ts');
  const client = await RawClient.connect(t, server.port);
  client.send(Buffer.concat([Buffer.from(handshake(server)), frame({ opcode: 1, payload: '{"type":"ping"}' })]));
  await until('a pong', () => client.received.includes('{"type":"pong"}'));
});

t.test('while the server closes, newcomers get a 503; after that HTTP has its upgrades back', async (t) => {
  const server = await startWsServer(t, { limits: { closeMs: 300 } });
  const deaf = await RawWs.connect(t, server);
  const closing = server.ws.close();
  t.match((await exchange(t, server.port, handshake(server))).responses, [{ status: 503 }]);
  await closing;
  t.equal(deaf.closeCode, 1001);
  const request = httpRequest({
    host: '127.0.0.1',
    port: server.port,
    path: '/v1/health',
    headers: { connection: 'upgrade', upgrade: 'websocket' },
    agent: false,
  }).end();
  t.match(await readAnswer(await responseOf(request)), { status: 200 });
  t.equal(server.transport.server.listenerCount('upgrade'), 0);
});
