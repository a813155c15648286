// What the fuzzer sends: valid requests to all routes, and what becomes of them. All choices hang on the seed and the number of the connection
// alone. Pure: no I/O.
//
// token-line-whole: the line with the token is never split or joined with another one, because a token that the client writes into its Host would look like a leak.
import type { Random } from '../../spec/support/crash/random.ts';
import { CANARIES } from './world.ts';

/** Where the requests go, and what the server gave out for them. */
export interface Target {
  readonly port: number;
  readonly token: string;
  /** A packed block. */
  readonly bundle: Buffer;
  readonly routes: readonly Route[];
}

export interface Route {
  readonly method: string;
  /** With `{name}`, as the description of the API writes it. */
  readonly path: string;
}

/** What goes over one connection. */
export interface Script {
  /** Each of these gets an answer, unless one before it in its group was the last of its connection. */
  readonly groups: readonly (readonly Buffer[])[];
  /** Whether this gets one is not known: its framing is broken. It comes last. */
  readonly broken: Buffer;
}

interface Draft {
  method: string;
  target: string;
  headers: [name: string, value: string][];
  body: Buffer | undefined;
}

export const FUZZ_NAMES: readonly string[] = ['fuzz-0', 'fuzz-1', 'fuzz-2', 'fuzz-3'];
const ADAPTERS = ['ollama', 'openai', 'anthropic', 'google', 'bedrock', 'gemini', '__proto__', 'constructor', 'nobody', ''];
const MAX_GROUPS = 20;
/** Sent at once, one after the other. Many answers end their connection, so what follows them is not read. */
const GROUP_SIZES = [1, 1, 1, 2, 3, 8];
/** Rarely: they cost the server, and the fuzzer, as much as a thousand others. */
const BOMBS_ONE_IN = 400;

const STRANGE_NUMBERS = ['1e999', '-1e999', '-0', '9007199254740993', '1e-400', '-1', '0.1', '2147483648', '18446744073709551616', '1'.repeat(400)];
const STRANGE_TEXTS = [
  '',
  ' ',
  '\u0000',
  '\ud800',
  '\udfff\ud800',
  '\u202egnp.exe',
  '\u2028\u2029',
  '\ufeffx',
  'e\u0301',
  '\u{1f680}'.repeat(50),
  '\u001b[2J\u001b]0;x\u0007',
  '../../auth.json',
  '..%2f..%2fauth.json',
  '/etc/passwd',
  '__proto__',
  'constructor',
  'con',
  '{{7*7}}',
  "<img src=x onerror='1'>",
  '\r\nSet-Cookie: a=b\r\n\r\n',
  'data: x\n\nevent: done\ndata: {}\n\n',
  'http://169.254.169.254/latest/meta-data',
  'http://0x7f.1:1/',
  'file:///etc/passwd',
  'a'.repeat(3000),
  '9'.repeat(64),
];
const STRANGE_PARTS = [
  '..',
  '.',
  '%00',
  '%2e%2e',
  '%c0%ae',
  '%E0%A4%A',
  '%',
  '%zz',
  'a'.repeat(300),
  '__proto__',
  'con',
  '\u00e9',
  '%F0%9F%9A%80',
  '*',
  '{}',
  '',
  ';x',
  '-a',
  '_archive',
];
const STRANGE_HEADERS: [string, string][] = [
  ['Content-Type', 'text/plain'],
  ['Content-Type', 'application/json; charset=utf-16'],
  ['Content-Type', 'multipart/form-data; boundary=x'],
  ['Content-Encoding', 'gzip'],
  ['Content-Encoding', 'gzip, br'],
  ['Accept-Encoding', 'br;q=1e999, *;q=-1'],
  ['Expect', '100-continue'],
  ['Expect', 'x'],
  ['Origin', 'null'],
  ['Origin', 'http://evil.example'],
  ['Sec-Fetch-Site', 'cross-site'],
  ['Host', 'evil.example'],
  ['Host', ''],
  ['Host', '[::1'],
  ['Host', '127.1:99999'],
  ['X-Request-Id', '<script>'],
  ['X-Request-Id', 'a'.repeat(200)],
  ['X-HTTP-Method-Override', 'DELETE'],
  ['X-Forwarded-For', '127.0.0.1'],
  ['If-Match', '"-1"'],
  ['If-Match', '*'],
  ['If-None-Match', '"\u00e9"'],
  ['Range', 'bytes=0-18446744073709551615'],
  ['Cookie', `token=${'x'.repeat(100)}`],
  ['Authorization', 'Basic Og=='],
  ['Authorization', 'Bearer'],
  ['Authorization', `Bearer ${'\u00ff'.repeat(46)}`],
  ['Connection', 'close'],
  ['Connection', 'keep-alive, upgrade'],
  ['Upgrade', 'h2c'],
  ['X-Blockhouse-Channel', '\u00ff'.repeat(100)],
  ['X-Big', 'b'.repeat(9000)],
  ['__proto__', 'x'],
];
const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND'];

