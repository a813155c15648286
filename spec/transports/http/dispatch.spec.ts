import { get } from 'node:http';
import t from 'tap';
import { createCore } from '../../../core/index.ts';
import { createHttpTransport } from '../../../transports/http/index.ts';
import { writeNewToken } from '../../support/new-token.ts';
import { RawClient } from '../../support/raw.ts';
import { scriptedAdapter } from '../../support/scripted-adapter.ts';
import { CHAT, framesOf, readAnswer, responseOf, startServer, until } from '../../support/server.ts';
import { testFolder } from '../../support/test-folder.ts';

const PROTECTED: [method: string, path: string][] = [
  ['GET', '/v1/adapters'],
  ['GET', '/v1/adapters/ollama/models'],
  ['POST', '/v1/adapters/ollama/verify'],
  ['POST', '/v1/chat'],
  ['GET', '/nowhere'],
  ['GET', '/'],
  ['DELETE', '/v1/adapters'],
];

t.test('without the right token every answer is the same 401, whatever the route and the attempt', async (t) => {
  const attempts: [title: string, authorization: (token: string) => string][] = [
    ['no token', () => ''],
    ['Bearer', () => 'Authorization: Bearer\r\n'],
    ['Bearer and spaces', () => 'Authorization: Bearer    \r\n'],
    ['Basic', (token) => `Authorization: Basic ${Buffer.from(`x:${token}`).toString('base64')}\r\n`],
    ['the token without a scheme', (token) => `Authorization: ${token}\r\n`],
    ['two Authorization headers', (token) => `Authorization: Bearer ${token}\r\nAuthorization: Bearer ${token}\r\n`],
    ['a cookie', (token) => `Cookie: token=${token}\r\n`],
    ['an invented header', (token) => `x-blockhouse-token: ${token}\r\n`],
    ['a wrong token', () => `Authorization: Bearer bh_${'A'.repeat(43)}\r\n`],
    ['a shorter token', (token) => `Authorization: Bearer ${token.slice(0, -1)}\r\n`],
    ['a longer token', (token) => `Authorization: Bearer ${token}x\r\n`],
    ['the token and more', (token) => `Authorization: Bearer ${token} x\r\n`],
    ['a non-ASCII token', () => `Authorization: Bearer bh_\xe9\xff${'A'.repeat(41)}\r\n`],
    ['a token of 15 KB', () => `Authorization: Bearer ${'A'.repeat(15 * 1024)}\r\n`],
  ];
  const bodies = new Set<string>();
  for (const [title, authorization] of attempts) {
    const { token, port, upstream } = await startServer(t); // one for each: of wrong tokens a server counts how many came
    const client = await RawClient.connect(t, port);
    for (const [index, [method, path]] of PROTECTED.entries()) {
      client.send(`${method} ${path}?token=${token} HTTP/1.1\r\nHost: localhost:${port}\r\nX-Request-Id: same\r\n${authorization(token)}\r\n`);
      const answer = (await client.settle(index + 1))[index];
      t.match(answer, { status: 401 }, `${title}: ${method} ${path}`);
      t.equal(answer?.headers.get('www-authenticate'), 'Bearer');
      bodies.add(answer?.body ?? '');
    }
    t.equal(upstream.requests.length, 0);
  }
  t.equal(bodies.size, 1, 'one body for all');
  t.match(JSON.parse([...bodies][0] ?? ''), { status: 401, code: 'UNAUTHORIZED', requestId: 'same', error: /blockhouse token/ });
});

t.test('a token in the body or the query is none', async (t) => {
  const server = await startServer(t);
  const { token } = server;
  t.match(await server.call('POST', `/v1/chat?token=${token}`, { token: false, body: { ...CHAT, token } }), { status: 401 });
  t.equal(server.upstream.requests.length, 0);
});

t.test('four routes of every server need no token, and take a bad one', async (t) => {
  const server = await startServer(t);
  for (const path of ['/v1/health', '/api/health', '/api/auth/status', '/openapi.json']) {
    t.match(await server.call('GET', path, { token: false }), { status: 200 }, path);
    t.match(await server.call('GET', path, { token: false, headers: { authorization: 'Bearer nonsense' } }), { status: 200 }, path);
  }
});

