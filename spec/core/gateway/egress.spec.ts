import t from 'tap';
import { checkEgress, type EgressRule, isForbiddenAddress, isLoopbackHost, isPrivateHost, parseBaseURL } from '../../../core/gateway/egress.ts';

const rule = (fields: Partial<EgressRule> = {}): EgressRule => ({
  trustedOrigins: new Set(['https://api.example', 'http://10.0.0.5:8000']),
  allowedOrigins: new Set(),
  ownKey: false,
  isKeyless: false,
  ...fields,
});
const STORED_KEY = rule();
const OWN_KEY = rule({ ownKey: true });
const KEYLESS = rule({ isKeyless: true });

/** 'allowed', or the message of the refusal. */
function verdict(egress: EgressRule, text: string): string {
  try {
    checkEgress(egress, parseBaseURL(text));
    return 'allowed';
  } catch (error) {
    return (error as Error).message;
  }
}

/** Places that no key goes to, not even the caller's own. */
const FORBIDDEN = [
  // the metadata service of AWS, Azure, GCP, in the spellings that a URL takes
  'http://169.254.169.254/latest/meta-data/',
  'http://169.254.169.254./',
  'https://169.254.169.254:8443/',
  'http://169.254.43518/',
  'http://169.16689662/',
  'http://2852039166/',
  'http://0xa9fea9fe/',
  'http://0xa9.0xfe.0xa9.0xfe/',
  'http://0251.0376.0251.0376/',
  'http://0251.254.0xa9.254/',
  'http://①⑥⑨.②⑤④.①⑥⑨.②⑤④/',
  'http://１６９.２５４.１６９.２５４/',
  'http://169。254。169。254/',
  'http://%31%36%39.254.169.254/',
  'http://[::ffff:169.254.169.254]/',
  'http://[::ffff:a9fe:a9fe]/',
  'http://[0:0:0:0:0:ffff:a9fe:a9fe]/',
  'http://[::169.254.169.254]/',
  'http://[64:ff9b::169.254.169.254]/',
  'http://[64:ff9b::a9fe:a9fe]/',
  'http://[64:ff9b:1::a9fe:a9fe]/',
  'http://[2002:a9fe:a9fe::1]/',
  'http://[::ffff:0:169.254.169.254]/',
  // other link-local and metadata addresses
  'http://169.254.170.2/',
  'http://[fe80::1]/',
  'http://[febf::1]/',
  'http://[fd00:ec2::254]/',
  'http://[fd20:ce::254]/',
  'http://100.100.100.200/',
  'http://192.0.0.192/',
  'http://168.63.129.16/',
  'http://metadata/',
  'http://METADATA.google.internal/',
  'http://metadata.google.internal./computeMetadata/v1/',
  'http://instance-data.ec2.internal/',
  // "this host", multicast, broadcast
  'http://0/',
  'http://0.0.0.0:11434/',
  'http://0x0/',
  'http://0.1.2.3/',
  'http://[::]/',
  'http://[::ffff:0.0.0.0]/',
  'http://224.0.0.1/',
  'http://240.0.0.1/',
  'http://255.255.255.255/',
  'http://[ff02::1]/',
];

t.test('link-local, metadata and unroutable addresses are refused in every spelling, even with an own key', async (t) => {
  for (const url of FORBIDDEN) for (const egress of [STORED_KEY, OWN_KEY, KEYLESS]) t.match(verdict(egress, url), /link-local, metadata or unroutable/, url);
});

t.test('they are refused even where they are configured, unless the operator lists them', async (t) => {
  const url = 'http://169.254.170.2:8080';
  t.match(verdict(rule({ trustedOrigins: new Set([url]) }), url), /BLOCKHOUSE_ALLOWED_ORIGINS/);
  t.equal(verdict(rule({ allowedOrigins: new Set([url]) }), `${url}/v2`), 'allowed');
  t.match(verdict(rule({ allowedOrigins: new Set([url]) }), 'http://169.254.170.2:8081'), /link-local/);
});

const NOT_SENT = /a stored key is not sent there.*auth set .* --field baseURL.*BLOCKHOUSE_ALLOWED_ORIGINS.*config\.apiKey/;

const LOOPBACK = [
  'http://127.0.0.1',
  'http://127.1',
  'http://0x7f.1',
  'http://2130706433',
  'http://0177.0.0.1',
  'http://127.255.255.254:1',
  'http://①②⑦.⓪.⓪.①',
  'http://localhost:11434',
  'http://LOCALHOST',
  'http://%6cocalhost',
  'http://loc\u00adalhost',
  'http://[::1]:8000',
  'https://[0:0:0:0:0:0:0:1]',
  'http://127.0.0.1\\@evil.example/',
];

