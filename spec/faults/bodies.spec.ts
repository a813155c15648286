// Group B of the faults, against the built server: bodies and JSON. The invariants hold after every case.
//
// | not here                                     | why                                                                                    |
// | -------------------------------------------- | -------------------------------------------------------------------------------------- |
// | B33 `({}).polluted` inside the server        | it is a process of its own; what a polluted prototype would do to the next requests is |
// | B36 figures that a provider makes up (costs) | they belong to the gateway (120); here are those that a client sends, and the totals   |
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { runHere } from '../cli/run.ts';
import { type FaultWorld, forgetPeak, peakRssMiB, rssMiB, sharedFaultWorld, startFaultWorld } from '../support/fault-world.ts';
import { RawClient, type RawResponse } from '../support/raw.ts';
import { CHAT } from '../support/server.ts';
import { sweep } from '../support/sweep.ts';

const MIB = 1024 * 1024;
/** What the server itself needs while it reads, on top of the bytes of the body. */
const READING_MIB = 60;
/**
 * Between two MiB of a body without end: without it, both sides do nothing else for the second in which the server reads on after its refusal. What is kept after the refusal shows at
 * the large limits; the small ones show that their body is refused, which takes fewer bytes.
 */
const paceMsOf = (limit: number): number => (limit > 32 * MIB ? 5 : limit > MIB ? 9 : 40);

const small = await sharedFaultWorld();
/** For bodies of 10 to 64 MiB: malloc keeps their pages, and 10 MiB of the costliest JSON hold the event loop for longer than 100 ms. */
const large = await startFaultWorld(t, { memoryLimitMiB: 250, stallLimitMs: 2000 });
/** The one of the case at work. */
let world = small;
const headOf = ({ port, token }: FaultWorld): string => `Host: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n`;

interface Said {
  readonly status: number;
  readonly text: string;
  readonly json: Record<string, unknown>;
  readonly headers: Headers;
}

