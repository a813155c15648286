import t, { type Test } from 'tap';
import { Faults } from '../../../transports/http/error-formats.ts';
import { type Answer, type CallOptions, startServer, type TestServer } from '../../support/server.ts';

const BODY = { model: 'ollama/m', messages: [{ role: 'user', content: 'hi' }] };
const CHAT = '/v1/chat/completions';

/** An error as OpenAI writes it, with the id of its request. */
function isOpenAi(t: Test, answer: Answer, status: number, type: string, title: string): void {
  t.match(answer, { status, json: { error: { message: /./, type } }, headers: { 'x-request-id': /./ } }, title);
  t.strictSame(Object.keys(answer.json), ['error'], title);
  t.strictSame(Object.keys(answer.json['error'] as object).sort(), ['code', 'message', 'param', 'type'], title);
}

t.test('a path has the form of the nearest route above it, and most have ours', async (t) => {
  const [one, other] = [() => ({ status: 1, body: {} }), () => ({ status: 2, body: {} })];
  const faults = new Faults([{ path: '/v1/a', fault: one }, { path: '/v1/a/b/:id*', fault: other }, { path: '/v1/c' }]);
  for (const path of ['/v1/a', '/v1/a/', '/v1/a/x', '/v1/a/bb']) t.equal(faults.of(path), one, path);
  for (const path of ['/v1/a/b', '/v1/a/b/x/y']) t.equal(faults.of(path), other, path);
  for (const path of ['/v1', '/v1/ab', '/v1/c', '/v1/c/a', '', '/V1/a']) t.equal(faults.of(path), undefined, path);
});

t.test('a path of nobody below /v1 has the form of the models, which clients of every protocol ask for, and one below a route of ours has ours', async (t) => {
  const [models, other] = [() => ({ status: 1, body: {} }), () => ({ status: 2, body: {} })];
  const faults = new Faults([{ path: '/v1/models', fault: models }, { path: '/v1/a', fault: other }, { path: '/v1/chat' }, { path: '/v1/tokens/:id' }]);
  for (const path of ['/v1/files', '/v1/chatter', '/v1/v1/chat']) t.equal(faults.of(path), models, path);
  for (const path of ['/v1/chat', '/v1/chat/completion', '/v1/tokens/x', '/v1', '/v1/', '/v1/%2e', '/v1/../v1/files', '/api/x', '/v2/files'])
    t.equal(faults.of(path), undefined, path);
});

t.test('a path that does not exist is answered in the form of the client', async (t) => {
  const { call } = await startServer(t);
  isOpenAi(t, await call('POST', '/v1/files', { body: {} }), 404, 'invalid_request_error', 'of OpenAI');
  isAnthropic(t, await call('POST', '/v1/files', { body: {}, headers: { 'anthropic-version': '2023-06-01' } }), 404, 'not_found_error', 'of Anthropic');
  t.match(await call('POST', '/v1/chat/completion', { body: {} }), { status: 404, json: { code: 'NOT_FOUND' } });
});

/** An error as Anthropic writes it, with the id of its request in the three places where clients look. */
function isAnthropic(t: Test, answer: Answer, status: number, type: string, title: string): void {
  const id = answer.headers['x-request-id'];
  t.match(answer, { status, json: { type: 'error', error: { type, message: /./ }, request_id: id }, headers: { 'request-id': id } }, title);
  t.strictSame(Object.keys(answer.json), ['type', 'error', 'request_id'], title);
  t.ok(id, title);
}

