import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import {
  CHAT_BODY_BYTES,
  COMPATIBLE_BODY_BYTES,
  COMPATIBLE_JSON_VALUES,
  isShredded,
  OTHER_BODY_BYTES,
  readBytes,
} from '../../../../transports/http/wire/body.ts';
import { BodyRoom } from '../../../../transports/http/wire/body-room.ts';
import { RawClient } from '../../../support/raw.ts';
import { CHAT, friendlyDaemon, readAnswer, responseOf, startServer, until } from '../../../support/server.ts';
import { sweep } from '../../../support/sweep.ts';

/** Between two pieces of a body without end: without it, both sides do nothing else for the second in which the server reads on after its refusal. */
const PACE_MS = 5;

const chat = (more: object): string => JSON.stringify({ ...CHAT, ...more });
const message = (fields: object): string => chat({ messages: [fields] });

/** A tool schema of `depth` objects, written by hand: JSON.stringify would overflow its own stack. */
const nested = (depth: number): string =>
  `{"adapter":"ollama","model":"m","messages":[{"role":"user","content":"hi"}],"tools":[{"name":"f","parameters":${'{"properties":'.repeat(depth)}{}${'}'.repeat(depth)}}]}`;

const MALFORMED: [title: string, body: string | Buffer, telling: RegExp][] = [
  ['no body', '', /body is empty/],
  ['only spaces', '  \n', /not valid JSON \(line 2, column 1\)/],
  ['null', 'null', /The body must be an object, not null/],
  ['an array', '[]', /The body must be an object, not an array/],
  ['a string', '"x"', /The body must be an object, not a string/],
  ['a number', '1', /The body must be an object, not a number/],
  ['half an object', '{"adapter":', /not valid JSON/],
  ['something behind the document', `${chat({})}x`, /not valid JSON/],
  ['two documents', chat({}) + chat({}), /not valid JSON/],
  ['a trailing comma', '{"adapter":"ollama",}', /not valid JSON \(line 1, column 21\)/],
  ['a missing comma', '{\n  "adapter": "ollama"\n  "model": "m"\n}', /^The body is not valid JSON \(line 3, column 3\)\.$/],
  ['a BOM', `\ufeff${chat({})}`, /not valid JSON/],
  ['UTF-16', Buffer.from(chat({}), 'utf16le'), /not valid (JSON|UTF-8)/],
  ['UTF-16 with a BOM', Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(chat({}), 'utf16le')]), /not valid UTF-8/],
  ['bytes that are no UTF-8', Buffer.concat([Buffer.from('{"adapter":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')]), /not valid UTF-8/],
  ['an encoded surrogate', Buffer.concat([Buffer.from('{"adapter":"'), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from('"}')]), /not valid UTF-8/],
  ['a raw control character in a string', '{"adapter":"a\nb"}', /not valid JSON/],
  ['a nesting of arrays', '['.repeat(50_000) + ']'.repeat(50_000), /The body must be an object/],
  ['an unclosed nesting', '{"a":'.repeat(50_000), /not valid JSON/],
  ['a nesting of a million arrays', '['.repeat(1_000_000) + ']'.repeat(1_000_000), /more than 50000 JSON values; send fewer/],
  ['more values than can be read at once', chat({ tools: Array.from({ length: 50_000 }, () => 0) }), /more than 50000 JSON values; send fewer/],
];

