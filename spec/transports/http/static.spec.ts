import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync } from 'node:zlib';
import t from 'tap';
import { INDEX, pageFolder, SCRIPT } from '../../support/page-folder.ts';
import { exchange } from '../../support/raw.ts';
import { type CallOptions, responseOf, startServer } from '../../support/server.ts';

const ASSET = '/ui/assets/main-ABC123.js';
const open = (headers: CallOptions['headers'] = {}): CallOptions => ({ token: false, headers });
const HTML = { accept: 'text/html,application/xhtml+xml' };

t.test('case 10: assets are immutable, and every other path of the page is its document, which is revalidated', async (t) => {
  const server = await startServer(t, { http: { dashboard: pageFolder(t) } });
  const asset = await server.call('GET', ASSET, open());
  t.match(asset, { status: 200, text: SCRIPT, headers: { 'content-type': 'text/javascript; charset=utf-8', vary: 'accept-encoding' } });
  t.equal(asset.headers['cache-control'], 'public, max-age=31536000, immutable');
  t.equal(asset.headers['x-content-type-options'], 'nosniff');
  for (const path of ['/ui/', '/ui/index.html', '/ui/blocks/support', '/ui/?a=1', '/ui/manifest.json', '/ui/.api-token', '/ui/../../.api-token']) {
    const page = await server.call('GET', path, open());
    t.match(page, { status: 200, text: INDEX, headers: { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache' } }, path);
    t.match(
      page.headers['content-security-policy'],
      /^default-src 'none'; script-src 'self';.*frame-ancestors 'none'; require-trusted-types-for 'script'/,
      path,
    );
    t.match(page.headers, { 'cross-origin-opener-policy': 'same-origin', 'cross-origin-resource-policy': 'same-origin', 'permissions-policy': /camera=\(\)/ });
    t.equal(page.headers['set-cookie'], undefined);
  }
  const etag = String((await server.call('GET', '/ui/', open())).headers.etag);
  for (const tags of [etag, `W/${etag}`, `"other", ${etag}`]) {
    const same = await server.call('GET', '/ui/costs', open({ 'if-none-match': tags }));
    t.match(same, { status: 304, text: '', headers: { etag, 'cache-control': 'no-cache' } }, tags);
  }
  t.equal((await server.call('GET', '/ui/', open({ 'if-none-match': '"other"' }))).status, 200);
});

t.test('case 10: stored brotli equals the plain file, and goes to those who take it', async (t) => {
  const server = await startServer(t, { http: { dashboard: pageFolder(t) } });
  const get = async (encoding: string) => {
    const response = await responseOf(server.open('GET', ASSET, open({ 'accept-encoding': encoding })));
    return { encoding: response.headers['content-encoding'], bytes: await buffer(response) };
  };
  for (const encoding of ['br', 'gzip, deflate, br, zstd', 'gzip;q=1, br;q=0.5', 'br;q=1.0,gzip']) {
    const got = await get(encoding);
    t.equal(got.encoding, 'br', encoding);
    t.equal(brotliDecompressSync(got.bytes).toString(), SCRIPT);
  }
  for (const encoding of ['', 'gzip', 'br;q=0', 'br;q=0.000, gzip', 'bro', 'xbr']) {
    const got = await get(encoding);
    t.equal(got.encoding, undefined, encoding);
    t.equal(got.bytes.toString(), SCRIPT);
  }
});

t.test('the document has a tag of its own in each encoding, and 304 is for the tag of the encoding that is asked for', async (t) => {
  const server = await startServer(t, { http: { dashboard: pageFolder(t) } });
  const get = (encoding: string, known?: string) =>
    server.call('GET', '/ui/', open({ 'accept-encoding': encoding, ...(known !== undefined && { 'if-none-match': known }) }));
  const [plain, packed] = [await get('identity'), await get('br')];
  t.match([plain.headers['content-encoding'], packed.headers['content-encoding']], [undefined, 'br']);
  const tags = { identity: String(plain.headers.etag), br: String(packed.headers.etag) };
  t.not(tags.identity, tags.br);
  for (const [encoding, own, other] of [
    ['identity', tags.identity, tags.br],
    ['br', tags.br, tags.identity],
  ] as const) {
    t.match(await get(encoding, own), { status: 304, text: '', headers: { etag: own, vary: 'accept-encoding' } }, encoding);
    t.match(await get(encoding, `${other}, ${own}`), { status: 304, headers: { etag: own } }, encoding);
    t.match(await get(encoding, other), { status: 200, headers: { etag: own, vary: 'accept-encoding' } }, encoding);
  }
});

t.test('case 10: HEAD has the headers of GET, other methods are 405, and Range is ignored', async (t) => {
  const server = await startServer(t, { http: { dashboard: pageFolder(t) } });
  for (const path of [ASSET, '/ui/']) {
    const [get, head] = [await server.call('GET', path, open()), await server.call('HEAD', path, open())];
    t.match(head, { status: 200, text: '' });
    for (const name of ['content-length', 'content-type', 'cache-control', 'etag', 'vary', 'content-security-policy'])
      t.equal(head.headers[name], get.headers[name], name);
    const range = await server.call('GET', path, open({ range: 'bytes=0-3' }));
    t.match(range, { status: 200, text: get.text });
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
      for (const call of [open(), {}])
        t.match(await server.call(method, path, call), { status: 405, headers: { allow: 'GET, HEAD' }, json: { code: 'METHOD_NOT_ALLOWED' } }, method);
  }
});

t.test('case 9: no spelling of a path leads to a file outside the manifest', async (t) => {
  const server = await startServer(t, { http: { dashboard: pageFolder(t) } });
  const names = [
    '..%2f.api-token',
    '..%2f..%2f.api-token',
    '%2e%2e/.api-token',
    '%252e%252e%252f.api-token',
    '../.api-token',
    '..\\.api-token',
    '..%5c.api-token',
  ];
  names.push(
    '',
    '.',
    '..',
    'unnamed.txt',
    'main-ABC123.js.br',
    'main-ABC123.js%00',
    'main-ABC123.js/',
    'MAIN-abc123.js',
    './main-ABC123.js',
    '/main-ABC123.js',
  );
  names.push('__proto__', 'constructor', 'toString', 'hasOwnProperty', 'file:///etc/passwd', 'C:\\windows', '/etc/passwd', 'main-ABC123.js;x');
  for (const name of names) {
    const { responses } = await exchange(t, server.port, `GET /ui/assets/${name} HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nConnection: close\r\n\r\n`);
    t.equal(responses[0]?.status, 404, name);
    t.notMatch(responses[0]?.body, 'SECRET', name);
  }
  for (const target of [
    'http://127.0.0.1/ui/assets/unnamed.txt',
    'file:///ui/assets/unnamed.txt',
    'ui/assets/unnamed.txt',
    '/ui\\assets\\unnamed.txt',
    '//ui/assets/unnamed.txt',
  ]) {
    const { responses } = await exchange(t, server.port, `GET ${target} HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nConnection: close\r\n\r\n`);
    t.ok([400, 401, 403, 404].includes(responses[0]?.status ?? 0), `${target}: ${responses[0]?.status}`);
    t.notMatch(responses[0]?.body, 'SECRET', target);
  }
});

t.test('the address of the server leads a person to the page, and programs get what they got before', async (t) => {
  const server = await startServer(t, { http: { dashboard: pageFolder(t) } });
  const bare = await startServer(t);
  for (const [path, headers] of [
    ['/', HTML],
    ['/ui', {}],
    ['/ui?a=1', {}],
  ] as const)
    t.match(await server.call('GET', path, open(headers)), { status: 302, headers: { location: '/ui/' }, text: '' }, path);
  for (const [method, path, call] of [
    ['GET', '/', open()],
    ['GET', '/', open({ accept: '*/*' })],
    ['HEAD', '/', open()],
    ['POST', '/', open(HTML)],
    ['GET', '/uix', open(HTML)],
    ['GET', '/api/blocks', open(HTML)],
    ['GET', '/api/health', open(HTML)],
    ['GET', '/v1/adapters', open(HTML)],
    ['GET', '/nothing', {}],
  ] as const) {
    const [one, other] = [await server.call(method, path, call), await bare.call(method, path, call)];
    const named = Object.keys(other.headers).sort();
    t.strictSame([one.status, Object.keys(one.headers).sort()], [other.status, named], `${method} ${path}`);
    t.equal(one.headers['content-security-policy'], other.headers['content-security-policy']);
  }
});

t.test('case 10: without the option there is no page, and with it no mount takes its place', async (t) => {
  const handler = (_req: unknown, res: { end(text: string): void }): void => res.end('mounted');
  for (const prefix of ['/ui', '/ui/x']) await t.rejects(startServer(t, { http: { dashboard: pageFolder(t), mounts: [{ prefix, handler }] } }), /shadow/);
  const server = await startServer(t, { http: { mounts: [{ prefix: '/ui', handler, public: ['/'] }] } });
  t.match(await server.call('GET', '/ui', open()), { status: 200, text: 'mounted' });
  const none = await startServer(t);
  for (const path of ['/', '/ui', '/ui/', ASSET]) t.equal((await none.call('GET', path, open(HTML))).status, 401, path);
  const link = { ...HTML, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
  for (const path of ['/', '/ui/']) t.equal((await none.call('GET', path, open(link))).status, 403, `${path} by a link`);
});

t.test('case 7: a link on another site opens the page, and no other path', async (t) => {
  const server = await startServer(t, { http: { dashboard: pageFolder(t) } });
  const link = { ...HTML, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
  for (const [path, status] of [
    ['/', 302],
    ['/ui', 302],
    ['/ui/', 200],
    ['/ui/blocks/a', 200],
  ] as const)
    for (const method of ['GET', 'HEAD']) t.equal((await server.call(method, path, open(link))).status, status, `${method} ${path}`);
  for (const path of ['/uix', '/api/health', '/api/session', '/v1/health', '/openapi.json', '/ollama', '//ui/', '/UI/'])
    t.equal((await server.call('GET', path, { headers: link })).status, 403, path);
  t.equal((await server.call('POST', '/ui/', open(link))).status, 403);
  for (const dest of ['iframe', 'script', 'empty']) t.equal((await server.call('GET', '/ui/', open({ ...link, 'sec-fetch-dest': dest }))).status, 403, dest);
});

t.test('requests in one batch get their own files', async (t) => {
  const server = await startServer(t, { http: { dashboard: pageFolder(t) } });
  const request = server.open('GET', '/ui/', open());
  const second = server.open('GET', ASSET, open());
  const [[one], [other]] = await Promise.all([once(request, 'response'), once(second, 'response')]);
  t.equal((await buffer(one)).toString(), INDEX);
  t.equal((await buffer(other)).toString(), SCRIPT);
});