t.test('a rotated token takes hold without a restart', async (t) => {
  const server = await startServer(t);
  const fresh = await writeNewToken(server.workspace);
  const withToken = async (token: string): Promise<number> =>
    (await server.call('GET', '/v1/adapters', { token: false, headers: { authorization: `Bearer ${token}` } })).status;
  await until(async () => (await withToken(server.token)) === 401, 'the old token to be refused');
  t.equal(await withToken(fresh), 200);
});

t.test('a path without a route is a 404 in the shape of every error', async (t) => {
  const server = await startServer(t);
  for (const path of [
    '/',
    '/v1',
    '/v1/',
    '/v1/chat/',
    '/V1/health',
    '/v1/adapters/ollama',
    '/%00',
    '/%E0%A4%A',
    '/%c0%ae%c0%ae',
    '/v1/%252e',
    '//v1/health',
    '/v1/../v1/health',
  ])
    t.match(await server.call('GET', path), { status: 404, json: { status: 404, code: 'NOT_FOUND', error: String, requestId: String } }, path);
  for (const path of ['/v1/adapters/%E0%A4%A/models', '/api/blocks/%zz']) {
    t.match(await server.call('GET', path), { status: 404, json: { code: 'NOT_FOUND' } }, path);
    t.match(await server.call('GET', path, { token: false }), { status: 401, json: { code: 'UNAUTHORIZED' } }, `${path} without a token`);
  }
  t.match(await server.call('GET', '/v1/health?%E0%A4%A=%00'), { status: 200 }, 'a query that nobody reads may hold anything');
});

t.test('a wrong method is a 405 that lists the right ones', async (t) => {
  const server = await startServer(t);
  const cases: [method: string, path: string, allow: string][] = [
    ['POST', '/v1/health', 'GET, HEAD, OPTIONS'],
    ['DELETE', '/v1/adapters', 'GET, HEAD, OPTIONS'],
    ['POST', '/v1/adapters/ollama/models', 'GET, HEAD, OPTIONS'],
    ['GET', '/v1/adapters/ollama/verify', 'POST, OPTIONS'],
    ['GET', '/v1/chat', 'POST, OPTIONS'],
    ['HEAD', '/v1/chat', 'POST, OPTIONS'],
    ['PUT', '/v1/chat', 'POST, OPTIONS'],
    ['TRACE', '/v1/chat', 'POST, OPTIONS'],
    ['PATCH', '/api/health', 'GET, HEAD, OPTIONS'],
  ];
  for (const [method, path, allow] of cases) {
    const answer = await server.call(method, path);
    t.match(answer, { status: 405, headers: { allow } }, `${method} ${path}`);
    if (method !== 'HEAD') t.match(answer.json, { status: 405, code: 'METHOD_NOT_ALLOWED', requestId: String });
  }
  t.match(await server.call('GET', '/v1/chat', { headers: { 'x-http-method-override': 'POST' } }), { status: 405 }, 'an override header changes nothing');
});

t.test('OPTIONS tells the methods, with no CORS header for anybody', async (t) => {
  const server = await startServer(t);
  const answer = await server.call('OPTIONS', '/v1/chat', { token: false });
  t.match(answer, { status: 204, text: '', headers: { allow: 'POST, OPTIONS' } });
  t.match(await server.call('OPTIONS', '/nowhere', { token: false }), { status: 401 });
});

t.test('HEAD is GET without its body', async (t) => {
  const server = await startServer(t);
  for (const path of ['/v1/health', '/v1/adapters', '/v1/adapters/ollama/models', '/api/auth/status', '/openapi.json']) {
    const [head, whole] = [await server.call('HEAD', path), await server.call('GET', path)];
    t.match(
      head,
      { status: 200, text: '', headers: { 'content-type': 'application/json; charset=utf-8', 'content-length': whole.headers['content-length'] } },
      path,
    );
  }
});

t.test('a sane request id is kept, another is replaced, and every answer and error carries it', async (t) => {
  const server = await startServer(t);
  for (const path of ['/v1/health', '/nowhere']) {
    const kept = await server.call('GET', path, { headers: { 'x-request-id': 'abc-1:2.3_4' } });
    t.equal(kept.headers['x-request-id'], 'abc-1:2.3_4');
    const ids = new Set<unknown>();
    for (const given of ['a b', 'x'.repeat(129), '<script>', 'a,b', ['one', 'two'], undefined]) {
      const replaced = await server.call('GET', path, given === undefined ? {} : { headers: { 'x-request-id': given } });
      t.match(replaced.headers['x-request-id'], /^req_[0-9a-f]{24}$/);
      if (path === '/nowhere') t.equal(replaced.json['requestId'], replaced.headers['x-request-id']);
      ids.add(replaced.headers['x-request-id']);
    }
    t.equal(ids.size, 6, 'each is new');
  }
  t.ok(
    server.log.every(({ fields }) => typeof fields['requestId'] === 'string'),
    'each log line has it',
  );
});

