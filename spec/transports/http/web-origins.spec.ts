import type { IncomingMessage } from 'node:http';
import t from 'tap';
import { namedOrigins, preflight, webOrigin } from '../../../transports/http/web-origins.ts';
import { type Answer, startServer, type TestServerOptions } from '../../support/server.ts';

const PAGE = 'https://app.example';
const BODY = { model: 'ollama/m', messages: [{ role: 'user', content: 'hi' }] };
const READABLE = {
  'access-control-allow-origin': PAGE,
  'access-control-expose-headers': /retry-after, request-id, x-request-id, .*x-blockhouse-model, x-blockhouse-warnings/,
  vary: 'origin',
};
const OPTIONS: TestServerOptions = { http: { webOrigins: [PAGE] } };
const from = (origin: string, more: Record<string, string> = {}) => ({
  headers: { origin, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors', ...more },
});

function hasNoCors({ headers }: Answer): boolean {
  return !Object.keys(headers).some((name) => name.startsWith('access-control-'));
}

t.test('a preflight of a named origin is answered without a token, with the headers that it asks for', async (t) => {
  const server = await startServer(t, OPTIONS);
  const asked = 'authorization, content-type, x-stainless-os, x-next-month';
  for (const path of ['/v1/chat/completions', '/v1/messages', '/v1/responses', '/v1/models', '/v1/nowhere?beta=true']) {
    const more = { 'access-control-request-method': 'POST', 'access-control-request-headers': asked };
    const answer = await server.call('OPTIONS', path, { token: false, ...from(PAGE, more) });
    t.match(answer, { status: 204, text: '', headers: READABLE }, path);
    t.match(answer.headers, { 'access-control-allow-methods': /POST/, 'access-control-allow-headers': asked, 'access-control-max-age': /^\d+$/ });
    t.notOk('access-control-allow-private-network' in answer.headers);
    t.notOk('access-control-allow-credentials' in answer.headers);
  }
});

t.test('a page on a public host is let into the private network if it asks', async (t) => {
  const server = await startServer(t, OPTIONS);
  const more = { 'access-control-request-method': 'POST', 'access-control-request-private-network': 'true' };
  const answer = await server.call('OPTIONS', '/v1/chat/completions', { token: false, ...from(PAGE, more) });
  t.match(answer, { status: 204, headers: { ...READABLE, 'access-control-allow-private-network': 'true' } });
});

t.test('every answer to a page of a named origin can be read by it: whole, streamed, and each error', async (t) => {
  const server = await startServer(t, OPTIONS);
  const call = (method: string, path: string, body?: unknown, more: Record<string, string> = {}) => server.call(method, path, { ...from(PAGE, more), body });
  const answers: [status: number, answer: Answer][] = [
    [200, await call('POST', '/v1/chat/completions', BODY)],
    [200, await call('POST', '/v1/chat/completions', { ...BODY, stream: true })],
    [200, await call('GET', '/v1/models')],
    [200, await call('GET', '/v1/health')],
    [400, await call('POST', '/v1/chat/completions', '{')],
    [401, await call('POST', '/v1/chat/completions', BODY, { authorization: 'Bearer wrong' })],
    [403, await call('POST', '/v1/chat/completions', BODY, { host: 'evil.example' })],
    [404, await call('POST', '/v1/chat/completions', { ...BODY, model: 'nobody-knows' })],
    [404, await call('GET', '/v1/chat/nowhere')],
    [405, await call('DELETE', '/v1/chat/completions')],
    [413, await call('POST', '/v1/chat/completions', undefined, { 'content-length': String(33 * 1024 * 1024), 'content-type': 'application/json' })],
    [417, await call('POST', '/v1/chat/completions', BODY, { expect: 'something-else' })],
  ];
  for (const [status, answer] of answers) {
    t.match(answer, { status, headers: READABLE }, String(status));
    t.ok(answer.headers['x-request-id']);
  }
  for (let i = 0; i < 20; i += 1) await call('GET', '/v1/models', undefined, { authorization: 'Bearer wrong' });
  t.match(await call('GET', '/v1/models', undefined, { authorization: 'Bearer wrong' }), { status: 429, headers: { ...READABLE, 'retry-after': /\d/ } });
  server.transport.drain();
  t.match(await call('GET', '/v1/models'), { status: 503, headers: READABLE });
});

t.test('a named origin still needs the token', async (t) => {
  const server = await startServer(t, OPTIONS);
  t.match(await server.call('POST', '/v1/chat/completions', { token: false, ...from(PAGE), body: BODY }), { status: 401 });
  t.equal(server.upstream.requests.length, 0);
});

t.test('a named origin may call nothing but the gateway', async (t) => {
  const server = await startServer(t, { http: { webOrigins: [PAGE], mounts: [{ prefix: '/mine', handler: (_req, res) => res.end('mine') }] } });
  for (const path of ['/api/health', '/api/blocks', '/openapi.json', '/v1', '/', '/mine/x', '/api/ws', '/V1/models', '//v1/models', '/api/../v1/models']) {
    for (const method of ['OPTIONS', 'GET']) {
      const answer = await server.call(method, path, from(PAGE));
      t.equal(answer.status, 403, `${method} ${path}`);
      t.ok(hasNoCors(answer), path);
    }
  }
  const inside = await server.call('GET', '/v1/../api/blocks', from(PAGE));
  t.equal(inside.status, 404, 'a path is never resolved');
});

t.test('origins that only look like a named one are refused, and so is everything when none is named', async (t) => {
  const named = await startServer(t, OPTIONS);
  const unnamed = await startServer(t);
  const origins = [
    'null',
    '*',
    'http://app.example',
    `${PAGE}:8443`,
    `${PAGE}/`,
    `${PAGE}.evil.example`,
    'https://APP.example',
    `${PAGE}, https://evil.example`,
  ];
  const cases = [...origins.map((origin) => [named, origin] as const), [unnamed, PAGE] as const];
  for (const [server, origin] of cases) {
    for (const method of ['OPTIONS', 'GET']) {
      const answer = await server.call(method, '/v1/models', from(origin, { 'access-control-request-method': 'GET' }));
      t.match(answer, { status: 403, text: /Requests from web pages of other sites are refused/ }, `${method} ${origin}`);
      t.ok(hasNoCors(answer), origin);
    }
  }
});

t.test('a page without an Origin header is refused, and a program that sends sec-fetch-mode is not', async (t) => {
  const server = await startServer(t, OPTIONS);
  t.match(await server.call('GET', '/v1/models', { headers: { 'sec-fetch-site': 'cross-site' } }), { status: 403 });
  const answer = await server.call('GET', '/v1/models', { headers: { 'sec-fetch-mode': 'cors' } });
  t.match(answer, { status: 200 });
  t.ok(hasNoCors(answer), 'no origin has asked');
});

t.test('header names that are none are not repeated', async (t) => {
  const asking = (names: string) => preflight({ headers: { 'access-control-request-headers': names } } as unknown as IncomingMessage).headers ?? {};
  t.equal(asking('x-a,x-b')['access-control-allow-headers'], 'x-a,x-b');
  for (const names of ['', 'x-\u00e9', 'x-a; y', '"x"']) t.notOk('access-control-allow-headers' in asking(names), names);
});

t.test('a request in absolute form is not one of the gateway', async (t) => {
  const request = { url: 'http://127.0.0.1:8420/v1/models', headers: { origin: PAGE } } as unknown as IncomingMessage;
  t.equal(webOrigin(request, new Set([PAGE])), undefined);
});

t.test('an origin that no browser would send is a mistake of the program that names it', async (t) => {
  t.same([...namedOrigins([PAGE, 'http://localhost:5173'])], [PAGE, 'http://localhost:5173']);
  t.equal(namedOrigins().size, 0);
  for (const origin of [`${PAGE}/`, '*', 'null', 'https://*.example', 'https://App.example', `${PAGE}:443`, 'app.example', 'file:///x', ''])
    t.throws(() => namedOrigins([origin]), { message: /must be written as a browser sends it/ }, origin);
});
