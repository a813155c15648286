import type { IncomingMessage } from 'node:http';
import t from 'tap';
import { assertOwnHost, bearerToken, inboundRequestId, targetPath } from '../../transports/guard.ts';

const PORT = 8420;

/** A request as Node presents it: the first of doubled headers in `headers`, all of them in `rawHeaders`. */
function request(rawHeaders: readonly [string, string][], httpVersion = '1.1'): IncomingMessage {
  const headers: Record<string, string> = {};
  for (const [name, value] of rawHeaders) headers[name.toLowerCase()] ??= value;
  return { headers, rawHeaders: rawHeaders.flat(), httpVersion, socket: { localPort: PORT } } as unknown as IncomingMessage;
}

function verdict(
  rawHeaders: readonly [string, string][],
  {
    allowRemote = false,
    httpVersion = '1.1',
    method = 'GET',
    isPage = false,
    webOrigin = undefined as string | undefined,
    publicOrigin = undefined as string | undefined,
  } = {},
): string {
  try {
    assertOwnHost(Object.assign(request(rawHeaders, httpVersion), { method }), { allowRemote, webOrigin, publicOrigin, isPage });
    return 'ok';
  } catch (error) {
    return (error as { code: string }).code;
  }
}

t.test('only loopback names with our own port are our Host', async (t) => {
  const own = ['localhost:8420', '127.0.0.1:8420', '[::1]:8420', 'LOCALHOST:8420', '127.0.0.2:8420'];
  for (const host of own) t.equal(verdict([['Host', host]]), 'ok', host);
  const foreign = [
    'evil.example',
    'evil.example:8420',
    '127.0.0.1.evil.example:8420',
    'localhost.evil:8420',
    'localhost.:8420',
    '0.0.0.0:8420',
    '127.1:8420',
    '2130706433:8420',
    '[::]:8420',
    '[::ffff:127.0.0.1]:8420',
    'localhost',
    '127.0.0.1',
    'localhost:80',
    'localhost:08421',
    'localhost:',
    'localhost:8420:8420',
    'user@localhost:8420',
    'localhost:8420/',
    'localhost:8420, evil',
    'ⓛocalhost:8420',
    'lоcalhost:8420',
    ' ',
  ];
  for (const host of foreign) t.equal(verdict([['Host', host]]), 'FORBIDDEN_ORIGIN', JSON.stringify(host));
});

t.test('a request without exactly one Host, or of another version, is malformed', async (t) => {
  t.equal(verdict([]), 'INVALID_REQUEST');
  t.equal(verdict([['Host', '']]), 'INVALID_REQUEST');
  t.equal(
    verdict([
      ['Host', 'localhost:8420'],
      ['hOST', 'localhost:8420'],
    ]),
    'INVALID_REQUEST',
  );
  for (const httpVersion of ['0.9', '2.0', '1.2']) t.equal(verdict([['Host', 'localhost:8420']], { httpVersion }), 'INVALID_REQUEST', httpVersion);
  t.equal(verdict([['Host', 'localhost:8420']], { httpVersion: '1.0' }), 'ok');
  t.equal(verdict([], { httpVersion: '1.0' }), 'INVALID_REQUEST');
});

t.test('a server that is open to other machines takes any one Host, but pages of other sites no more than before', async (t) => {
  const remote = { allowRemote: true };
  t.equal(verdict([['Host', 'box.example']], remote), 'ok');
  t.equal(
    verdict(
      [
        ['Host', 'box.example'],
        ['Host', 'other.example'],
      ],
      remote,
    ),
    'INVALID_REQUEST',
  );
  t.equal(verdict([], remote), 'INVALID_REQUEST');
  t.equal(verdict([], { ...remote, httpVersion: '1.0' }), 'ok', "a load balancer's health check");
  t.equal(
    verdict(
      [
        ['Host', 'box.example'],
        ['Origin', 'https://box.example'],
      ],
      remote,
    ),
    'ok',
  );
  t.equal(
    verdict(
      [
        ['Host', 'box.example'],
        ['Origin', 'https://evil.example'],
      ],
      remote,
    ),
    'FORBIDDEN_ORIGIN',
  );
});