/** One request. Strings and bytes go as they are, everything else as JSON. */
async function ask(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Said> {
  const bytes = body === undefined || typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
  const response = await fetch(world.url + path, {
    method,
    headers: { authorization: `Bearer ${world.token}`, connection: 'close', ...(bytes !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(bytes !== undefined && { body: bytes }),
  });
  const text = await response.text();
  world.heard(text);
  return {
    status: response.status,
    text,
    headers: response.headers,
    get json() {
      return JSON.parse(text) as Record<string, unknown>;
    },
  };
}

async function createBlock(name: string, config: object = {}): Promise<void> {
  const created = await ask('POST', '/api/blocks', { name, config });
  if (created.status !== 200) throw new Error(created.text);
}

function fileOf(name: string, file = 'config.json'): string {
  return readFileSync(join(world.workspace, 'blocks', name, file), 'utf8');
}

const chat = (fields: object): string => JSON.stringify({ ...CHAT, ...fields });
const saying = (content: string): string => chat({ messages: [{ role: 'user', content }] });
/** Sets JSON text where JSON.stringify would not write it so. */
const withRaw = (fields: string): string => `${JSON.stringify(CHAT).slice(0, -1)},${fields}}`;

async function sent(bytes: readonly (string | Buffer)[]): Promise<RawResponse[]> {
  const client = await RawClient.connect(t, world.port);
  for (const piece of bytes) client.send(piece);
  const responses = await client.untilClosed();
  world.heard(client.received);
  return responses;
}

function assertPath(t: Test, answer: Said, path: string, title: string): void {
  t.equal(answer.status, 400, `${title}: 400`);
  t.equal((answer.json['details'] as { path: string }[] | undefined)?.[0]?.path, path, `${title}: the path`);
}

const LIMITS = [
  ['/v1/chat', 10 * MIB, 'application/json'],
  ['/v1/adapters/ollama/verify', MIB, 'application/json'],
  ['/api/blocks', MIB, 'application/json'],
  ['/api/import', 64 * MIB, 'application/gzip'],
] as const;

for (const [path, limit, type] of LIMITS) {
  t.test(`B31 ${path} refuses a body of one byte more than ${limit / MIB} MiB, announced or chunked, and stops reading`, async (t) => {
    world = limit > MIB ? large : small;
    const head = `POST ${path} HTTP/1.1\r\n${headOf(world)}Content-Type: ${type}\r\n`;
    const rss = rssMiB(world.pid);
    forgetPeak(world.pid);
    t.match(await sent([`${head}Content-Length: ${limit + 1}\r\n\r\n`]), [{ status: 413 }], 'announced, before a byte of it has come');
    if (limit <= sweep(Number.POSITIVE_INFINITY, MIB)) {
      const over = Buffer.alloc(limit + 1, 0x20);
      t.match(await sent([`${head}Content-Length: ${limit + 1}\r\n\r\n`, over]), [{ status: 413 }], 'announced');
      t.match(
        await sent([`${head}Transfer-Encoding: chunked\r\n\r\n${(limit + 1).toString(16)}\r\n`, over, '\r\n0\r\n\r\n']),
        [{ status: 413 }],
        'in one chunk',
      );
    }
    const client = await RawClient.connect(t, world.port);
    client.send(`${head}Transfer-Encoding: chunked\r\n\r\n`);
    const piece = Buffer.concat([Buffer.from('100000\r\n'), Buffer.alloc(MIB, 0x20), Buffer.from('\r\n')]);
    const flood = (): void => {
      if (!client.closed) client.socket.write(piece, () => setTimeout(flood, paceMsOf(limit)));
    };
    flood();
    t.match(await client.untilClosed(), [{ status: 413 }], 'in chunks without end');
    const grownMiB = peakRssMiB(world.pid) - rss;
    t.comment(`memory grew by ${grownMiB.toFixed(1)} MiB at most`);
    t.ok(grownMiB < (2 * limit) / MIB + READING_MIB, `memory grew by ${grownMiB.toFixed(1)} MiB at most`);
    if (type === 'application/json') {
      const whole = JSON.stringify(path === '/v1/chat' ? CHAT : path === '/api/blocks' ? { name: '.' } : { provider: 'ollama' });
      const atLimit = Buffer.alloc(limit, 0x20);
      atLimit.write(whole);
      const [response] = await sent([`${head}Content-Length: ${limit}\r\n\r\n`, atLimit]);
      t.equal(response?.status, path === '/api/blocks' ? 400 : 200, 'a body at the limit is read');
    }
    await world.check(t, 'B31');
  });
}

/** By hand: JSON.stringify would overflow its own stack. */
const nestedObjects = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
const nestedArrays = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

t.test('B32 JSON that nests 200 to 1,000,000 levels is a 400, wherever it stands', async (t) => {
  world = large;
  await createBlock('deep', { description: 'flat' });
  const before = fileOf('deep');
  const asked = world.upstream.requests.length;
  for (const depth of [200, 10_000, 1_000_000]) {
    const inChat: [string, string][] = [
      ['the parameters of a tool', withRaw(`"tools":[{"name":"f","parameters":{"x":${nestedArrays(depth)}}}]`)],
      ['a field that there is not', withRaw(`"x":${nestedArrays(depth)}`)],
      ['the config', withRaw(`"config":{"x":${nestedArrays(depth)}}`)],
      ['the messages', `{"adapter":"ollama","model":"m","messages":${nestedArrays(depth)}}`],
      ['the document', nestedArrays(depth)],
    ];
    if (depth < 1_000_000) inChat.push(['the parameters of a tool, as objects', withRaw(`"tools":[{"name":"f","parameters":${nestedObjects(depth)}}]`)]);
    for (const [title, body] of inChat) t.equal((await ask('POST', '/v1/chat', body)).status, 400, `${title}, ${depth} levels`);
    if (depth > 100_000) continue; // more than the 1 MiB of the other routes
    for (const body of [`{"x":${nestedArrays(depth)}}`, `{"x":${nestedObjects(depth)}}`, `{"memory":${nestedObjects(depth)}}`]) {
      t.equal((await ask('PUT', '/api/blocks/deep/config', body)).status, 400, `a configuration of ${depth} levels`);
      t.equal((await ask('POST', '/api/blocks', `{"name":"deeper","config":${body}}`)).status, 400, `and of a new block`);
      t.equal((await ask('POST', '/api/blocks/deep/chat', `{"message":${body}}`)).status, 400, `a message of ${depth} levels`);
    }
  }
  t.equal(world.upstream.requests.length, asked, 'no provider was asked');
  t.equal(fileOf('deep'), before, 'the configuration is as it was');
  t.strictSame(readdirSync(join(world.workspace, 'blocks')), ['deep'], 'no block was made');
  t.equal((await ask('GET', '/api/blocks/deep')).status, 200, 'and is read as ever');
  await world.check(t, 'B32');
});

/** Each would change what the next requests do, if it came into a prototype. */
const POLLUTION = '{"polluted":1,"stream":true,"status":500,"toJSON":1,"description":"polluted","enabled":true,"clientId":"polluted"}';

t.test('B33 __proto__ and constructor.prototype are a 400 or data, and change nothing for anybody else', async (t) => {
  world = small;
  await createBlock('inert');
  const evil = [`"__proto__":${POLLUTION}`, `"constructor":{"prototype":${POLLUTION}}`, `"__proto__":{"__proto__":${POLLUTION}}`];
  for (const fields of evil) {
    const bodies: [method: string, path: string, body: string][] = [
      ['POST', '/v1/chat', withRaw(fields)],
      ['POST', '/v1/chat', withRaw(`"config":{${fields}}`)],
      ['POST', '/v1/chat', `{"adapter":"ollama","model":"m","messages":[{"role":"user","content":"hi",${fields}}]}`],
      ['POST', '/v1/chat', withRaw(`"tools":[{"name":"f",${fields}}]`)],
      ['POST', '/v1/chat', withRaw(`"tools":[{"name":"f","parameters":{"type":"object",${fields}}}]`)],
      ['POST', '/api/blocks', `{"name":"polluted",${fields}}`],
      ['PUT', '/api/blocks/inert/config', `{${fields}}`],
      ['PUT', '/api/blocks/inert/config', `{"memory":{${fields}}}`],
      ['PUT', '/api/blocks/inert/config', `{"x":{"y":[{${fields}}]}}`],
      ['POST', '/api/blocks/inert/chat', `{"message":"hi",${fields}}`],
      ['POST', '/v1/adapters/ollama/verify', `{${fields}}`],
    ];
    for (const [method, path, body] of bodies) {
      const { status } = await ask(method, path, body);
      t.ok(status === 400 || status === 200, `${method} ${path} ${body.slice(0, 80)}: ${status}`);
    }
  }
  t.match(await ask('POST', '/v1/chat', CHAT), { status: 200, json: { stopReason: 'end_turn' } }, 'the next chat is whole, and no stream');
  await createBlock('sibling');
  const { json } = await ask('GET', '/api/blocks/sibling/config');
  t.match(json, { config: { description: '', enabled: false } }, 'a new block has the defaults');
  t.notOk('polluted' in (json['config'] as object), 'and nothing else');
  const first = await ask('POST', '/api/blocks/sibling/chat', { message: 'one' });
  const second = await ask('POST', '/api/blocks/sibling/chat', { message: 'two' });
  t.not(first.json['id'], second.json['id'], 'two messages are two');
  t.equal((await ask('GET', '/api/blocks/inert')).status, 200, 'and the block that was tried is read as ever');
  await world.check(t, 'B33');
});

/** Fit for the title of an assertion. */
function ascii(text: string): string {
  return JSON.stringify(text).replace(/[^ -~]/g, (character) => `\\u${character.charCodeAt(0).toString(16)}`);
}

const ROUND_TRIP = [
  'a\u2028b\u2029c',
  'nul \u0000 inside',
  '\u202eright to left',
  '\ufeffbegins with a BOM',
  '\u001b[31mred',
  '😀 👩‍👩‍👧 e\u0301 é',
  'lone \ud800 high',
  'lone \udc00 low',
  '\\ud800 in words',
  '\ufffd\uffff\ufffe',
  '\n\nevent: done\ndata: {}\n\n',
  '"quoted" \\ back',
];

t.test('B35 bytes that are no plain UTF-8 are a 400, and every text comes back exactly', async (t) => {
  await createBlock('texts');
  const asked = world.upstream.requests.length;
  const whole = JSON.stringify({ ...CHAT, model: 'é' });
  const within = (...bytes: number[]): Buffer => Buffer.concat([Buffer.from('{"adapter":"ollama","model":"'), Buffer.from(bytes), Buffer.from('"}')]);
  const broken: [title: string, body: Buffer][] = [
    ['a BOM', Buffer.from(`\ufeff${whole}`)],
    ['UTF-16', Buffer.from(whole, 'utf16le')],
    ['UTF-16 with a BOM', Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(whole, 'utf16le')])],
    ['UTF-16, big end first', Buffer.from(whole, 'utf16le').swap16()],
    ['Latin-1', Buffer.from(whole, 'latin1')],
    ['a lead byte alone', within(0xc3, 0x28)],
    ['a trailing byte alone', within(0x80)],
    ['an overlong slash', within(0xc0, 0xaf)],
    ['an encoded surrogate', within(0xed, 0xa0, 0x80)],
    ['a character beyond Unicode', within(0xf4, 0x90, 0x80, 0x80)],
    ['a character cut short', within(0xe2, 0x82)],
    ['a raw NUL in a string', within(0)],
    ['a raw line end in a string', within(0x0a)],
    ['a NUL behind the document', Buffer.from(`${whole}\0`)],
  ];
  for (const [title, body] of broken)
    for (const [method, path] of [
      ['POST', '/v1/chat'],
      ['PUT', '/api/blocks/texts/config'],
      ['POST', '/api/blocks/texts/chat'],
    ] as const)
      t.match(await ask(method, path, body), { status: 400, json: { code: 'INVALID_REQUEST' } }, `${title}: ${path}`);
  t.equal(world.upstream.requests.length, asked, 'no provider was asked');

  for (const content of ROUND_TRIP) {
    const title = ascii(content);
    t.equal((await ask('POST', '/v1/chat', saying(content))).status, 200, `${title} is taken`);
    const there = JSON.parse(world.upstream.requests.at(-1)?.body ?? '') as typeof CHAT;
    t.equal(there.messages[0]?.content, content, `${title} reaches the provider`);
    const { status, json } = await ask('PUT', '/api/blocks/texts/config', { description: content, x: [content] });
    t.equal(status, 200, `${title} is stored`);
    t.match(json, { config: { description: content, x: [content] } }, `${title} is told`);
    t.equal((JSON.parse(fileOf('texts')) as { description: string }).description, content, `${title} stands in the file`);
    t.equal((await ask('POST', '/api/blocks/texts/chat', { message: content })).status, 200, `${title} is queued`);
    const { messages } = (await ask('GET', '/api/blocks/texts/chat')).json as { messages: { content: string }[] };
    t.equal(messages.at(-1)?.content, content, `${title} is in the history`);
    t.equal((JSON.parse(fileOf('texts', 'chat.json')) as { content: string }[]).at(-1)?.content, content, `${title} is in its file`);
  }
  await world.check(t, 'B35');
});

t.test('B36 numbers that are none, or too large, are a 400, and no total is ever one of them', async (t) => {
  await createBlock('numbers');
  const asked = world.upstream.requests.length;
  const none = ['1e999', '-1e999', '"12"', 'null', 'true', '[1]', '-1', '9007199254740993', '1e400'];
  for (const number of none) {
    if (number !== '9007199254740993')
      assertPath(t, await ask('POST', '/v1/chat', withRaw(`"config":{"temperature":${number}}`)), 'config.temperature', number);
    assertPath(t, await ask('POST', '/v1/chat', withRaw(`"config":{"maxTokens":${number}}`)), 'config.maxTokens', number);
    const nested = await ask('PUT', '/api/blocks/numbers/config', `{"memory":{"maxContextTokens":${number}}}`);
    assertPath(t, nested, 'memory.maxContextTokens', number);
    assertPath(t, await ask('PUT', '/api/blocks/numbers/config', `{"queue":{"cap":${number}}}`), 'queue.cap', number);
    if (number !== 'null' && number !== '9007199254740993') {
      const cap = await ask('PUT', '/api/blocks/numbers/config', `{"budget":{"dailyUsd":${number}}}`);
      t.equal(cap.status, 400, `a cap of ${number}`);
    }
  }
  for (const number of ['NaN', 'Infinity', '0x10', '01', '1.', '.5', '+1', '1_000', '-'])
    t.match(await ask('POST', '/v1/chat', withRaw(`"config":{"temperature":${number}}`)), { status: 400, json: { error: /not valid JSON/ } }, number);
  t.equal(world.upstream.requests.length, asked, 'no provider was asked');
  for (const number of ['1e-400', '-0', '0.1e1', '0.30000000000000004']) {
    t.equal((await ask('POST', '/v1/chat', withRaw(`"config":{"temperature":${number}}`))).status, 200, `a temperature of ${number}`);
    const { options } = JSON.parse(world.upstream.requests.at(-1)?.body ?? '') as { options: { temperature: number } };
    t.equal(options.temperature + 0, Number(number) + 0, `${number} is sent as it is`);
  }
  t.equal((await ask('PUT', '/api/blocks/numbers/config', '{"budget":{"dailyUsd":1e-400},"x":-0,"y":9007199254740993}')).status, 200);
  JSON.parse(fileOf('numbers'));
  for (const path of ['/api/costs', '/api/blocks/numbers', '/api/blocks']) {
    const { text, status } = await ask('GET', path);
    t.equal(status, 200, path);
    t.notMatch(text, /NaN|Infinity|:-[1-9]/, `${path}: no total is negative or no number`);
  }
  await world.check(t, 'B36');
});

t.test('B37 many keys, many escapes and many elements are answered without holding anybody up', async (t) => {
  world = large;
  await createBlock('wide');
  const before = fileOf('wide');
  const keys = `{${Array.from({ length: 200_000 }, (_, n) => `"k${n}":1`).join()}}`;
  const fewKeys = `{${Array.from({ length: 80_000 }, (_, n) => `"k${n}":1`).join()}}`;
  const mostKeys = `{${Array.from({ length: 40_000 }, (_, n) => `"k${n}":1`).join()}}`;
  const forms = `[${Array.from({ length: 15_000 }, (_, n) => `{"k${n}":1}`).join()}]`;
  const fewMessages = `[${'{"role":"user","content":"hi"},'.repeat(9_999)}{"role":"user","content":"hi"}]`;
  const nuls = '\\u0000'.repeat(170_000);
  const elements = `[${'0,'.repeat(99_999)}0]`;
  const messages = `[${'{"role":"user","content":"hi"},'.repeat(99_999)}{"role":"user","content":"hi"}]`;
  const emptyMessages = `[${'{},'.repeat(99_999)}{}]`;
  const cases: [title: string, method: string, path: string, body: string, statuses: number[]][] = [
    ['200,000 keys', 'POST', '/v1/chat', keys, [400]],
    ['200,000 keys in the config', 'POST', '/v1/chat', withRaw(`"config":${keys}`), [400]],
    ['200,000 keys in the parameters of a tool', 'POST', '/v1/chat', withRaw(`"tools":[{"name":"f","parameters":${keys}}]`), [400]],
    ['a megabyte of escapes', 'POST', '/v1/chat', `{"adapter":"ollama","model":"m","messages":[{"role":"user","content":"${nuls}"}]}`, [200]],
    ['a megabyte of escapes as a key', 'POST', '/v1/chat', withRaw(`"${nuls}":1`), [400]],
    ['100,000 numbers as messages', 'POST', '/v1/chat', `{"adapter":"ollama","model":"m","messages":${elements}}`, [400]],
    ['100,000 empty messages', 'POST', '/v1/chat', `{"adapter":"ollama","model":"m","messages":${emptyMessages}}`, [400]],
    ['100,000 messages', 'POST', '/v1/chat', `{"adapter":"ollama","model":"m","messages":${messages}}`, [400]],
    ['10,000 messages', 'POST', '/v1/chat', `{"adapter":"ollama","model":"m","messages":${fewMessages}}`, [200]],
    ['40,000 keys in the config', 'POST', '/v1/chat', withRaw(`"config":${mostKeys}`), [400]],
    ['15,000 objects of as many forms', 'POST', '/v1/chat', withRaw(`"tools":${forms}`), [400]],
    ['100,000 numbers as tools', 'POST', '/v1/chat', withRaw(`"tools":${elements}`), [400]],
    ['80,000 keys in a configuration', 'PUT', '/api/blocks/wide/config', `{"memory":${fewKeys},"tags":5}`, [400]],
    ['100,000 tags', 'PUT', '/api/blocks/wide/config', `{"tags":${elements}}`, [400]],
    ['170,000 escapes in a message', 'POST', '/api/blocks/wide/chat', `{"message":"${nuls}"}`, [200, 400]],
  ];
  await world.worstStallMs();
  for (const [title, method, path, body, statuses] of cases) {
    const { status } = await ask(method, path, body);
    const stallMs = await world.worstStallMs();
    t.comment(`${title}: ${status}, the event loop was held up for ${stallMs.toFixed(0)} ms`);
    t.ok(statuses.includes(status), `${title}: ${status}`);
    t.ok(stallMs < 100, `${title}: less than a tenth of a second`);
  }
  t.equal(fileOf('wide'), before, 'the configuration is as it was');
  await world.check(t, 'B37');
});

t.test('B38 a configuration that can not be is a 400 with the path, and the file stays byte for byte', async (t) => {
  world = small;
  await createBlock('strict', { description: 'as it was', adapter: { provider: 'ollama', model: 'm' }, mine: { own: true } });
  const before = fileOf('strict');
  const cases: [body: unknown, path: string][] = [
    [{ description: 5 }, 'description'],
    [{ description: null }, 'description'],
    [{ systemPrompt: ['x'] }, 'systemPrompt'],
    [{ tags: 'x' }, 'tags'],
    [{ tags: [1] }, 'tags[0]'],
    [{ tags: [''] }, 'tags[0]'],
    [{ goals: {} }, 'goals'],
    [{ enabled: 'yes' }, 'enabled'],
    [{ autoStart: 1 }, 'autoStart'],
    [{ memory: [] }, 'memory'],
    [{ memory: { keepMessages: -1 } }, 'memory.keepMessages'],
    [{ memory: { thresholdPercent: 101 } }, 'memory.thresholdPercent'],
    [{ retry: { maxAttempts: 0 } }, 'retry.maxAttempts'],
    [{ pulse: { intervalSeconds: 1 } }, 'pulse.intervalSeconds'],
    [{ budget: { warnAt: 2 } }, 'budget.warnAt'],
    [{ budget: { timezone: 'Mars/Olympus' } }, 'budget.timezone'],
    [{ queue: { cap: 1.5 } }, 'queue.cap'],
    [{ logs: { maxFileBytes: 1 } }, 'logs.maxFileBytes'],
    [{ adapter: 'ollama' }, 'adapter'],
    [{ adapter: { provider: 'ollama' } }, 'adapter.model'],
    [{ adapter: { provider: 'nobody', model: 'm' } }, 'adapter.provider'],
    [{ adapter: { provider: '__proto__', model: 'm' } }, 'adapter.provider'],
    [{ fallbacks: [{ provider: 'constructor', model: 'm' }] }, 'fallbacks[0].provider'],
    [{ fallbacks: [{ provider: 'ollama', model: '' }] }, 'fallbacks[0].model'],
    [{ name: 'other' }, 'name'],
    [{ name: 5 }, 'name'],
    [{ apiKey: 'x' }, 'apiKey'],
    [{ adapter: { provider: 'ollama', model: 'm', apiKey: 'x' } }, 'adapter.apiKey'],
    [{ mine: { nested: [{ secretAccessKey: 'x' }] } }, 'mine.nested[0].secretAccessKey'],
    [{ password: '' }, 'password'],
    [{ description: 'good', tags: 5 }, 'tags'],
  ];
  for (const [body, path] of cases) {
    assertPath(t, await ask('PUT', '/api/blocks/strict/config', body), path, JSON.stringify(body));
    t.equal(fileOf('strict'), before, `${JSON.stringify(body)}: the file is as it was`);
  }
  t.equal((await ask('PUT', '/api/blocks/strict/config', { tags: ['x'] }, { 'if-match': '"7"' })).status, 412, 'another revision');
  t.equal(fileOf('strict'), before);
  t.equal((await ask('PUT', '/api/blocks/strict/config', { tags: ['x'] })).status, 200, 'a good one is taken');
  t.match(JSON.parse(fileOf('strict')), { description: 'as it was', mine: { own: true }, tags: ['x'] }, 'and keeps the rest');
  await world.check(t, 'B38');
});

t.test('B39 a message is a 400 or stored verbatim, and never reaches a terminal as commands', async (t) => {
  await createBlock('sayings');
  const refused = ['', ' ', ' \n\t ', '\u00a0\u2003', 'x'.repeat(MIB - 100), 'x'.repeat(262_145)];
  for (const message of refused)
    t.equal((await ask('POST', '/api/blocks/sayings/chat', { message })).status, 400, `${message.length} of ${ascii(message.slice(0, 5))}`);
  t.equal((await ask('POST', '/api/blocks/sayings/chat', { message: 'x'.repeat(2 * MIB) })).status, 413, '2 MiB');
  const taken = [
    '\u001b[2J\u001b[31mred\u001b]0;title\u0007',
    '\u001b]52;c;ZXZpbA==\u0007 clipboard',
    '\u009b31m C1',
    '\u202egnp.exe',
    '\u0008\u0008\u007f back',
    'a\rb carriage',
    `${'\n'.repeat(10_000)}below`,
    '  spaces around  ',
    'x'.repeat(262_144),
  ];
  for (const message of taken) t.equal((await ask('POST', '/api/blocks/sayings/chat', { message })).status, 200, ascii(message.slice(0, 20)));
  const { messages } = (await ask('GET', '/api/blocks/sayings/chat')).json as { messages: { content: string }[] };
  t.strictSame(
    messages.map(({ content }) => content),
    taken,
    'the history has them verbatim',
  );
  await ask('PUT', '/api/blocks/sayings/config', { description: taken[0], tags: ['\u001b[31m'], systemPrompt: taken[1] });
  for (const args of [
    ['queue', 'sayings'],
    ['ls'],
    ['show', 'sayings'],
    ['why', 'sayings'],
    ['config', 'get', 'sayings'],
    ['config', 'get', 'sayings', 'description'],
  ]) {
    const { stdout, stderr, code } = await runHere(t, [...args, '--workspace', world.workspace]);
    t.equal(code, 0, `${args.join(' ')}: ${stderr}`);
    world.heard(stdout + stderr);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
    t.notMatch(stdout + stderr, /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/, `${args.join(' ')}: nothing that a terminal obeys`);
  }
  await world.check(t, 'B39');
});

t.test('B40 many changes of different fields at the same time are all there in the end', async (t) => {
  await createBlock('busy');
  const count = sweep(200, 50);
  const fields = Array.from({ length: count }, (_, n) => `field${n}`);
  const answers = await Promise.all(fields.map((field) => ask('PUT', '/api/blocks/busy/config', { [field]: field })));
  t.strictSame([...new Set(answers.map(({ status }) => status))], [200], 'each is taken');
  const stored = JSON.parse(fileOf('busy')) as Record<string, unknown>;
  t.strictSame(
    fields.filter((field) => stored[field] !== field),
    [],
    'none is lost',
  );
  t.match((await ask('GET', '/api/blocks/busy/config')).json, { config: stored }, 'and the server tells what the file has');

  const { headers } = await ask('GET', '/api/blocks/busy/config');
  const etag = headers.get('etag') ?? '';
  const racing = await Promise.all(fields.map((field) => ask('PUT', '/api/blocks/busy/config', { winner: field }, { 'if-match': etag })));
  t.equal(racing.filter(({ status }) => status === 200).length, 1, 'of those that name one revision, one is taken');
  t.equal(racing.filter(({ status }) => status === 412).length, count - 1, 'and the others are told');
  const winner = fields[racing.findIndex(({ status }) => status === 200)];
  t.equal((JSON.parse(fileOf('busy')) as { winner: string }).winner, winner, 'the one that was taken is stored');
  const stallMs = await world.worstStallMs();
  t.comment(`the event loop was held up for ${stallMs.toFixed(0)} ms`);
  t.ok(stallMs < 1000, 'the answers of one write hold up the others for less than a second');
  await world.check(t, 'B40');
});