t.test('loopback is no exception for a stored key, in no spelling; a call without a key and an own key go there', async (t) => {
  for (const url of LOOPBACK) {
    t.match(verdict(STORED_KEY, url), NOT_SENT, url);
    t.equal(verdict(KEYLESS, url), 'allowed', url);
    t.equal(verdict(OWN_KEY, url), 'allowed', url);
  }
  t.equal(verdict(rule({ trustedOrigins: new Set(['http://127.0.0.1:8000']) }), 'http://0x7f.1:8000/v1'), 'allowed', 'but a configured one is');
  t.match(verdict(rule({ trustedOrigins: new Set(['http://127.0.0.1:8000']) }), 'http://127.0.0.1:8001/v1'), NOT_SENT, 'another port is another program');
  t.match(verdict(rule({ trustedOrigins: new Set(['http://127.0.0.1:8000']) }), 'http://localhost:8000/v1'), NOT_SENT, 'and another name another origin');
});

t.test('a stored key is not sent to an origin that a request names', async (t) => {
  const others = [
    'https://evil.example',
    'https://api.example.evil.example',
    'https://api.example.',
    'https://sub.api.example',
    'https://api.example.:443',
    'https://api.example%2eevil.example',
    'https://api%2Eexample%2Eevil.example',
    'https://api.examp\u0131e',
    'https://\u0430pi.example', // a Cyrillic a
    'https://apı.example',
    'https://evil.example/https://api.example',
    'https://evil.example/..//api.example',
    'https://evil.example/%2f%2fapi.example',
    'https://evil.example\\@api.example',
    'https://evilapi.example',
    'https://api.example-evil.example',
    'https://xn--pi-6kc.example',
    'https://example',
    'http://localhost.',
    'http://sub.localhost',
    'http://localhost.evil.example',
    'http://127.0.0.1.evil.example',
    'http://127.0.0.1.nip.io',
    'http://[::ffff:127.0.0.1]',
    'http://10.0.0.6:8000',
    'http://192.168.1.1',
    'http://[fd12::1]',
  ];
  for (const url of others) {
    t.match(verdict(STORED_KEY, url), NOT_SENT, url);
    t.match(verdict(KEYLESS, url), /which this server is not configured for/, `${url} without a key`);
    t.equal(verdict(OWN_KEY, url), 'allowed', `${url} with an own key`);
  }
});

t.test('other spellings of a trusted origin are the same origin, with any path', async (t) => {
  for (const url of [
    'https://API.EXAMPLE',
    'https://api.example:0443',
    'HTTPS:\\\\api.example',
    'https:api.example',
    'https://api%2eexample',
    'https://ap\u00adi.example',
    'https://ａpi.example',
    'https://api。example',
    'https://api.example/../../evil.example',
    'https://api.example/@evil.example',
    'https://api.example//evil.example',
    'https://api.example\\.evil.example',
    'https://api.example/%2e%2e/x',
    ' https://api.example ',
    'https://api.exa\tmple',
  ])
    t.equal(verdict(STORED_KEY, url), 'allowed', url);
});

t.test('an origin that differs only in port or scheme is another one', async (t) => {
  for (const url of ['https://api.example', 'https://api.example:443/v1', 'https://API.example/', 'http://10.0.0.5:8000/x'])
    t.equal(verdict(STORED_KEY, url), 'allowed', url);
  for (const url of ['http://api.example', 'https://api.example:8443', 'http://10.0.0.5', 'https://10.0.0.5:8000', 'http://api.example:443'])
    t.match(verdict(STORED_KEY, url), /is not sent there/, url);
});

t.test("the operator's list lets a stored key pass, by exact origin", async (t) => {
  const listed = rule({ allowedOrigins: new Set(['https://proxy.example:8443']) });
  t.equal(verdict(listed, 'https://proxy.example:8443/openai'), 'allowed');
  for (const url of ['https://proxy.example', 'http://proxy.example:8443', 'https://a.proxy.example:8443'])
    t.match(verdict(listed, url), /is not sent there/, url);
});