const chatBody = (random: Random): unknown => ({
  adapter: random.pick(ADAPTERS.slice(0, 6)),
  model: random.pick(['m', 'gpt-5', 'claude-opus-4-1', 'gemini-2.5-pro', 'amazon.nova-pro-v1:0']),
  stream: random.chance(0.5),
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'hi' },
    ...(random.chance(0.3)
      ? [
          { role: 'assistant', content: '', toolCalls: [{ id: 'c1', name: 'look', arguments: { q: 'x' } }] },
          { role: 'tool', toolResults: [{ toolCallId: 'c1', content: 'found', isError: false }] },
        ]
      : []),
  ],
  ...(random.chance(0.4) && { config: { maxTokens: 100, temperature: 0.5, cacheControl: true } }),
  ...(random.chance(0.4) && { tools: [{ name: 'look', description: 'Looks', parameters: { type: 'object', properties: { q: { type: 'string' } } } }] }),
});

const configBody = (): unknown => ({
  description: 'A block',
  adapter: { provider: 'ollama', model: 'm', maxTokens: 50 },
  fallbacks: [{ provider: 'openai', model: 'm' }],
  systemPrompt: 'Be brief.',
  goals: ['one'],
  tags: ['a', 'b'],
  memory: { maxContextTokens: 4000, thresholdPercent: 80, keepMessages: 10 },
  pulse: { intervalSeconds: 30 },
  retry: { maxAttempts: 2, baseMs: 50, maxDelayMs: 100 },
  budget: { dailyUsd: 1, timezone: 'Europe/Vienna' },
  queue: { cap: 20 },
});

/** Valid bodies, by route; `{}` for the others that take one. */
const BODIES: Readonly<Record<string, (random: Random) => unknown>> = {
  'POST /v1/chat': chatBody,
  'POST /v1/adapters/{provider}/verify': () => ({ provider: 'ollama' }),
  'POST /api/blocks': (random) => ({ name: random.pick(FUZZ_NAMES), config: configBody() }),
  'PUT /api/blocks/{name}/config': configBody,
  'POST /api/blocks/{name}/chat': (random) => ({ message: 'hi', clientId: `c${random.below(1000)}` }),
  'POST /api/blocks/{name}/memory/facts': () => ({ text: 'The sky is blue.', pinned: true }),
  'POST /api/archive/{name}/restore': (random) => ({ name: random.pick(FUZZ_NAMES) }),
  'POST /api/halt': () => ({ reason: 'a test' }),
};
/** Many of the gateway. */
const WEIGHTS: Readonly<Record<string, number>> = { 'POST /v1/chat': 12, 'PUT /api/blocks/{name}/config': 3, 'POST /api/blocks/{name}/chat': 3 };
/** They make or remove folders, or wait for a model. */
const RARE: ReadonlySet<string> = new Set([
  'DELETE /api/blocks/{name}',
  'POST /api/blocks',
  'POST /api/blocks/{name}/start',
  'POST /api/blocks/{name}/stop',
  'POST /api/blocks/{name}/restart',
  'POST /api/blocks/{name}/reset',
  'POST /api/blocks/{name}/memory/compact',
  'POST /api/archive/{name}/restore',
  'POST /api/import',
  'POST /api/halt',
  'GET /api/doctor',
  'GET /openapi.json',
  'GET /api/blocks/{name}/export',
]);
const RARE_CHANCE = 0.1;

