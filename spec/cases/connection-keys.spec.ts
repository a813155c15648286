// Several keys of a connection: which key a conversation has, and what happens when one can't be used. The numbers are those of the cases in the design.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { createAdapters } from '../../adapters/index.ts';
import type { ShownConnection } from '../../core/types.ts';
import { framesOf, startServer, type TestServer, type TestServerOptions, until } from '../support/server.ts';
import { type Answerer, type FakeUpstream, type RecordedRequest, sendJson, startUpstream } from '../support/upstream.ts';

const KEYS = ['a', 'b', 'c'].map((label) => ({ label, apiKey: `key-canary-of-${label}-0123456789` }));
const USAGE = { prompt_tokens: 100, completion_tokens: 5, total_tokens: 105, prompt_tokens_details: { cached_tokens: 40 } };
const MESSAGES = [{ role: 'user', content: 'hi' }];

const hello: Answerer = (request, res) => {
  if (request.method === 'GET') return sendJson(res, { object: 'list', data: [{ id: 'z' }] });
  const { stream } = JSON.parse(request.body) as { stream?: boolean };
  const choice = { index: 0, finish_reason: 'stop' };
  if (stream !== true) return sendJson(res, { id: 'c', choices: [{ ...choice, message: { role: 'assistant', content: 'Hello' } }], usage: USAGE });
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  const chunks = [{ choices: [{ ...choice, delta: { content: 'Hello' } }] }, { choices: [], usage: USAGE }];
  res.end(`${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`);
};
const limited = (res: Parameters<Answerer>[1], seconds: number | undefined) =>
  sendJson(res, { error: { message: 'slow down', type: 'rate_limit_error' } }, 429, seconds === undefined ? {} : { 'retry-after': String(seconds) });
/** The label of the key of a request. */
const labelOf = ({ headers }: RecordedRequest) => /key-canary-of-(\w)-/.exec(String(headers.authorization))?.[1] ?? 'none';

interface Rig extends TestServer {
  /** Labels of the keys of all calls so far, in order. */
  readonly used: () => string[];
  readonly upstream: FakeUpstream;
  readonly facts: { readonly name: string; readonly [field: string]: unknown }[];
  /** Lets time pass. */
  pass(ms: number): void;
  auth(entry: Record<string, unknown>): void;
  chat(parts?: Record<string, unknown>, headers?: Record<string, string>): ReturnType<TestServer['call']>;
  native(parts?: Record<string, unknown>, headers?: Record<string, string>): ReturnType<TestServer['call']>;
  shown(): Promise<ShownConnection>;
}

async function rigWith(t: Test, answer: Answerer = hello, entry: Record<string, unknown> = {}, options: TestServerOptions = {}): Promise<Rig> {
  const upstream = await startUpstream(t, answer);
  let skew = 0;
  const server = await startServer(t, { adapters: createAdapters(), env: {}, now: () => performance.now() + skew, random: () => 0, ...options });
  const whole = { adapter: 'openai', baseURL: `${upstream.url}/v1`, keys: KEYS, ...entry };
  const auth = (changed: Record<string, unknown>): void => {
    writeFileSync(join(server.workspace, 'auth.json'), JSON.stringify({ gpu: { ...whole, ...changed } }), { mode: 0o600 });
    skew += 1000;
  };
  auth({});
  const facts: Rig['facts'] = [];
  server.core.events.on('*', (name, fact) => facts.push({ name, ...fact }));
  return {
    ...server,
    upstream,
    facts,
    auth,
    used: () => upstream.requests.filter(({ method }) => method === 'POST').map(labelOf),
    pass: (ms) => {
      skew += ms;
    },
    chat: (parts = {}, headers = {}) => server.call('POST', '/v1/chat', { body: { adapter: 'gpu', model: 'z', messages: MESSAGES, ...parts }, headers }),
    native: (parts = {}, headers = {}) => server.call('POST', '/v1/chat/completions', { body: { model: 'gpu/z', messages: MESSAGES, ...parts }, headers }),
    async shown() {
      const { connections } = (await server.call('GET', '/api/connections')).json as unknown as { connections: ShownConnection[] };
      return connections.find(({ name }) => name === 'gpu') as ShownConnection;
    },
  };
}