t.test('pages of other sites are refused by Origin, and by Sec-Fetch-Site where there is none', async (t) => {
  const host: [string, string] = ['Host', 'localhost:8420'];
  for (const origin of ['http://localhost:8420', 'https://localhost:8420']) t.equal(verdict([host, ['Origin', origin]]), 'ok', origin);
  for (const origin of [
    'null',
    '',
    'http://evil.example',
    'http://localhost',
    'http://localhost:8421',
    'http://127.0.0.1:8420',
    'http://localhost:8420/',
    'http://localhost:8420.evil',
    'file://',
    'http://localhost:8420, http://evil.example',
  ])
    t.equal(verdict([host, ['Origin', origin]]), 'FORBIDDEN_ORIGIN', origin);
  for (const site of ['none', 'same-origin']) t.equal(verdict([host, ['Sec-Fetch-Site', site]]), 'ok', site);
  for (const site of ['cross-site', 'same-site']) t.equal(verdict([host, ['Sec-Fetch-Site', site]]), 'FORBIDDEN_ORIGIN', site);
});

t.test('a page of the origin that is let in is not refused, whatever the browser says of its site; a foreign Host still is', async (t) => {
  const webOrigin = 'https://app.example';
  const page: [string, string][] = [
    ['Origin', webOrigin],
    ['Sec-Fetch-Site', 'cross-site'],
    ['Sec-Fetch-Mode', 'cors'],
  ];
  t.equal(verdict([['Host', 'localhost:8420'], ...page], { webOrigin }), 'ok');
  t.equal(verdict([['Host', 'localhost:8420'], ...page]), 'FORBIDDEN_ORIGIN');
  t.equal(verdict([['Host', 'evil.example'], ...page], { webOrigin }), 'FORBIDDEN_ORIGIN');
  const other: [string, string][] = [
    ['Host', 'localhost:8420'],
    ['Origin', 'https://evil.example'],
  ];
  t.equal(verdict(other, { webOrigin }), 'FORBIDDEN_ORIGIN');
});

t.test('a program that sends Sec-Fetch-Mode alone, as fetch of Node does, is not refused', async (t) => {
  for (const mode of ['cors', 'no-cors', 'navigate'])
    t.equal(
      verdict([
        ['Host', 'localhost:8420'],
        ['Sec-Fetch-Mode', mode],
      ]),
      'ok',
      mode,
    );
});

t.test('a forwarding header changes nothing', async (t) => {
  const claims: [string, string][] = [
    ['X-Forwarded-Host', 'localhost:8420'],
    ['Forwarded', 'host=localhost:8420;for=127.0.0.1'],
    ['X-Forwarded-For', '127.0.0.1'],
  ];
  t.equal(verdict([['Host', 'evil.example'], ...claims]), 'FORBIDDEN_ORIGIN');
});

t.test('the bearer token is read from one well-formed header only', async (t) => {
  const cases: [header: string | undefined, token: string | undefined][] = [
    ['Bearer abc', 'abc'],
    ['bearer abc', 'abc'],
    ['Bearer   abc', 'abc'],
    [undefined, undefined],
    ['', undefined],
    ['Bearer', undefined],
    ['Bearer   ', undefined],
    ['Basic abc', undefined],
    ['Bearer abc def', undefined],
    ['Bearerabc', undefined],
    ['abc', undefined],
    ['Bearer\tabc', undefined],
  ];
  for (const [header, token] of cases) t.equal(bearerToken(request(header === undefined ? [] : [['Authorization', header]])), token, JSON.stringify(header));
  t.equal(
    bearerToken(
      request([
        ['Authorization', 'Bearer abc'],
        ['authorization', 'Bearer abc'],
      ]),
    ),
    undefined,
    'two headers are none',
  );
});

t.test('a request id is taken over only when it is fit for a header and a log line', async (t) => {
  for (const id of ['a', 'req_1', '0123-ab:cd.E', 'x'.repeat(128)]) t.equal(inboundRequestId(request([['X-Request-Id', id]])), id);
  for (const id of ['', ' ', 'a b', 'a\tb', 'a,b', 'ü', '"x"', '<b>', 'x'.repeat(129), 'a/b'])
    t.equal(inboundRequestId(request([['X-Request-Id', id]])), undefined, id);
  t.equal(inboundRequestId(request([])), undefined);
});