const WRONG: [title: string, body: string, path: string][] = [
  ['an empty object', '{}', 'adapter'],
  ['no model', '{"adapter":"ollama","messages":[{"role":"user","content":"hi"}]}', 'model'],
  ['no messages', '{"adapter":"ollama","model":"m"}', 'messages'],
  ['empty messages', chat({ messages: [] }), 'messages'],
  ['messages that are no array', chat({ messages: 'hi' }), 'messages'],
  ['an adapter that is no string', chat({ adapter: 1 }), 'adapter'],
  ['an unknown adapter', chat({ adapter: 'nobody' }), 'adapter'],
  ['an adapter called __proto__', chat({ adapter: '__proto__' }), 'adapter'],
  ['an adapter called constructor', chat({ adapter: 'constructor' }), 'adapter'],
  ['an empty model', chat({ model: '' }), 'model'],
  ['a model that climbs', chat({ model: '../x' }), 'model'],
  ['a model of 10 KB', chat({ model: 'm'.repeat(10_000) }), 'model'],
  ['stream as a string', chat({ stream: 'true' }), 'stream'],
  ['stream as null', chat({ stream: null }), 'stream'],
  ['an unknown field', chat({ max_tokens: 5 }), 'max_tokens'],
  ['an unknown field in config', chat({ config: { top_p: 1 } }), 'config.top_p'],
  ['an unknown field in a message', message({ role: 'user', content: 'hi', name: 'x' }), 'messages[0].name'],
  ['a temperature above 1', chat({ config: { temperature: 1.1 } }), 'config.temperature'],
  ['a temperature below 0', chat({ config: { temperature: -0.1 } }), 'config.temperature'],
  ['a temperature as text', chat({ config: { temperature: '0.5' } }), 'config.temperature'],
  ['an infinite temperature', chat({}).replace(/}$/, ',"config":{"temperature":1e999}}'), 'config.temperature'],
  ['maxTokens of 0', chat({ config: { maxTokens: 0 } }), 'config.maxTokens'],
  ['a fractional maxTokens', chat({ config: { maxTokens: 1.5 } }), 'config.maxTokens'],
  ['an infinite maxTokens', chat({}).replace(/}$/, ',"config":{"maxTokens":1e999}}'), 'config.maxTokens'],
  ['maxTokens beyond the integers', chat({ config: { maxTokens: 2 ** 53 } }), 'config.maxTokens'],
  ['an apiKey with a line end', chat({ config: { apiKey: 'a\r\nx: y' } }), 'config.apiKey'],
  ['an unknown role', message({ role: 'robot', content: 'hi' }), 'messages[0].role'],
  ['content of an unknown part', message({ role: 'user', content: [{ type: 'video', text: 'hi' }] }), 'messages[0].content[0].type'],
  ['a user message without content', message({ role: 'user' }), 'messages[0].content'],
  ['only blank messages', message({ role: 'user', content: ' \n' }), 'messages'],
  [
    'a tool result without its call',
    chat({ messages: [CHAT.messages[0], { role: 'tool', toolResults: [{ toolCallId: 'c1', content: '1' }] }] }),
    'messages[1].toolResults[0].toolCallId',
  ],
  [
    'a tool call without its result',
    chat({ messages: [CHAT.messages[0], { role: 'assistant', toolCalls: [{ id: 'c1', name: 'f', arguments: {} }] }] }),
    'messages[1].toolCalls[0]',
  ],
  ['a tool message without results', chat({ messages: [{ role: 'tool', content: 'x' }] }), 'messages[0].toolResults'],
  ['toolCalls on a user message', message({ role: 'user', content: 'hi', toolCalls: [] }), 'messages[0].toolCalls'],
  ['a tool name with a space', chat({ tools: [{ name: 'a b' }] }), 'tools[0].name'],
  ['two tools of one name', chat({ tools: [{ name: 'f' }, { name: 'f' }] }), 'tools[1].name'],
  ['an own __proto__ field', chat({}).replace(/}$/, ',"__proto__":{"polluted":1}}'), '__proto__'],
  ['__proto__ in config', chat({}).replace(/}$/, ',"config":{"__proto__":{"polluted":1}}}'), 'config.__proto__'],
  ['constructor.prototype', chat({}).replace(/}$/, ',"constructor":{"prototype":{"polluted":1}}}'), 'constructor'],
  ['a tool schema of 200 levels', nested(200), 'tools[0].parameters'],
  ['a tool schema of 10,000 levels', nested(10_000), 'tools[0].parameters'],
];

t.test('a body that is no JSON object is a 400 that says so, and nothing reaches the provider', async (t) => {
  const server = await startServer(t);
  for (const [title, body, telling] of MALFORMED) {
    const answer = await server.call('POST', '/v1/chat', { body });
    t.match(answer, { status: 400, json: { status: 400, code: 'INVALID_REQUEST', error: telling, requestId: String } }, title);
  }
  t.equal(server.upstream.requests.length, 0);
  t.match(await server.call('POST', '/v1/chat', { body: CHAT }), { status: 200 });
});