const session = (id: string) => ({ 'x-blockhouse-session': id });

t.test('23: the ten turns of a conversation have one key, on both lanes, and others meanwhile change nothing', async (t) => {
  const rig = await rigWith(t);
  const messages: unknown[] = [{ role: 'user', content: 'the task' }];
  for (let turn = 0; turn < 10; turn += 1) {
    const answer = turn % 2 === 0 ? await rig.chat({ messages }, session('s')) : await rig.native({ messages, stream: turn === 3 }, session('s'));
    t.equal(answer.status, 200, answer.text);
    messages.push({ role: 'assistant', content: 'Hello' }, { role: 'user', content: `turn ${turn}` });
    await rig.chat({ messages: [{ role: 'user', content: `another ${turn}` }] });
  }
  t.equal(new Set(rig.used().filter((_, index) => index % 2 === 0)).size, 1, rig.used().join(''));
  t.equal(new Set(rig.used()).size, 3);
});

t.test('24: conversations are spread over the keys, by their weights, and by what is under way', async (t) => {
  const rig = await rigWith(t);
  for (let each = 0; each < 12; each += 1) await rig.chat({}, session(`s${each}`));
  const count = (label: string) => rig.used().filter((used) => used === label).length;
  t.same(['a', 'b', 'c'].map(count), [4, 4, 4]);

  const [a, b] = KEYS;
  const open: (() => void)[] = [];
  const held = await rigWith(t, (request, res, index) => void open.push(() => void hello(request, res, index)), { keys: [{ ...a, weight: 3 }, b] });
  const calls = Array.from({ length: 8 }, (_, each) => held.chat({}, session(`s${each}`)));
  await held.upstream.arrived(7);
  t.same([...held.used()].sort().join(''), 'aaaaaabb', 'three times as many have the key of three times the weight');
  for (const answer of open) answer();
  await Promise.all(calls);
});

t.test('25: after a 429 another key answers the same call, and the conversation returns to its own key later', async (t) => {
  let bad: string | undefined;
  const rig = await rigWith(t, (request, res, index) => (labelOf(request) === bad ? limited(res, 20) : hello(request, res, index)), {}, { retries: 0 });
  await rig.chat({}, session('s'));
  const [own = ''] = rig.used();
  bad = own;
  for (const ask of [rig.chat, rig.native, () => rig.chat({ stream: true }, session('s'))]) t.equal((await ask({}, session('s'))).status, 200);
  t.equal(rig.used()[1], own);
  const [other = ''] = rig.used().slice(2);
  t.same(rig.used().slice(2), [other, other, other], 'the same other key while its own pauses');
  t.not(other, own);
  t.match(
    rig.facts.filter(({ name }) => name === 'credential.cooled'),
    [{ connection: 'gpu', credential: own, model: 'z', state: 'cooling', untilMs: 20_000, code: 'UPSTREAM_RATE_LIMITED' }],
  );
  t.match(
    (await rig.shown()).keys,
    KEYS.map(({ label }) => ({ label, state: label === own ? 'cooling' : 'ready', models: label === own ? ['z'] : [] })),
  );
  await rig.chat({ model: 'y' }, session('s'));
  t.same(rig.used().slice(-2), [own, other], 'a limit of one model is none of others');
  bad = undefined;
  rig.pass(20_000);
  await rig.chat({}, session('s'));
  t.equal(rig.used().at(-1), own);
  t.match(
    rig.facts.filter(({ name }) => name === 'credential.recovered'),
    [{ connection: 'gpu', credential: own }],
  );
});