t.test('what is no plain http URL is no base URL', async (t) => {
  const cases: [string, RegExp][] = [
    ['file:///etc/passwd', /http or https/],
    ['gopher://127.0.0.1:70/', /http or https/],
    ['data:text/plain,x', /http or https/],
    ['javascript:alert(1)', /http or https/],
    ['ftp://a.example', /http or https/],
    ['ws://a.example', /http or https/],
    ['blob:https://a.example/1', /http or https/],
    ['a.example', /http or https/],
    ['//a.example', /http or https/],
    ['/v1', /http or https/],
    ['', /http or https/],
    ['http://', /http or https/],
    ['http://a b', /http or https/],
    ['http://[::1', /http or https/],
    ['http://1.2.3.4.5', /http or https/],
    ['http://a.example:99999', /http or https/],
    ['https://api.example@evil.example', /user name or password/],
    ['https://user:secret@api.example', /user name or password/],
    ['https://api.example:443@169.254.169.254', /user name or password/],
    ['https://a.example/?x=1', /query or a fragment/],
    ['https://a.example/#x', /query or a fragment/],
    ['https://api.example?@evil.example', /query or a fragment/],
    ['https://evil.example#@api.example', /query or a fragment/],
    ['https://api.example%40evil.example', /http or https/],
    ['https://api.example%00.evil.example', /http or https/],
  ];
  for (const [text, message] of cases) t.throws(() => parseBaseURL(text), { code: 'INVALID_REQUEST', message, details: [{ path: 'config.baseURL' }] }, text);
  t.throws(() => parseBaseURL('x', 'baseURL'), { details: [{ path: 'baseURL' }], code: 'INVALID_REQUEST' });
  t.throws(() => parseBaseURL('https://user:secret@a.example'), { message: /^(?!.*secret)/ });
});

t.test('the address that a name resolved to is judged alike', async (t) => {
  for (const address of [
    '169.254.169.254',
    '::ffff:169.254.169.254',
    '::ffff:a9fe:a9fe',
    '64:ff9b::a9fe:a9fe',
    '2002:a9fe:a9fe::',
    'fe80::1%eth0',
    'fd00:ec2::254',
    '0.0.0.0',
    '::',
    '::ffff:0:0',
  ])
    t.equal(isForbiddenAddress(address), true, address);
  for (const address of [
    '127.0.0.1',
    '::1',
    '10.0.0.1',
    '192.168.0.1',
    '8.8.8.8',
    '169.253.0.1',
    '169.255.0.1',
    '2606:4700::1111',
    '::ffff:8.8.8.8',
    'fd12:3456::1',
    '2002:808:808::1',
    '64:ff9b::808:808',
  ])
    t.equal(isForbiddenAddress(address), false, address);
});

t.test('only literal spellings are loopback', async (t) => {
  for (const host of ['localhost', '127.0.0.1', '127.9.9.9', '[::1]']) t.ok(isLoopbackHost(host), host);
  for (const host of ['localhost.', 'a.localhost', '127.0.0.1.evil.example', '[::ffff:7f00:1]', '128.0.0.1', '']) t.notOk(isLoopbackHost(host), host);
});

t.test('a URL that is changed after it has passed is judged by where it leads now', async (t) => {
  const url = new URL('https://api.example/v1');
  t.equal(checkEgress(STORED_KEY, url), 'https://api.example');
  url.hostname = 'elsewhere.example';
  t.throws(() => checkEgress(STORED_KEY, url), { code: 'INVALID_REQUEST' });
});

t.test('a call of a connection goes home and nowhere else, whatever else is allowed', async (t) => {
  const home = rule({
    home: new Set(['https://gpu.example']),
    trustedOrigins: new Set(['https://gpu.example']),
    allowedOrigins: new Set(['https://other.example']),
  });
  t.equal(verdict(home, 'https://gpu.example/v1'), 'allowed');
  for (const url of ['https://other.example', 'https://gpu.example:8443', 'http://gpu.example', 'http://127.0.0.1:1'])
    for (const egress of [home, { ...home, ownKey: true }, { ...home, isKeyless: true }]) t.not(verdict(egress, url), 'allowed', url);
});

t.test('private addresses are literal ones', async (t) => {
  for (const host of ['10.0.0.7', '172.31.0.1', '192.168.1.1', '[fd12::1]']) t.ok(isPrivateHost(host), host);
  for (const host of ['127.0.0.1', '172.32.0.1', '11.0.0.1', 'gpu.local', '10.0.0.7.example', '[2001::1]', '']) t.notOk(isPrivateHost(host), host);
});