t.test('a wrong field is a 400 that names it, streamed or not, and nothing reaches the provider', async (t) => {
  const server = await startServer(t);
  for (const [title, body, path] of WRONG) {
    for (const text of body.includes('"stream"') ? [body] : [body, body.replace(/^{/, '{"stream":true,').replace(',}', '}')]) {
      const answer = await server.call('POST', '/v1/chat', { body: text });
      t.match(answer, { status: 400, headers: { 'content-type': 'application/json; charset=utf-8' }, json: { code: 'INVALID_REQUEST' } }, title);
      t.equal((answer.json['details'] as { path: string }[])[0]?.path, path, `${title}: the path`);
    }
  }
  t.equal(server.upstream.requests.length, 0);
  t.equal(({} as { polluted?: unknown }).polluted, undefined);
  t.match(await server.call('POST', '/v1/chat', { body: CHAT }), { status: 200 });
});

t.test('a tool schema of very many levels is a 400', async (t) => {
  const server = await startServer(t);
  for (const [depth, path] of [
    [40_000, 'tools[0].parameters'],
    [1_000_000, ''],
  ] as const) {
    const body = `{"adapter":"ollama","model":"m","messages":[{"role":"user","content":"hi"}],"tools":[{"name":"f","parameters":{"x":${'['.repeat(depth)}${']'.repeat(depth)}}}]}`;
    t.match(await server.call('POST', '/v1/chat', { body }), { status: 400, json: { details: [{ path }] } }, `${depth} levels`);
  }
  t.match(await server.call('GET', '/v1/health'), { status: 200 });
});

t.test('a __proto__ inside free-form JSON is data, and reaches the provider as it is', async (t) => {
  const server = await startServer(t);
  const parameters = '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"string"}}}';
  const body = chat({}).replace(/}$/, `,"tools":[{"name":"f","parameters":${parameters}}]}`);
  t.match(await server.call('POST', '/v1/chat', { body }), { status: 200 });
  t.match(server.upstream.requests[0]?.body, parameters.slice(1, -1));
  t.equal(({} as { type?: unknown }).type, undefined);
});

t.test('odd but valid text reaches the provider exactly', async (t) => {
  const server = await startServer(t);
  for (const content of ['a\u2028b\u2029c', 'nul \u0000 inside', '\u202e right to left', '\u001b[31mred', '😀', '\\ud800', '\n\nevent: done\ndata: {}\n\n']) {
    t.match(await server.call('POST', '/v1/chat', { body: { ...CHAT, messages: [{ role: 'user', content }] } }), { status: 200 }, encodeURIComponent(content));
    t.match(JSON.parse(server.upstream.requests.at(-1)?.body ?? ''), { messages: [{ content }] });
  }
  const lone = message({ role: 'user', content: 'x' }).replace('"x"', '"\\ud800"');
  t.match(await server.call('POST', '/v1/chat', { body: lone }), { status: 200 });
  t.equal((JSON.parse(server.upstream.requests.at(-1)?.body ?? '') as typeof CHAT).messages[0]?.content, '\ud800', 'a lone surrogate');
});