t.test('25: pauses without a wait of the provider double, from 5 s to 5 min, and answers of calls that were sent before make none longer', async (t) => {
  let isBad = true;
  const rig = await rigWith(t, (request, res, index) => (labelOf(request) === 'a' && isBad ? limited(res, undefined) : hello(request, res, index)), {
    keys: KEYS.slice(0, 2),
  });
  const waits = () => rig.facts.filter(({ name }) => name === 'credential.cooled').map(({ untilMs }) => Number(untilMs) / 1000);
  const conversations = Array.from({ length: 8 }, (_, each) => session(`s${each}`));
  for (const headers of conversations) await rig.chat({}, headers);
  t.same(waits(), [5], 'one, although several had it as their own');
  for (const wait of [5, 10, 20, 40, 80, 160, 300]) {
    rig.pass(wait * 1000);
    for (const headers of conversations) await rig.chat({}, headers);
    t.equal(waits().at(-1), Math.min(wait * 2, 300));
  }
  isBad = false;
  rig.pass(300_000);
  for (const headers of conversations) await rig.chat({}, headers);
  isBad = true;
  for (const headers of conversations) await rig.chat({}, headers);
  t.equal(waits().at(-1), 5, 'after a success they begin again');
});

t.test('26: a key that is refused is not used until the entry changes, and is tried once in ten minutes', async (t) => {
  const refused = (request: RecordedRequest) => labelOf(request) === 'a' || labelOf(request) === 'd';
  const rig = await rigWith(t, (request, res, index) =>
    refused(request) ? sendJson(res, { error: { message: 'Incorrect API key', code: 'invalid_api_key' } }, 401) : hello(request, res, index),
  );
  const ask = async () => {
    for (let each = 0; each < 6; each += 1) t.equal((await rig.native({}, session(`s${each}`))).status, 200);
    return rig.used().filter((label) => label === 'a').length;
  };
  t.equal(await ask(), 1);
  t.equal(await ask(), 1);
  t.match((await rig.shown()).keys[0], { label: 'a', state: 'refused', calls: 1 });
  rig.pass(600_000);
  t.equal(await ask(), 2, 'one call tries it');
  const [, b, c] = KEYS;
  rig.auth({ keys: [{ label: 'd', apiKey: 'key-canary-of-d-0123456789' }, b, c] });
  await ask();
  t.equal(rig.used().filter((label) => label === 'd').length, 1, 'another key is tried');
  t.notMatch(JSON.stringify([rig.facts, rig.log]), /canary/);
});

t.test('26: a 403 for one model says nothing of others, so that nobody can shut out the rest by asking for it', async (t) => {
  const rig = await rigWith(t, (request, res, index) =>
    (JSON.parse(request.body) as { model: string }).model === 'secret'
      ? sendJson(res, { error: { message: 'Invalid API key for this model', code: 'invalid_api_key' } }, 403)
      : hello(request, res, index),
  );
  t.match(await rig.chat({ model: 'secret' }), { status: 502, json: { code: 'UPSTREAM_AUTH', error: /All keys of gpu \(a, b, c\) are refused/ } });
  t.equal(rig.used().length, 3);
  t.equal((await rig.chat()).status, 200);
});