export function writeScript(random: Random, target: Target): Script {
  const groups = Array.from({ length: 1 + random.below(MAX_GROUPS) }, () =>
    Array.from({ length: random.pick(GROUP_SIZES) }, () => wholeRequest(random, target)),
  );
  return { groups, broken: brokenRequest(random, target) };
}

/** A request that is framed as it should be, whatever it says. */
function wholeRequest(random: Random, target: Target): Buffer {
  const draft = validRequest(random, target);
  for (let changes = random.below(4); changes > 0; changes -= 1) change(random, draft);
  if (draft.body !== undefined && random.chance(0.2)) return chunked(random, draft, target);
  return serialize(draft, target, draft.body === undefined ? [] : [['Content-Length', String(draft.body.length)]]);
}

function validRequest(random: Random, target: Target): Draft {
  const route = pickRoute(random, target.routes);
  const key = `${route.method} ${route.path}`;
  const path = route.path
    .replace('{provider}', random.pick(ADAPTERS))
    .replace('{name}', random.pick(FUZZ_NAMES))
    .replace('{id}', `m${random.below(100)}`);
  const query = random.chance(0.1) ? random.pick(['?hard=true', '?by=day', '?by=%00', '?name=fuzz-1', '?&&==', `?${'q=1&'.repeat(100)}`]) : '';
  const draft: Draft = { method: route.method, target: path + query, headers: [['Host', `127.0.0.1:${target.port}`]], body: undefined };
  if (key === 'POST /api/import') {
    draft.headers.push(['Content-Type', 'application/gzip']);
    draft.body = target.bundle;
  } else if (route.method === 'POST' || route.method === 'PUT') {
    draft.headers.push(['Content-Type', 'application/json']);
    draft.body = jsonBytes(random, BODIES[key]?.(random) ?? {});
  }
  return draft;
}

function pickRoute(random: Random, routes: readonly Route[]): Route {
  for (;;) {
    const route = random.pick(routes);
    const key = `${route.method} ${route.path}`;
    if (RARE.has(key) && !random.chance(RARE_CHANCE)) continue;
    if (random.chance((WEIGHTS[key] ?? 1) / 12)) return route;
  }
}

// What may be wrong with a request that is whole.

function change(random: Random, draft: Draft): void {
  switch (random.below(8)) {
    case 0:
      draft.target = strangeTarget(random, draft.target);
      break;
    case 1:
      draft.method = random.pick(METHODS);
      break;
    case 2:
    case 3:
      changeHeaders(random, draft);
      break;
    default:
      if (draft.body !== undefined) draft.body = changeBytes(random, draft.body);
  }
}

function strangeTarget(random: Random, target: string): string {
  const parts = target.split('/');
  parts[1 + random.below(Math.max(1, parts.length - 1))] = random.pick(STRANGE_PARTS);
  const strange = parts.join('/');
  if (random.chance(0.05))
    return random.pick(['*', '//evil.example/', 'http://evil.example/v1/health', `/${'a'.repeat(9000)}`, '/%', '/?', '/a b'.replace(' ', '%20')]);
  return strange.startsWith('/') ? strange : `/${strange}`;
}

function changeHeaders(random: Random, draft: Draft): void {
  const { headers } = draft;
  const at = random.below(headers.length);
  const kind = random.below(6);
  if (kind === 0) headers.splice(at, 1);
  else if (kind === 1 && headers[at] !== undefined) headers.push([...headers[at]]);
  else if (kind === 2) for (let count = random.below(200); count > 0; count -= 1) headers.push([`x-${count}`, 'y']);
  else headers.push(random.pick(STRANGE_HEADERS));
}

function changeBytes(random: Random, body: Buffer): Buffer {
  const copy = Buffer.from(body);
  switch (random.below(7)) {
    case 0:
      return flip(random, copy);
    case 1:
      return copy.subarray(0, random.below(copy.length + 1));
    case 2:
      return Buffer.concat([copy, random.pick([copy, Buffer.from('}'), Buffer.from(' 1'), Buffer.from('\u0000'), Buffer.from([0xff, 0xfe])])]);
    case 3:
      return Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), copy]);
    case 4:
      return Buffer.from(copy.toString('utf8'), 'utf16le');
    case 5:
      return Buffer.from(random.pick(['null', '[]', '"x"', '1', '', '{', '{"a":1}{"a":2}', '{"__proto__":{"polluted":1}}', '[[[[', '\u2028']));
    default:
      return splice(random, copy);
  }
}