t.test('the path of a target is taken as it is written, and only a path is one', async (t) => {
  const target = (url: string | undefined): IncomingMessage => ({ url }) as unknown as IncomingMessage;
  const paths: [url: string | undefined, path: string][] = [
    [undefined, '/'],
    ['/', '/'],
    ['/a?b=c?d', '/a'],
    ['//a/%2e%2e?', '//a/%2e%2e'],
    [`/${'a'.repeat(8191)}`, `/${'a'.repeat(8191)}`],
  ];
  for (const [url, path] of paths) t.equal(targetPath(target(url)), path, path.slice(0, 20));
  t.throws(() => targetPath(target(`/${'a'.repeat(8192)}`)), { code: 'URI_TOO_LONG' });
  t.throws(() => targetPath(target('*')), { code: 'INVALID_REQUEST' });
  for (const url of ['http://localhost:8420/a', 'a', '']) t.throws(() => targetPath(target(url)), { code: 'FORBIDDEN_ORIGIN' }, JSON.stringify(url));
});

t.test('case 7: a link on another site opens the page, and nothing else of it passes', async (t) => {
  const visit = (site: string, mode: string, dest: string): [string, string][] => [
    ['Host', '127.0.0.1:8420'],
    ['Sec-Fetch-Site', site],
    ['Sec-Fetch-Mode', mode],
    ['Sec-Fetch-Dest', dest],
  ];
  for (const site of ['cross-site', 'same-site'])
    for (const method of ['GET', 'HEAD']) t.equal(verdict(visit(site, 'navigate', 'document'), { method, isPage: true }), 'ok', `${method} ${site}`);
  t.equal(verdict(visit('cross-site', 'navigate', 'document')), 'FORBIDDEN_ORIGIN', 'another path');
  t.equal(verdict(visit('cross-site', 'navigate', 'document'), { method: 'POST', isPage: true }), 'FORBIDDEN_ORIGIN', 'a form');
  for (const [mode, dest] of [
    ['navigate', 'iframe'],
    ['navigate', 'object'],
    ['no-cors', 'script'],
    ['no-cors', 'image'],
    ['cors', 'empty'],
    ['', ''],
  ] as const)
    t.equal(verdict(visit('cross-site', mode, dest), { isPage: true }), 'FORBIDDEN_ORIGIN', `${mode} ${dest}`);
  const link = visit('cross-site', 'navigate', 'document');
  t.equal(verdict([...link, ['Origin', 'https://evil.example']], { isPage: true }), 'FORBIDDEN_ORIGIN', 'with an origin');
  t.equal(verdict([['Host', 'evil.example'], ...link.slice(1)], { isPage: true }), 'FORBIDDEN_ORIGIN', 'under a rebound name');
});

t.test('the public origin is a name of the server, with its own scheme alone', async (t) => {
  const publicOrigin = 'https://blocks.example';
  const host: [string, string] = ['Host', 'blocks.example'];
  t.equal(verdict([host]), 'FORBIDDEN_ORIGIN', 'without the option');
  t.equal(verdict([host], { publicOrigin }), 'ok');
  t.equal(verdict([['Host', '127.0.0.1:8420']], { publicOrigin }), 'ok', 'loopback stays');
  t.equal(verdict([host, ['Origin', publicOrigin]], { publicOrigin }), 'ok');
  t.equal(
    verdict(
      [
        ['Host', '127.0.0.1:8420'],
        ['Origin', publicOrigin],
      ],
      { publicOrigin },
    ),
    'ok',
    'a proxy may set the name',
  );
  for (const origin of ['http://blocks.example', 'https://blocks.example:8443', 'https://sub.blocks.example', 'https://blocks.example.evil.example', 'null'])
    t.equal(verdict([host, ['Origin', origin]], { publicOrigin }), 'FORBIDDEN_ORIGIN', origin);
  for (const name of ['blocks.example.', 'sub.blocks.example', 'blocks.example:8420'])
    t.equal(verdict([['Host', name]], { publicOrigin }), 'FORBIDDEN_ORIGIN', name);
  t.equal(verdict([host, ['Sec-Fetch-Site', 'same-site']], { publicOrigin }), 'FORBIDDEN_ORIGIN', 'a sister site');
});