t.test('27: where all keys pause, the answer is an error at once, with the wait until the earliest', async (t) => {
  const seconds: Record<string, number> = { a: 90, b: 30, c: 7200 };
  const rig = await rigWith(t, (request, res) => limited(res, seconds[labelOf(request)]));
  for (const ask of [rig.chat, rig.native]) {
    const answer = await ask();
    t.match(answer, { status: 429, headers: { 'retry-after': '30' } }, answer.text);
    t.match(answer.text, /No key of gpu \(a, b, c\) can be used for this model now/);
  }
  t.same([...rig.used()].sort(), ['a', 'b', 'c'], 'each key once, and none is asked while it pauses');
  const until = (await rig.shown()).keys.map(({ until }) => Date.parse(until ?? '') - Date.now());
  t.ok((until[2] ?? 0) > 3_500_000 && (until[2] ?? 0) <= 3_600_000, 'at most an hour');
  rig.pass(30_000);
  await rig.chat();
  t.equal(rig.used().at(-1), 'b');

  const empty = await rigWith(t, (_request, res) => sendJson(res, { error: { message: 'no money', code: 'insufficient_quota' } }, 429));
  t.match(await empty.chat(), { status: 429, json: { code: 'UPSTREAM_RATE_LIMITED', error: /The last answer: .*no money/ } });
  t.match((await empty.shown()).keys, [{ state: 'empty' }, { state: 'empty' }, { state: 'empty' }]);
  const unpaid = await rigWith(t, (request, res, index) => (labelOf(request) === 'c' ? hello(request, res, index) : sendJson(res, { error: 'pay' }, 402)));
  t.equal((await unpaid.chat()).status, 200);
  const all = await rigWith(t, (_request, res) => sendJson(res, { error: { message: 'no', code: 'invalid_api_key' } }, 401));
  t.match(await all.chat(), { status: 502, json: { code: 'UPSTREAM_AUTH' } });
});

t.test('27: the breaker of the connection hears nothing of its keys, and one key alone is repeated as before', async (t) => {
  const rig = await rigWith(t, (_request, res) => limited(res, 1));
  for (let each = 0; each < 30; each += 1) {
    await rig.chat({}, session(`s${each}`));
    rig.pass(2000);
  }
  t.match(await rig.shown(), { breaker: 'closed' });
  const one = await rigWith(t, (request, res, index) => (index === 0 ? limited(res, undefined) : hello(request, res, index)), { keys: KEYS.slice(0, 1) });
  t.equal((await one.chat()).status, 200);
  t.same(one.used(), ['a', 'a']);
});