function flip(random: Random, bytes: Buffer): Buffer {
  if (bytes.length === 0) return bytes;
  for (let flips = 1 + random.below(4); flips > 0; flips -= 1) {
    const at = random.below(bytes.length);
    bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8));
  }
  return bytes;
}

/** Takes a piece out, doubles it, or puts noise into its place. */
function splice(random: Random, bytes: Buffer): Buffer {
  const from = random.below(bytes.length + 1);
  const to = Math.min(bytes.length, from + random.below(40));
  const piece = bytes.subarray(from, to);
  const noise = Buffer.from(Array.from({ length: random.below(12) }, () => random.below(256)));
  const middle = random.pick([Buffer.alloc(0), Buffer.concat([piece, piece]), noise]);
  return Buffer.concat([bytes.subarray(0, from), middle, bytes.subarray(to)]);
}

// JSON: trees that are changed, and their text.

/** Written as text, because no JavaScript value makes these numbers or repeats a key. */
class Verbatim {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

function jsonBytes(random: Random, value: unknown): Buffer {
  let changed = value;
  for (let changes = random.pick([0, 0, 1, 1, 2, 3]); changes > 0; changes -= 1) changed = changeNode(random, changed);
  return Buffer.from(textOf(changed));
}

function textOf(value: unknown): string {
  if (value instanceof Verbatim) return value.text;
  if (Array.isArray(value)) return `[${value.map(textOf).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  return `{${Object.entries(value)
    .map(([key, one]) => `${JSON.stringify(key)}:${textOf(one)}`)
    .join(',')}}`;
}

/** Goes down a random way and changes what it finds at its end. */
function changeNode(random: Random, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Verbatim || random.chance(0.15)) return strangeValue(random, value);
  if (Array.isArray(value)) {
    if (value.length === 0) return strangeValue(random, value);
    const at = random.below(value.length);
    return value.map((one, index) => (index === at ? changeNode(random, one) : one));
  }
  const entries = Object.entries(value);
  if (entries.length === 0) return strangeValue(random, value);
  const at = random.below(entries.length);
  const [key, old] = entries[at] as [string, unknown];
  switch (random.below(6)) {
    case 0:
      entries.splice(at, 1);
      break;
    case 1:
      entries.push([random.pick([...STRANGE_TEXTS, 'apiKey', 'baseURL', 'name', 'rev', 'toString']), strangeValue(random, old)]);
      break;
    case 2:
      return new Verbatim(`${textOf(value).slice(0, -1)},${JSON.stringify(key)}:${textOf(strangeValue(random, old))}}`);
    default:
      entries[at] = [key, changeNode(random, old)];
  }
  // `Object.fromEntries` makes own properties of `__proto__`, too.
  return Object.fromEntries(entries);
}

function strangeValue(random: Random, old: unknown): unknown {
  if (random.below(BOMBS_ONE_IN) === 0) return bomb(random);
  switch (random.below(9)) {
    case 0:
      return null;
    case 1:
      return random.chance(0.5);
    case 2:
    case 3:
      return new Verbatim(random.pick(STRANGE_NUMBERS));
    case 4:
      return [];
    case 5:
      return [old, old, old];
    case 6:
      return new Verbatim(nested(random.pick(['[', '{"a":']), 1 + random.below(300)));
    case 7:
      return schemaBomb(random, 20);
    default:
      return random.pick(STRANGE_TEXTS);
  }
}

function nested(open: string, depth: number): string {
  return open.repeat(depth) + (open === '[' ? '' : '1') + (open === '[' ? ']' : '}').repeat(depth);
}

/** Large ones. */
function bomb(random: Random): unknown {
  switch (random.below(6)) {
    case 0:
      return new Verbatim(nested(random.pick(['[', '{"a":']), 100_000));
    case 1:
      return new Verbatim(`[${'0,'.repeat(100_000)}0]`);
    case 2:
      return new Verbatim(`{${Array.from({ length: 50_000 }, (_, index) => `"k${index}":${index}`).join(',')}}`);
    case 3:
      return new Verbatim(`"${'\\u0000'.repeat(100_000)}"`);
    case 4:
      return 'x'.repeat(900_000);
    default:
      return schemaBomb(random, 20_000);
  }
}

/** Schemas that cost those who compile or resolve them. */
function schemaBomb(random: Random, size: number): unknown {
  switch (random.below(7)) {
    case 0:
      return { type: 'object', properties: { q: { type: 'string', pattern: `^${'(a|a)*'.repeat(Math.min(size, 500))}$` } } };
    case 1:
      return new Verbatim(`${'{"not":'.repeat(Math.min(size, 5000))}{}${'}'.repeat(Math.min(size, 5000))}`);
    case 2:
      return { type: 'object', properties: Object.fromEntries(Array.from({ length: size }, (_, index) => [`p${index}`, { type: 'string' }])) };
    case 3:
      return { $ref: '#', allOf: [{ $ref: '#' }, { $ref: '#/allOf/0' }] };
    case 4:
      return { $ref: 'http://127.0.0.1:9/schema.json', $schema: 'http://evil.example/schema' };
    case 5:
      return { type: 'array', minItems: { $data: '/x' }, items: { enum: Array.from({ length: size }, (_, index) => index) } };
    default:
      return { type: 'object', required: ['a'], patternProperties: { '(((a+)+)+)+$': { type: 'string', format: 'regex', const: CANARY_SHAPE } } };
  }
}

/** Has the form of a key, and no server knows it. */
const CANARY_SHAPE = CANARIES.openai.replace('canary', 'nobody');

// Bytes on the wire.

/** token-line-whole: the token is in the last line, after a line that no answer repeats. */
function serialize(draft: Draft, { token }: Target, framing: readonly (readonly [string, string])[]): Buffer {
  return Buffer.concat([headOf(draft, framing), authorization(token), Buffer.from('\r\n'), draft.body ?? Buffer.alloc(0)]);
}

function headOf({ method, target, headers }: Draft, framing: readonly (readonly [string, string])[]): Buffer {
  const lines = [...headers, ...framing].map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines.join('')}`, 'latin1');
}