t.test('every answer carries the protecting headers, and none opens the server to other origins', async (t) => {
  const server = await startServer(t);
  const answers = [
    await server.call('GET', '/v1/health'),
    await server.call('POST', '/v1/chat', { body: CHAT }),
    await server.call('POST', '/v1/chat', { body: { ...CHAT, stream: true } }),
    await server.call('GET', '/nowhere'),
    await server.call('GET', '/v1/adapters', { token: false }),
    await server.call('OPTIONS', '/v1/chat', {
      headers: { origin: 'http://evil.example', 'access-control-request-method': 'POST', 'access-control-request-private-network': 'true' },
    }),
    await server.call('OPTIONS', '/v1/chat', { headers: { origin: `http://127.0.0.1:${server.port}`, 'access-control-request-method': 'POST' } }),
  ];
  t.strictSame(
    answers.map(({ status }) => status),
    [200, 200, 200, 404, 401, 403, 204],
  );
  for (const { headers } of answers) {
    t.match(headers, { 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer', 'content-security-policy': /frame-ancestors 'none'/ });
    t.strictSame(
      Object.keys(headers).filter((name) => name.startsWith('access-control-')),
      [],
    );
  }
});

t.test('a page of another site is refused before anything is read, token or not', async (t) => {
  const server = await startServer(t);
  const foreign: Record<string, string>[] = [
    { origin: 'http://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { host: 'evil.example' },
    { host: 'localhost:1' },
  ];
  for (const headers of foreign) {
    t.match(await server.call('POST', '/v1/chat', { headers, body: CHAT }), { status: 403, json: { status: 403, code: 'FORBIDDEN_ORIGIN' } });
    t.match(await server.call('GET', '/v1/health', { headers, token: false }), { status: 403 });
    t.match(await server.call('POST', '/v1/chat', { headers: { 'content-type': 'text/plain', ...headers }, body: CHAT }), { status: 403 });
  }
  t.equal(server.upstream.requests.length, 0);
  t.match(await server.call('POST', '/v1/chat', { headers: { origin: `http://127.0.0.1:${server.port}` }, body: CHAT }), { status: 200 });
});

t.test('a server that is open to other machines answers under any name', async (t) => {
  const server = await startServer(t, { http: { allowRemote: true } });
  t.match(await server.call('GET', '/v1/adapters', { headers: { host: 'box.example' } }), { status: 200 });
  t.match(await server.call('GET', '/v1/adapters', { headers: { host: 'box.example' }, token: false }), { status: 401 });
});

t.test('the text of an INTERNAL_ERROR never leaves; its cause is in the log', async (t) => {
  const fail = (): never => {
    throw new Error('canary-secret at /home/x');
  };
  const server = await startServer(t, { adapters: [scriptedAdapter({ chat: fail, listModels: fail, verify: fail })] });
  const body = { ...CHAT, adapter: 'scripted' };
  const answers = [
    await server.call('POST', '/v1/chat', { body }),
    await server.call('POST', '/v1/chat', { body: { ...body, stream: true } }),
    await server.call('GET', '/v1/adapters/scripted/models'),
    await server.call('POST', '/v1/adapters/scripted/verify'),
  ];
  for (const answer of answers) {
    t.match(answer, { status: 500, json: { status: 500, code: 'INTERNAL_ERROR', requestId: answer.headers['x-request-id'] } });
    t.notMatch(answer.text + JSON.stringify(answer.headers), 'canary');
    const line = server.log.find(({ fields }) => fields['requestId'] === answer.headers['x-request-id']);
    t.match(line, { level: 'error', fields: { code: 'INTERNAL_ERROR', err: { message: 'canary-secret at /home/x' } } });
  }
});

t.test('the same holds when the failure comes in the middle of a stream', async (t) => {
  const server = await startServer(t, {
    adapters: [
      scriptedAdapter({
        chat: ({ sink }) => {
          sink.emit([{ type: 'text', text: 'half' }]);
          throw new Error('canary-secret');
        },
      }),
    ],
  });
  const answer = await server.call('POST', '/v1/chat', { body: { ...CHAT, adapter: 'scripted', stream: true } });
  t.match(framesOf(answer.text).at(-1), { event: 'error', data: { status: 500, code: 'INTERNAL_ERROR' } });
  t.notMatch(answer.text, 'canary');
  await until(() => server.log.some(({ level }) => level === 'error'), 'the log line');
  t.match(server.log.at(-1), { fields: { err: { message: 'canary-secret' } } });
});

t.test('a server that drains refuses what comes anew with 503, health too, and no such refusal is an error in the log', async (t) => {
  const server = await startServer(t);
  server.transport.drain();
  for (const path of ['/v1/health', '/api/health', '/v1/adapters', '/nowhere']) {
    t.match(await server.call('GET', path), { status: 503, headers: { connection: 'close' }, json: { code: 'SHUTTING_DOWN' } }, path);
  }
  t.strictSame(
    server.log.map(({ level, message }) => `${level} ${message}`),
    new Array(4).fill('info request refused'),
  );
});

t.test('a transport without a log is quiet', async (t) => {
  const workspace = testFolder(t);
  const core = createCore({ workspace, adapters: [], env: {} });
  const transport = createHttpTransport(core);
  const url = await transport.listen(0, '127.0.0.1');
  t.teardown(() => transport.close());
  const answer = await readAnswer(await responseOf(get(`${url}/nowhere`, { agent: false })));
  t.match(answer, { status: 401 });
});

t.test('HEAD of the root says without a token that a server is there, and nothing more', async (t) => {
  const server = await startServer(t);
  const answer = await server.call('HEAD', '/', { token: false });
  t.match(answer, { status: 200, text: '', headers: { 'x-request-id': /./ } });
  t.match(await server.call('HEAD', '/?beta=true', { token: false }), { status: 200 });
  for (const [method, path] of [
    ['GET', '/'],
    ['POST', '/'],
    ['HEAD', '/v1/models'],
    ['HEAD', '/nowhere'],
  ] as const)
    t.match(await server.call(method, path, { token: false }), { status: 401 }, `${method} ${path}`);
  t.match(await server.call('HEAD', '/', { token: false, headers: { origin: 'https://evil.example' } }), { status: 403 });
  server.transport.drain();
  t.match(await server.call('HEAD', '/', { token: false }), { status: 503 });
});

t.test('query parameters that a compatible route does not know are ignored', async (t) => {
  const server = await startServer(t);
  const body = { model: 'ollama/m', messages: [{ role: 'user', content: 'hi' }] };
  for (const query of ['?beta=true', '?', '?beta=true&beta=false&limit=-1&api-version=2024-10-21', '?stream=true&model=other', '?%zz']) {
    t.match(
      await server.call('POST', `/v1/chat/completions${query}`, { body }),
      { status: 200, json: { object: 'chat.completion', model: 'ollama/m' } },
      query,
    );
    t.match(await server.call('GET', `/v1/models${query}`), { status: 200, json: { object: 'list' } }, query);
    t.match(await server.call('GET', `/v1/models/ollama/m${query}`), { status: 200, json: { id: 'ollama/m' } }, query);
  }
});

t.test('a page of a named origin is let in to /v1 only, and an answer to it says so', async (t) => {
  const origin = 'https://app.example';
  const server = await startServer(t, { http: { webOrigins: [origin] } });
  const allowed = { 'access-control-allow-origin': origin };
  t.match(await server.call('OPTIONS', '/v1/chat/completions', { token: false, headers: { origin } }), { status: 204, headers: allowed });
  t.match(await server.call('POST', '/v1/chat', { headers: { origin }, body: CHAT }), { status: 200, headers: allowed });
  t.match(await server.call('GET', '/v1/nowhere', { token: false, headers: { origin } }), { status: 401, headers: allowed });
  t.match(await server.call('GET', '/api/blocks', { headers: { origin } }), { status: 403 });
});

t.test('errors of a route of another protocol have its form, also for a wrong method', async (t) => {
  const server = await startServer(t);
  const answer = await server.call('DELETE', '/v1/chat/completions');
  t.match(answer, { status: 405, headers: { allow: 'POST, OPTIONS' }, json: { error: { type: 'invalid_request_error' } } });
});