t.test('a body that is not plain UTF-8 JSON by its headers is a 415', async (t) => {
  const server = await startServer(t);
  const refused: [title: string, headers: Record<string, string>, body?: Buffer][] = [
    ['text/plain', { 'content-type': 'text/plain' }],
    ['no content type', { 'content-type': '' }],
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['multipart', { 'content-type': 'multipart/form-data; boundary=x' }],
    ['a type that only begins alike', { 'content-type': 'application/json-patch+json' }],
    ['utf-16', { 'content-type': 'application/json; charset=utf-16' }],
    ['latin-1', { 'content-type': 'application/json;charset="iso-8859-1"' }],
    ['gzip', { 'content-encoding': 'gzip' }, gzipSync(chat({}))],
    ['br', { 'content-encoding': 'br' }],
    ['gzip twice', { 'content-encoding': 'gzip, gzip' }],
    ['identity and gzip', { 'content-encoding': 'identity, gzip' }],
  ];
  for (const [title, headers, body] of refused)
    t.match(
      await server.call('POST', '/v1/chat', { headers, body: body ?? chat({}) }),
      { status: 415, json: { status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' } },
      title,
    );
  t.equal(server.upstream.requests.length, 0);
  const taken = [
    'application/json',
    'Application/JSON',
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
    'application/json; charset=utf8; x=y',
  ];
  for (const type of taken) t.match(await server.call('POST', '/v1/chat', { headers: { 'content-type': type }, body: chat({}) }), { status: 200 }, type);
  t.match(await server.call('POST', '/v1/chat', { headers: { 'content-encoding': 'identity' }, body: chat({}) }), { status: 200 });
  const client = await RawClient.connect(t, server.port);
  client.send(
    `POST /v1/chat HTTP/1.1\r\nHost: localhost:${server.port}\r\nAuthorization: Bearer ${server.token}\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`,
  );
  t.equal((await client.untilClosed())[0]?.status, 415, 'a missing content type');
});

for (const [path, limit] of [
  ['/v1/chat', CHAT_BODY_BYTES],
  ['/v1/adapters/ollama/verify', OTHER_BODY_BYTES],
] as const) {
  const padded = (bytes: number): Buffer => Buffer.from(`{"provider":"ollama","x":"${'y'.repeat(bytes - 28)}"}`);

  t.test(`${path} takes ${limit} bytes and not one more, announced or chunked`, async (t) => {
    const server = await startServer(t);
    for (const headers of [{}, { 'transfer-encoding': 'chunked', 'content-length': [] as string[] }]) {
      t.match(await server.call('POST', path, { body: padded(limit), headers }), { status: 400, json: { code: 'INVALID_REQUEST' } }, 'at the limit it is read');
      const answer = await server.call('POST', path, { body: padded(limit + 1), headers });
      t.match(answer, { status: 413, headers: { connection: 'close' }, json: { status: 413, code: 'BODY_TOO_LARGE' } }, 'one byte over it is not');
    }
  });

  t.test(`${path} stops reading a body that never ends`, async (t) => {
    const server = await startServer(t);
    const client = await RawClient.connect(t, server.port);
    client.send(
      `POST ${path} HTTP/1.1\r\nHost: localhost:${server.port}\r\nAuthorization: Bearer ${server.token}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
    );
    const piece = Buffer.concat([Buffer.from('100000\r\n'), Buffer.alloc(0x100000, 0x20), Buffer.from('\r\n')]);
    const flood = (): void => {
      if (!client.closed) client.socket.write(piece, () => setTimeout(flood, PACE_MS));
    };
    flood();
    t.match(await client.untilClosed(), [{ status: 413 }], 'the client is told, and then cut off');
    t.match(await server.call('GET', '/v1/health'), { status: 200 });
  });
}

t.test('a body in chunks of next to nothing is refused, and its connection is closed, with and without a key', async (t) => {
  const server = await startServer(t);
  for (const [path, head, status] of [
    ['/v1/chat', `Authorization: Bearer ${server.token}\r\n`, 400],
    ['/v1/chat', '', 401],
    ['/api/session', '', 400],
  ] as const) {
    const client = await RawClient.connect(t, server.port);
    client.send(`POST ${path} HTTP/1.1\r\nHost: localhost:${server.port}\r\n${head}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`);
    const pieces = Buffer.from('1\r\n \r\n'.repeat(10_000));
    const flood = (): void => {
      if (!client.closed) client.socket.write(pieces, () => setTimeout(flood, PACE_MS));
    };
    flood();
    const [answer] = await client.untilClosed(); // the reset may come before it was read
    t.ok(answer === undefined || answer.status === status, `${path} ${answer?.status}`);
    await until(() => server.log.some(({ fields }) => fields['path'] === path && fields['status'] === status), `${status} in the log`);
  }
  t.match(await server.call('GET', '/v1/health'), { status: 200 });
  const chunked = { headers: { 'transfer-encoding': 'chunked' } };
  const announced = { headers: { 'content-length': '10001' } };
  t.strictSame(
    [isShredded(chunked, 10_000, 10_000), isShredded(chunked, 10_001, 10_001), isShredded(chunked, 10_001, 10_001 * 32), isShredded(announced, 10_001, 10_001)],
    [false, true, false, false],
    'a client that writes a body of usual size token by token is taken',
  );
});

t.test('a client that is still sending can read its refusal', async (t) => {
  const server = await startServer(t);
  const refusals: [status: number, head: string][] = [
    [413, `Authorization: Bearer ${server.token}\r\nContent-Type: application/json\r\n`],
    [415, `Authorization: Bearer ${server.token}\r\nContent-Type: text/plain\r\n`],
    [401, 'Content-Type: application/json\r\n'],
  ];
  for (const [status, head] of refusals) {
    const size = status === 413 ? CHAT_BODY_BYTES + 1 : 1_000_000;
    const client = await RawClient.connect(t, server.port);
    client.socket.pause();
    client.send(`POST /v1/chat HTTP/1.1\r\nHost: localhost:${server.port}\r\n${head}Content-Length: ${size}\r\n\r\n`);
    await new Promise<void>((resolve) => client.socket.write(Buffer.alloc(size, 0x20), () => resolve()));
    client.socket.resume();
    t.match(await client.untilClosed(), [{ status }], `${status}`);
  }
});

t.test('a body that is announced and never comes whole applies nothing', async (t) => {
  const server = await startServer(t);
  const whole = `POST /v1/chat HTTP/1.1\r\nHost: localhost:${server.port}\r\nAuthorization: Bearer ${server.token}\r\nContent-Type: application/json\r\nContent-Length: ${chat({}).length}\r\n\r\n${chat({})}`;
  for (const how of ['end', 'destroy', 'resetAndDestroy'] as const) {
    for (let cut = 1; cut < whole.length; cut += sweep(10, 30)) {
      const client = await RawClient.connect(t, server.port);
      await new Promise<void>((resolve) => client.socket.write(whole.slice(0, cut), () => resolve()));
      client.socket[how]();
      await client.untilClosed();
    }
  }
  t.match(await server.call('GET', '/v1/health'), { status: 200 });
  t.equal(server.upstream.requests.length, 0);
  t.strictSame(
    server.log.filter(({ level }) => level === 'error'),
    [],
    'and is no error of ours',
  );
});

t.test('bytes of a named type are read as they are, and nothing else is taken for them', async (t) => {
  const limit = 1000;
  const bodies = new BodyRoom({ bytes: limit, patienceMs: 10_000 });
  const server = createServer((req, res) => {
    readBytes({ req, res, server: { bodyStallMs: 10_000, bodies } }, limit, 'application/gzip').then(
      (bytes) => res.end(Buffer.from(bytes).toString('hex')),
      (error: { code: string; message: string }) => res.writeHead(400, { connection: 'close' }).end(`${error.code} ${error.message}`),
    );
  }).listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const send = async (body: Buffer | undefined, headers: Record<string, string>): Promise<string> => {
    const request = httpRequest({ host: '127.0.0.1', port, method: 'POST', agent: false, headers });
    request.on('error', () => undefined); // a refused body
    request.end(body);
    return (await readAnswer(await responseOf(request))).text;
  };
  const type = { 'content-type': 'application/gzip' };
  const bytes = Buffer.from([0x1f, 0x8b, 0x00, 0xff, 0x0a]);
  t.equal(await send(bytes, type), bytes.toString('hex'));
  t.equal(await send(bytes, { 'content-type': 'Application/GZIP; x=y', 'transfer-encoding': 'chunked' }), bytes.toString('hex'));
  t.equal((await send(Buffer.alloc(limit, 1), type)).length, 2 * limit);
  t.match(await send(Buffer.alloc(limit + 1, 1), type), /^BODY_TOO_LARGE .* 1000 bytes/);
  t.match(await send(Buffer.alloc(limit + 1, 1), { ...type, 'transfer-encoding': 'chunked' }), /^BODY_TOO_LARGE/);
  t.match(await send(undefined, {}), /^INVALID_REQUEST The body is empty; send application\/gzip/);
  t.match(await send(undefined, { ...type, 'transfer-encoding': 'chunked' }), /^INVALID_REQUEST The body is empty/);
  t.match(await send(bytes, { 'content-type': 'application/json' }), /^UNSUPPORTED_MEDIA_TYPE .* content-type: application\/gzip/);
  t.match(await send(bytes, {}), /^UNSUPPORTED_MEDIA_TYPE/);
  t.match(await send(bytes, { ...type, 'content-encoding': 'gzip' }), /^UNSUPPORTED_MEDIA_TYPE .* without content-encoding/);
});

t.test('a body of which nothing arrives any more is refused with 408; one that goes on arriving is taken', async (t) => {
  const server = await startServer(t, { http: { bodyStallMs: 200 } });
  const body = chat({});
  const head = `POST /v1/chat HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nAuthorization: Bearer ${server.token}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
  for (const sent of ['', body.slice(0, 10)]) {
    const client = await RawClient.connect(t, server.port);
    client.send(head + sent);
    await client.untilClosed();
    t.match(client.responses, [{ status: 408 }], `after ${sent.length} bytes`);
    t.match(JSON.parse(client.responses[0]?.body ?? '{}'), { code: 'REQUEST_TIMEOUT', error: /No data of the body arrived/ });
  }
  const steady = await RawClient.connect(t, server.port);
  steady.send(head);
  const begin = performance.now();
  for (const piece of [body.slice(0, 20), body.slice(20, 40), body.slice(40, 60)]) {
    steady.send(piece);
    await delay(100);
  }
  steady.send(body.slice(60));
  await until(() => steady.responses.length > 0, 'the answer');
  t.match(steady.responses, [{ status: 200 }]);
  t.ok(performance.now() - begin > 200, 'all in all it took longer than a silence may last');
});

t.test('the time for an answer is not the time for a body', async (t) => {
  const server = await startServer(t, {
    http: { bodyStallMs: 50 },
    answer: async (request, res, index) => {
      await delay(200);
      await friendlyDaemon(request, res, index);
    },
  });
  t.match(await server.call('POST', '/v1/chat', { body: CHAT }), { status: 200 });
});

const completion = (more: object): string => JSON.stringify({ model: 'ollama/m', messages: [{ role: 'user', content: 'hi' }], ...more });

t.test('a compatible route takes a history of 30 MiB with screenshots in it, and refuses more than 32 MiB in the form of its protocol', async (t) => {
  const server = await startServer(t);
  const url = `data:image/png;base64,${'A'.repeat(10 * 1024 * 1024)}`;
  const screenshot = { role: 'user', content: [{ type: 'image_url', image_url: { url } }] };
  t.match(await server.call('POST', '/v1/chat/completions', { body: { model: 'ollama/m', messages: [screenshot, screenshot, screenshot] } }), { status: 200 });
  t.ok((server.upstream.requests[0]?.body.length ?? 0) > 30 * 1024 * 1024, 'the provider has all of it');
  const refused = await server.call('POST', '/v1/chat/completions', { headers: { 'content-length': String(COMPATIBLE_BODY_BYTES + 1) } });
  t.match(refused, { status: 413, json: { error: { type: 'invalid_request_error', message: /33554432 bytes/ } } });
  t.equal(server.upstream.requests.length, 1);
});

t.test('a compatible route takes 300,000 JSON values and no more, and many messages among them', async (t) => {
  const server = await startServer(t);
  const call = (body: string) => server.call('POST', '/v1/chat/completions', { body });
  const messages = Array.from({ length: 20_000 }, () => ({ role: 'user', content: 'hi' }));
  t.match(await call(completion({ messages })), { status: 200 }, '20,000 messages');
  const list = (length: number) => completion({ extra: Array.from({ length }, () => 0) });
  t.match(await call(list(COMPATIBLE_JSON_VALUES - 10)), { status: 200 });
  const refused = { status: 400, json: { error: { type: 'invalid_request_error', message: /more than 300000 JSON values; send fewer/ } } };
  t.match(await call(list(COMPATIBLE_JSON_VALUES)), refused);
});

t.test('20,000 messages are translated, and more are refused by their field and the limit', async (t) => {
  const server = await startServer(t);
  const many = (length: number) => Array.from({ length }, () => ({ role: 'user', content: 'hi' }));
  const count = (messages: object[]) => server.call('POST', '/v1/messages/count_tokens', { body: completion({ messages }) });
  t.match(await count(many(20_000)), { status: 200, json: { input_tokens: Number } });
  t.match(await count(many(20_001)), { status: 400, json: { error: { message: 'messages has 20001 items; send at most 20000.' } } });
  const input = many(20_001);
  t.match(await server.call('POST', '/v1/responses', { body: JSON.stringify({ model: 'ollama/m', input }) }), {
    status: 400,
    json: { error: { param: 'input' } },
  });
});

t.test('an object of 10,000 fields is taken and a wider one is refused, in a body of any size', async (t) => {
  const server = await startServer(t);
  const wide = (fields: number, name: string) =>
    completion({ extra: { a: Object.fromEntries(Array.from({ length: fields }, (_, index) => [name + index, 1])) } });
  const call = (body: string) => server.call('POST', '/v1/chat/completions', { body });
  for (const name of ['f', 'f'.repeat(150)]) {
    t.match(await call(wide(10_000, name)), { status: 200 });
    const refused = { status: 400, json: { error: { message: 'The body has an object with more than 10000 fields; send fewer.' } } };
    t.match(await call(wide(10_001, name)), refused);
  }
  const long = { status: 400, json: { error: { message: 'The body has a name, a number or blanks of more than 131072 bytes.' } } };
  t.match(await call(completion({ ['k'.repeat(2_000_000)]: 1 })), long);
});

t.test('who asks while thirty bodies end at the same moment is answered between them', async (t) => {
  const server = await startServer(t);
  const body = chat({ odd: Array.from({ length: 40_000 }, () => 1) });
  const head = `POST /v1/chat HTTP/1.1\r\nhost: ${new URL(server.url).host}\r\nauthorization: Bearer ${server.token}\r\ncontent-type: application/json\r\n`;
  const open = async (): Promise<Socket> => {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    t.teardown(() => socket.destroy());
    await once(socket, 'connect');
    return socket;
  };
  const senders = await Promise.all(Array.from({ length: 30 }, open));
  const asking = await open();
  for (const socket of senders) socket.write(`${head}content-length: ${body.length}\r\n\r\n${body.slice(0, -1)}`);
  await until(() => senders.every((socket) => socket.writableLength === 0), 'the bodies are sent');
  const ask = `GET /v1/health HTTP/1.1\r\nhost: ${new URL(server.url).host}\r\n\r\n`;
  asking.write(ask);
  await once(asking, 'data'); // its connection is accepted, and so are those before it
  let answered = 0;
  const all = senders.map((socket) => once(socket, 'data').then(() => (answered += 1)));
  for (const socket of senders) socket.write(body.slice(-1));
  asking.write(ask);
  await once(asking, 'data');
  t.ok(answered < 15, `${answered} were answered before`);
  await Promise.all(all);
});

/** Connections that send this body to /v1/chat at once, and one more that asks for the health; how many had their answer before it. */
async function answeredBefore(t: Test, count: number, body: string, areOpen: boolean): Promise<number> {
  const server = await startServer(t);
  const { host, port } = new URL(server.url);
  const post = `POST /v1/chat HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${server.token}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  const open = (): Socket => {
    const socket = connect(Number(port), '127.0.0.1');
    t.teardown(() => socket.destroy());
    return socket;
  };
  const sockets = Array.from({ length: count + 1 }, open);
  if (areOpen) {
    // An answer shows that the server has taken the connection.
    for (const socket of sockets) socket.write(`GET /v1/health HTTP/1.1\r\nhost: ${host}\r\n\r\n`);
    await Promise.all(sockets.map((socket) => once(socket, 'data')));
  }
  const asking = sockets.pop();
  let answered = 0;
  const all = sockets.map((socket) => once(socket, 'data').then(() => (answered += 1)));
  for (const socket of sockets) socket.write(post);
  asking?.write(`GET /v1/health HTTP/1.1\r\nhost: ${host}\r\n\r\n`);
  await once(asking as Socket, 'data');
  const before = answered;
  await Promise.all(all);
  return before;
}

t.test('who asks while very many bodies below 64 KiB end at the same moment is answered between them', async (t) => {
  const before = await answeredBefore(t, 100, chat({ odd: Array.from({ length: 30_000 }, () => 1) }), true);
  t.ok(before < 50, `${before} were answered before`);
});

t.test('who comes while very many new connections bring bodies is answered between them', async (t) => {
  // However slow the machine is, the time that newcomers have is not over.
  const now = performance.now();
  t.capture(performance, 'now', () => now);
  const before = await answeredBefore(t, 100, chat({ odd: Array.from({ length: 30_000 }, () => 1) }), false);
  t.ok(before < 50, `${before} were answered before`);
});

t.test('headers of 31 KiB are taken', async (t) => {
  const server = await startServer(t);
  const headers = { 'anthropic-beta': 'a-feature-2026-01-01,'.repeat(1475) };
  t.ok(headers['anthropic-beta'].length > 30 * 1024);
  t.match(await server.call('POST', '/v1/chat/completions', { headers, body: completion({}) }), { status: 200 });
});