function authorization(token: string): Buffer {
  return Buffer.from(`Accept: */*\r\nAuthorization: Bearer ${token}\r\n`);
}

function chunked(random: Random, draft: Draft, target: Target): Buffer {
  const body = draft.body ?? Buffer.alloc(0);
  const pieces: Buffer[] = [];
  for (let from = 0; from < body.length; ) {
    const size = Math.min(body.length - from, 1 + random.below(Math.max(1, body.length)));
    const extension = random.chance(0.1) ? ';a=b' : '';
    pieces.push(Buffer.from(`${size.toString(16)}${extension}\r\n`), body.subarray(from, from + size), Buffer.from('\r\n'));
    from += size;
  }
  const trailer = random.chance(0.1) ? 'X-Trailer: 1\r\nContent-Length: 3\r\n__proto__: x\r\n' : '';
  pieces.push(Buffer.from(`0\r\n${trailer}\r\n`));
  return serialize({ ...draft, body: Buffer.concat(pieces) }, target, [['Transfer-Encoding', 'chunked']]);
}

const FALSE_FRAMINGS: readonly (readonly (readonly [string, string])[])[] = [
  [['Content-Length', '-1']],
  [['Content-Length', '+1']],
  [['Content-Length', '1, 1']],
  [['Content-Length', '0x10']],
  [['Content-Length', '18446744073709551616']],
  [['Content-Length', '99999999999']],
  [['Content-Length', '0']],
  [['Content-Length', '3']],
  [
    ['Content-Length', '5'],
    ['Content-Length', '6'],
  ],
  [
    ['Content-Length', '5'],
    ['Transfer-Encoding', 'chunked'],
  ],
  [['Transfer-Encoding', 'xchunked']],
  [['Transfer-Encoding', 'chunked, identity']],
  [['Transfer-Encoding', 'chunked, chunked']],
  [['Transfer-Encoding', 'chunked']],
  [['Transfer-Encoding\t', 'chunked']],
];
const FALSE_CHUNKS = [
  '0x1\r\na\r\n',
  '-1\r\n',
  'FFFFFFFFFFFFFFFFF\r\n',
  '1 ;\r\na\r\n',
  '1\na\n0\n\n',
  '5\r\nab\r\n0\r\n\r\n',
  '1\r\nabc\r\n',
  `1;${'x'.repeat(20_000)}\r\na\r\n0\r\n\r\n`,
  '\r\n',
  'g\r\n',
];
const NO_HTTP = [
  Buffer.from('1603010200010001fc0303', 'hex'),
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  Buffer.from('SSH-2.0-OpenSSH_9.6\r\n'),
  Buffer.from('GET /v1/health\r\n\r\n'),
  Buffer.from('GET /v1/health HTTP/9.9\r\n\r\n'),
  Buffer.from('get /v1/health HTTP/1.1\r\n\r\n'),
  Buffer.from('CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example\r\n\r\n'),
  Buffer.from('\r\n\r\n\r\n\u0000'),
];