t.test('28: no second key after the first byte, where work may have run, and where the request itself was refused', async (t) => {
  const begun = await rigWith(t, (_request, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'Hel' } }] })}\n\n`);
    res.end(`data: ${JSON.stringify({ error: { message: 'slow down', code: 'rate_limit_exceeded' } })}\n\n`);
  });
  const frames = framesOf((await begun.chat({ stream: true })).text);
  t.match(frames.at(-1), { event: 'error', data: { code: 'UPSTREAM_RATE_LIMITED' } });
  await begun.native({ stream: true });
  t.equal(begun.used().length, 2);
  const broken = await rigWith(t, (_request, res) => void res.destroy(), {}, { retries: 0 });
  await broken.chat();
  const wrong = await rigWith(t, (_request, res) => sendJson(res, { error: { message: 'no such model' } }, 400));
  t.match(await wrong.chat(), { json: { code: 'UPSTREAM_REJECTED' } });
  t.same([broken.used().length, wrong.used().length], [1, 1]);
  t.match((await broken.shown()).keys, [{ state: 'ready' }, { state: 'ready' }, { state: 'ready' }]);
  t.match(
    (await broken.shown()).keys.map(({ inFlight }) => inFlight),
    [0, 0, 0],
  );
});

t.test('29: each source of the conversation, in its order', async (t) => {
  const rig = await rigWith(t);
  /** True if both kinds of requests, whose beginnings differ each time, stay with one key. */
  const isKept = async (native: Record<string, unknown>, headers: Record<string, string> = {}): Promise<boolean> => {
    const before = rig.used().length;
    for (let turn = 0; turn < 6; turn += 1) await rig.native({ messages: [{ role: 'user', content: `${turn}` }], ...native }, headers);
    return new Set(rig.used().slice(before)).size === 1;
  };
  t.notOk(await isKept({}), 'other beginnings are other conversations');
  t.notOk(await isKept({}, { 'x-client-request-id': 'same' }), 'which SDKs change with each request');
  t.notOk(await isKept({ metadata: { user_id: 'a-person' } }), 'a person has several');
  t.ok(await isKept({}, session('one')));
  t.ok(await isKept({ prompt_cache_key: 'one' }));
  for (const name of ['x-claude-code-session-id', 'session-id', 'session_id', 'x-session-affinity', 'x-opencode-session', 'x-session-id'])
    t.ok(await isKept({}, { [name]: `of ${name}` }), name);
  t.ok(await isKept({ metadata: { user_id: 'user_1_account__session_2' } }));
  t.ok(await isKept({ conversation: { id: 'conv_1' } }));
  const system = { role: 'system', content: 'You are terse.' };
  t.ok(await isKept({ messages: [system, { role: 'user', content: 'the same long beginning' }] }));
  const before = rig.used().length;
  for (let turn = 0; turn < 6; turn += 1) await rig.chat({ messages: [{ role: 'user', content: `${turn}` }], config: { cacheKey: 'mine' } });
  t.equal(new Set(rig.used().slice(before)).size, 1, 'config.cacheKey');
  await rig.call('POST', '/api/blocks', { body: { name: 'helper' } });
  await rig.call('PUT', '/api/blocks/helper/config', { body: { adapter: { provider: 'gpu', model: 'z' } } });
  await rig.call('POST', '/api/blocks/helper/start');
  const ofBlock = rig.used().length;
  for (let turn = 0; turn < 4; turn += 1) await rig.call('POST', '/api/blocks/helper/chat?wait=10', { body: { message: `question ${turn}` } });
  t.equal(rig.used().length - ofBlock, 4);
  t.equal(new Set(rig.used().slice(ofBlock)).size, 1, 'a block is one conversation');
});

t.test('30: ledgers, lists of requests, and facts say the label, never the key; with one key they say nothing', async (t) => {
  const rig = await rigWith(t);
  await rig.chat({}, session('s'));
  const [label] = rig.used();
  const lines: unknown[] = [];
  for await (const line of rig.core.accounts === undefined ? [] : [await rig.core.accounts.costs('model')]) lines.push(line);
  t.match((await rig.call('GET', '/api/gateway/requests')).json, { ended: [{ adapter: 'gpu', credential: label }] });
  t.match(
    rig.facts.find(({ name }) => name === 'call.finished'),
    { credential: label },
  );
  t.match(await rig.shown(), { cachedShare: 0.4, keys: KEYS.map((key) => ({ label: key.label, cachedShare: key.label === label ? 0.4 : null, inFlight: 0 })) });
  t.notMatch(JSON.stringify([rig.facts, rig.log, lines, await rig.shown()]), /canary/);
  rig.auth({ keys: KEYS.slice(0, 1) });
  await rig.chat();
  const [last] = (await rig.call('GET', '/api/gateway/requests')).json['ended'] as object[];
  t.notOk(Object.hasOwn(last ?? {}, 'credential'));
});

t.test('a block whose cap has room for one call is answered with the next key', async (t) => {
  const rig = await rigWith(t, (request, res, index) => (index === 0 ? limited(res, 20) : hello(request, res, index)));
  await rig.call('POST', '/api/blocks', { body: { name: 'helper' } });
  const config = { adapter: { provider: 'gpu', model: 'z', maxTokens: 1000 }, budget: { dailyTokens: 1500 } };
  await rig.call('PUT', '/api/blocks/helper/config', { body: config });
  await rig.call('POST', '/api/blocks/helper/start');
  const { json } = await rig.call('POST', '/api/blocks/helper/chat?wait=5', { body: { message: 'hi' } });
  t.match(JSON.stringify(json), /Hello/);
  t.equal(new Set(rig.used()).size, 2, rig.used().join(''));
});

t.test('what an application asks in vain, itself and through a block, pauses the keys for nobody else', async (t) => {
  const rig = await rigWith(t, (request, res, index) =>
    request.body.includes('too large') ? sendJson(res, { error: { message: 'pay first' } }, 402) : hello(request, res, index),
  );
  const { key } = (await rig.call('POST', '/api/keys', { body: { name: 'app', rights: ['blocks'] } })).json as { key: string };
  const config = { adapter: { provider: 'gpu', model: 'z' }, retry: { maxAttempts: 1 } };
  for (const name of ['one', 'two']) {
    await rig.call('POST', '/api/blocks', { body: { name, config } });
    await rig.call('POST', `/api/blocks/${name}/start`);
  }
  const messages = [{ role: 'user', content: 'too large' }];
  const ofApp = { authorization: `Bearer ${key}` };
  await rig.native({ messages }, ofApp);
  t.equal(rig.used().length, 3, 'each key was tried');
  for (const name of ['one', 'two']) {
    const before = rig.used().length;
    void rig.native({ model: `block/${name}`, messages }, ofApp).catch(() => undefined); // it waits for the next try of the block
    await until(() => rig.facts.some((fact) => fact.name === 'call.finished' && fact['caller'] === name && fact['code'] !== undefined), `${name} has failed`);
    t.ok(rig.used().length <= before + 3);
  }
  t.equal((await rig.chat()).status, 200);
});

t.test('30: the ledger of blocks says the label, too', async (t) => {
  const rig = await rigWith(t);
  await rig.call('POST', '/api/blocks', { body: { name: 'helper' } });
  await rig.call('PUT', '/api/blocks/helper/config', { body: { adapter: { provider: 'gpu', model: 'z' } } });
  await rig.call('POST', '/api/blocks/helper/start');
  await rig.call('POST', '/api/blocks/helper/chat?wait=10', { body: { message: 'hi' } });
  const line = JSON.parse(readFileSync(join(rig.workspace, 'ledger.jsonl'), 'utf8').trim()) as object;
  t.match(line, { provider: 'gpu', credential: rig.used()[0], model: 'z' });
  await rig.chat({}, session('s'));
  await rig.core.accounts?.costs('model');
  t.match(readFileSync(join(rig.workspace, 'gateway-ledger.jsonl'), 'utf8'), `"provider":"gpu","credential":"${rig.used()[1]}","model":"z"`);
});

t.test("limits of a provider's headers are not passed on with several keys, since they say nothing of the next call", async (t) => {
  const answer: Answerer = (_request, res) =>
    sendJson(res, { choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'x' } }] }, 200, {
      'x-ratelimit-remaining-requests': '7',
      'x-request-id': 'r',
    });
  const several = await (await rigWith(t, answer)).native();
  t.same([several.status, several.headers['x-ratelimit-remaining-requests']], [200, undefined]);
  const one = await (await rigWith(t, answer, { keys: KEYS.slice(0, 1) })).native();
  t.equal(one.headers['x-ratelimit-remaining-requests'], '7');
});

t.test('a check of the connection, and its list, use a key that works', async (t) => {
  const rig = await rigWith(t, (request, res, index) =>
    labelOf(request) === 'a' ? sendJson(res, { error: { message: 'Incorrect API key', code: 'invalid_api_key' } }, 401) : hello(request, res, index),
  );
  for (let each = 0; each < 6; each += 1) await rig.chat({}, session(`s${each}`));
  t.match(await rig.call('POST', '/v1/adapters/gpu/verify'), { status: 200 });
  t.match((await rig.call('GET', '/v1/models')).text, 'gpu/z');
});

t.test('a check and a list try the next key where the first one is refused, and say so if all are', async (t) => {
  const refusing =
    (labels: string): Answerer =>
    (request, res, index) =>
      labels.includes(labelOf(request)) ? sendJson(res, { error: { message: 'Incorrect API key', code: 'invalid_api_key' } }, 401) : hello(request, res, index);
  const [some, none] = [await rigWith(t, refusing('ab')), await rigWith(t, refusing('abc'))];
  t.match((await some.call('GET', '/v1/models')).text, 'gpu/z', 'before any call has been made');
  t.match((await some.call('GET', '/v1/adapters/gpu/models')).json, { models: ['z'] });
  t.match((await some.call('POST', '/v1/adapters/gpu/verify')).json, { ok: true });
  t.match(await none.call('GET', '/v1/adapters/gpu/models'), { status: 502, json: { code: 'UPSTREAM_AUTH' } });
  t.match((await none.call('POST', '/v1/adapters/gpu/verify')).json, { ok: false, detail: /Incorrect API key/ });
  t.same(none.upstream.requests.map(labelOf), ['a', 'b', 'c', 'a', 'b', 'c']);
  t.notMatch((await none.call('GET', '/v1/models')).text, 'gpu/z');
});

t.test('a connection whose keys may have three calls at a time lets the fourth wait in its line', async (t) => {
  const open: (() => void)[] = [];
  const rig = await rigWith(t, (request, res, index) => void open.push(() => void hello(request, res, index)), {
    keys: KEYS.map((key) => ({ ...key, inFlight: 1 })),
  });
  const calls = Array.from({ length: 4 }, (_, each) => rig.chat({}, session(`s${each}`)));
  await rig.upstream.arrived(2);
  await until(async () => (await rig.shown()).waiting === 1, 'the fourth waits');
  t.match((await rig.shown()).keys, [{ inFlight: 1 }, { inFlight: 1 }, { inFlight: 1 }]);
  open.shift()?.();
  await rig.upstream.arrived(3);
  for (const answer of open) answer();
  for (const answer of await Promise.all(calls)) t.equal(answer.status, 200);
});

t.test('callers take turns at the key that is left, also one with a cap', async (t) => {
  const order: string[] = [];
  const open: (() => void)[] = [];
  let holds = false;
  const rig = await rigWith(
    t,
    (request, res, index) => {
      if (labelOf(request) !== 'a') return sendJson(res, { error: { message: 'Incorrect API key' } }, 401);
      order.push((JSON.parse(request.body) as { user: string }).user);
      if (holds) open.push(() => void hello(request, res, index));
      else void hello(request, res, index);
    },
    { keys: KEYS.map((key) => ({ ...key, inFlight: 1 })) },
    { retries: 0 },
  );
  const askerOf = async (name: string, limits: object) => {
    const made = await rig.call('POST', '/api/keys', { body: { name, ...limits } });
    return () => rig.native({ user: name }, { authorization: `Bearer ${String(made.json['key'])}` });
  };
  const [greedy, polite] = [await askerOf('greedy', {}), await askerOf('polite', { tokensPerDay: 1_000_000 })];
  for (const ask of [greedy, polite]) await ask(); // so both know which keys are refused
  order.length = 0;
  holds = true;
  const calls = Array.from({ length: 20 }, greedy);
  await until(async () => open.length === 1 && (await rig.shown()).waiting === 17, 'two wait for the key, and the others for a place');
  calls.push(polite());
  await until(async () => (await rig.shown()).waiting === 18, 'one more waits');
  holds = false;
  open[0]?.();
  for (const { status, text } of await Promise.all(calls)) t.equal(status, 200, text);
  t.ok(order.indexOf('polite') <= 3, order.join());
  t.match((await rig.shown()).keys, [{ inFlight: 0 }, { inFlight: 0 }, { inFlight: 0 }]);
});

t.test('31: two clients who say the same id have two conversations', async (t) => {
  const rig = await rigWith(t, hello, { keys: KEYS.slice(0, 2) });
  const clients: string[] = [];
  for (let each = 0; each < 6; each += 1) {
    const made = await rig.call('POST', '/api/keys', { body: { name: `app-${each}` } });
    clients.push(`Bearer ${String(made.json['key'])}`);
  }
  for (const authorization of clients) await rig.native({}, { ...session('same'), authorization });
  t.equal(new Set(rig.used()).size, 2);
  const first = rig.used();
  for (const authorization of clients) await rig.native({}, { ...session('same'), authorization });
  t.same(rig.used().slice(6), first, 'and each keeps its own');
});