t.test('what is refused before a handler runs has the form of the protocol', async (t) => {
  const server = await startServer(t);
  const call = (method: string, path: string, options = {}) => server.call(method, path, options);
  const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` }, token: false, body: BODY });
  for (const path of [CHAT, `${CHAT}?beta=true`, '/v1/responses']) {
    isOpenAi(t, await call('POST', path, { token: false, body: BODY }), 401, 'authentication_error', 'no token');
    isOpenAi(t, await call('POST', path, bearer('wrong')), 401, 'authentication_error', 'a wrong token');
    isOpenAi(t, await call('POST', path, { headers: { origin: 'https://evil.example' } }), 403, 'permission_error', 'a foreign page');
    isOpenAi(t, await call('POST', path, { headers: { host: 'evil.example' } }), 403, 'permission_error', 'a foreign name');
    isOpenAi(t, await call('POST', path), 400, 'invalid_request_error', 'no body');
    isOpenAi(t, await call('POST', path, { body: '{"model":' }), 400, 'invalid_request_error', 'bad JSON');
    isOpenAi(t, await call('POST', path, { body: '{}', headers: { 'content-type': 'text/plain' } }), 415, 'invalid_request_error', 'another type');
    isOpenAi(t, await call('POST', path, { body: BODY, headers: { expect: 'more' } }), 417, 'invalid_request_error', 'an expectation');
    isOpenAi(t, await call('POST', path, { headers: { 'content-length': String(2 ** 26) } }), 413, 'invalid_request_error', 'too large');
  }
  isOpenAi(t, await call('GET', `/v1/models?${'x'.repeat(9000)}`), 414, 'invalid_request_error', 'a long target');
  const wrongMethod = await call('DELETE', CHAT);
  isOpenAi(t, wrongMethod, 405, 'invalid_request_error', 'a wrong method');
  t.equal(wrongMethod.headers.allow, 'POST, OPTIONS');
  for (const path of [`${CHAT}/x`, `${CHAT}/x/messages`, `${CHAT}/`, '/v1/responses/resp_1', '/v1/responses/compact'])
    isOpenAi(t, await call('GET', path), 404, 'invalid_request_error', path);
  isOpenAi(t, await call('GET', '/v1/models/nobody-knows'), 404, 'invalid_request_error', 'an unknown model');
  t.equal((await call('GET', '/v1/models', bearer('wrong'))).headers['www-authenticate'], 'Bearer');
  await tooManyAttempts(t, server);
  server.transport.drain();
  isOpenAi(t, await call('POST', CHAT, { body: BODY }), 503, 'server_error', 'shutting down');
  t.strictSame(
    server.upstream.requests.filter(({ path }) => path !== '/api/tags'),
    [],
    'no model was asked',
  );
});

t.test('what is refused before a handler runs has the form of Anthropic on its routes, and on those of both for its clients', async (t) => {
  const server = await startServer(t);
  const call = (method: string, path: string, options: CallOptions = {}) => server.call(method, path, options);
  const body = { ...BODY, max_tokens: 10 };
  const path = '/v1/messages';
  const wrong = { token: false, headers: { 'x-api-key': 'wrong' } } as const;
  isAnthropic(t, await call('POST', path, { token: false, body }), 401, 'authentication_error', 'no token');
  isAnthropic(t, await call('POST', path, { ...wrong, body }), 401, 'authentication_error', 'a wrong token');
  isAnthropic(t, await call('POST', path, { headers: { origin: 'https://evil.example' } }), 403, 'permission_error', 'a foreign page');
  isAnthropic(t, await call('POST', `${path}?beta=true`), 400, 'invalid_request_error', 'no body');
  isAnthropic(t, await call('POST', path, { body: '{"model":' }), 400, 'invalid_request_error', 'bad JSON');
  isAnthropic(t, await call('POST', path, { headers: { 'content-length': String(2 ** 26) } }), 413, 'request_too_large', 'too large');
  const wrongMethod = await call('PUT', path);
  isAnthropic(t, wrongMethod, 405, 'invalid_request_error', 'a wrong method');
  t.equal(wrongMethod.headers.allow, 'POST, OPTIONS');
  isAnthropic(t, await call('POST', `${path}/count_tokens`, { token: false, body }), 401, 'authentication_error', 'a count of tokens');
  isAnthropic(t, await call('GET', `${path}/batches`), 404, 'not_found_error', 'a path below');
  const version = { 'anthropic-version': '2023-06-01' };
  isAnthropic(t, await call('GET', '/v1/models/nobody-knows', { headers: version }), 404, 'not_found_error', 'an unknown model');
  isAnthropic(t, await call('GET', '/v1/models', { token: false, headers: version }), 401, 'authentication_error', 'the models');
  isAnthropic(t, await call('DELETE', '/v1/models', { headers: version }), 405, 'invalid_request_error', 'a wrong method');
  for (let i = 0; i < 20; i += 1) await call('POST', path, wrong);
  const many = await call('POST', path, wrong);
  isAnthropic(t, many, 429, 'rate_limit_error', 'too many attempts');
  t.match(many.headers['retry-after'], /^\d+$/);
  server.transport.drain();
  isAnthropic(t, await call('POST', path, { body }), 503, 'api_error', 'shutting down');
});

async function tooManyAttempts(t: Test, server: TestServer): Promise<void> {
  const wrong = { token: false, headers: { 'x-api-key': 'wrong' } } as const;
  for (let i = 0; i < 20; i += 1) await server.call('GET', '/v1/models', wrong);
  const answer = await server.call('GET', '/v1/models', wrong);
  isOpenAi(t, answer, 429, 'authentication_error', 'too many attempts');
  t.match(answer.headers['retry-after'], /^\d+$/);
}

t.test('of two headers, one that is right suffices, whatever is wrong with the other', async (t) => {
  let now = Date.now();
  const { call, core, token } = await startServer(t, { clock: () => now });
  const expired = (await core.keys?.create('old', { expiresAt: new Date(now + 60_000).toISOString() })) ?? '';
  now += 120_000;
  for (const headers of [
    { authorization: `Bearer ${expired}`, 'x-api-key': token },
    { authorization: `Bearer ${token}`, 'x-api-key': expired },
    { authorization: 'Bearer wrong', 'x-api-key': token },
  ]) {
    t.match(await call('GET', '/v1/models', { token: false, headers }), { status: 200 });
  }
  t.match(await call('GET', '/v1/models', { token: false, headers: { authorization: `Bearer ${expired}`, 'x-api-key': 'wrong' } }), {
    status: 401,
    json: { error: { message: /expired/ } },
  });
});

t.test('a key that was revoked or has expired is refused in the form of the protocol', async (t) => {
  let now = Date.now();
  const server = await startServer(t, { clock: () => now });
  const make = async (body: object) => (await server.call('POST', '/api/keys', { body })).json['key'] as string;
  const expired = await make({ name: 'old', expiresAt: new Date(now + 60_000).toISOString() });
  now += 120_000;
  const revoked = await make({ name: 'gone' });
  await server.call('DELETE', '/api/keys/gone');
  for (const [title, key] of [
    ['expired', expired],
    ['revoked', revoked],
  ] as const) {
    for (const headers of [{ authorization: `Bearer ${key}` }, { 'x-api-key': key }]) {
      isOpenAi(t, await server.call('POST', CHAT, { token: false, headers, body: BODY }), 401, 'authentication_error', title);
    }
  }
});

t.test('errors of every other path keep our form', async (t) => {
  const server = await startServer(t);
  for (const path of ['/v1/chat', '/v1/chat/nowhere', '/api/blocks']) {
    t.match(await server.call('PUT', path, { token: false }), { status: 401, json: { code: 'UNAUTHORIZED', requestId: /./ } }, path);
  }
  t.match(await server.call('DELETE', '/v1/chat'), { status: 405, json: { code: 'METHOD_NOT_ALLOWED' }, headers: { allow: 'POST, OPTIONS' } });
});