function brokenRequest(random: Random, target: Target): Buffer {
  const draft = validRequest(random, target);
  if (random.chance(0.5)) change(random, draft);
  const { body } = draft;
  const framing: [string, string][] = body === undefined ? [] : [['Content-Length', String(body.length)]];
  switch (random.below(8)) {
    case 0:
      return serialize(draft, target, random.pick(FALSE_FRAMINGS));
    case 1:
      return serialize({ ...draft, body: Buffer.from(random.pick(FALSE_CHUNKS)) }, target, [['Transfer-Encoding', 'chunked']]);
    case 2: {
      const bytes = serialize(draft, target, framing);
      return bytes.subarray(0, random.below(bytes.length));
    }
    case 3:
      return random.chance(0.5) ? random.pick(NO_HTTP) : Buffer.from(Array.from({ length: random.below(2000) }, () => random.below(256)));
    case 4:
      return webSocket(random, target);
    case 5:
      return Buffer.concat([splice(random, headOf(draft, framing)), authorization(target.token), Buffer.from('\r\n'), body ?? Buffer.alloc(0)]);
    case 6: {
      const strange = random.pick([
        ' folded: x\r\n',
        'Space : x\r\n',
        'Nul: \u0000\r\n',
        'Bare: x\n',
        'Cr: a\rb\r\n',
        ': x\r\n',
        `Huge: ${'h'.repeat(17_000)}\r\n`,
        'no colon\r\n',
      ]);
      return Buffer.concat([headOf(draft, framing), Buffer.from(strange, 'latin1'), authorization(target.token), Buffer.from('\r\n'), body ?? Buffer.alloc(0)]);
    }
    default:
      return Buffer.concat([flip(random, headOf(draft, framing)), authorization(target.token), Buffer.from('\r\n'), flip(random, Buffer.from(body ?? []))]);
  }
}

/** A handshake, now and then not quite, and frames of which few are any. */
function webSocket(random: Random, { port, token }: Target): Buffer {
  const version = random.pick(['13', '13', '13', '8', '']);
  const key = random.pick(['dGhlIHNhbXBsZSBub25jZQ==', 'dGhlIHNhbXBsZSBub25jZQ==', 'x', '']);
  const head = `GET /api/ws?token=${random.chance(0.8) ? token : 'x'} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: ${version}\r\nSec-WebSocket-Key: ${key}\r\n`;
  const frames = Array.from({ length: random.below(6) }, () => webSocketFrame(random));
  return Buffer.concat([Buffer.from(head), authorization(token), Buffer.from('\r\n'), ...frames]);
}

function webSocketFrame(random: Random): Buffer {
  const text = random.pick([
    '{"type":"subscribe","block":"fuzz-0"}',
    '{"type":"unsubscribe","block":"fuzz-0"}',
    '{"type":"__proto__"}',
    '[]',
    'null',
    '\ud800',
    `{"type":"subscribe","block":${JSON.stringify(random.pick(STRANGE_TEXTS))}}`,
  ]);
  const payload = flipSometimes(random, Buffer.from(text.slice(0, 125)));
  const length = random.chance(0.9) ? payload.length : random.below(128);
  // The mask is zero, so that the payload stands there as it is.
  return Buffer.concat([Buffer.from([random.chance(0.7) ? 0x81 : random.below(256), (random.chance(0.95) ? 0x80 : 0) | length, 0, 0, 0, 0]), payload]);
}

function flipSometimes(random: Random, bytes: Buffer): Buffer {
  return random.chance(0.3) ? flip(random, bytes) : bytes;
}
