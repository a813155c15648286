// The next model of an alias: after which failures, in which order, and what is told of it. The numbers are those of the cases in the design.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { createAdapters } from '../../adapters/index.ts';
import { startServer, type TestServer, type TestServerOptions } from '../support/server.ts';
import { type Answerer, type FakeUpstream, sendJson, startUpstream } from '../support/upstream.ts';

const MESSAGES = [{ role: 'user', content: 'hi' }];
const hello: Answerer = (_request, res) =>
  sendJson(res, {
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hello' } }],
    usage: { prompt_tokens: 1, completion_tokens: 1 },
  });
const failing =
  (status: number, error: unknown): Answerer =>
  (_request, res) =>
    sendJson(res, { error }, status);
const TOO_LONG = failing(400, { message: "This model's maximum context length is 10 tokens.", code: 'context_length_exceeded' });
const FILTERED = failing(400, { message: 'The prompt was refused.', code: 'content_filter' });

interface Rig extends TestServer {
  ask(name: string, parts?: Record<string, unknown>, headers?: Record<string, string>): ReturnType<TestServer['call']>;
}

async function startWith(t: Test, upstreams: Record<string, FakeUpstream>, aliases: unknown, options: TestServerOptions = {}, models = {}): Promise<Rig> {
  const server = await startServer(t, { adapters: createAdapters(), env: {}, retries: 0, ...options });
  const entries = Object.entries(upstreams).map(([name, { url }]) => [name, { adapter: 'openai', baseURL: `${url}/v1`, models }]);
  writeFileSync(join(server.workspace, 'auth.json'), JSON.stringify(Object.fromEntries(entries)), { mode: 0o600 });
  writeFileSync(join(server.workspace, 'models.json'), JSON.stringify({ aliases }));
  const ask: Rig['ask'] = (model, parts = {}, headers = {}) =>
    server.call('POST', '/v1/chat/completions', { body: { model, messages: MESSAGES, ...parts }, headers });
  return { ...server, ask };
}

t.test('41: each class of failures leads on or does not, as the alias says; other refusals never do', async (t) => {
  const kinds: Record<string, readonly [Answerer, boolean]> = {
    rate: [failing(429, { message: 'slow down' }), true],
    down: [failing(503, { message: 'busy' }), true],
    key: [failing(401, { message: 'Incorrect API key', code: 'invalid_api_key' }), true],
    context: [TOO_LONG, true],
    content: [FILTERED, false],
  };
  for (const [kind, [answer, byDefault]] of Object.entries(kinds)) {
    const [a, b] = [await startUpstream(t, answer), await startUpstream(t, hello)];
    const others = Object.keys(kinds).filter((each) => each !== kind);
    const rig = await startWith(
      t,
      { a, b },
      { usual: ['a/x', 'b/y'], on: { targets: ['a/x', 'b/y'], on: [kind] }, off: { targets: ['a/x', 'b/y'], on: others } },
    );
    for (const [name, isOn] of [
      ['usual', byDefault],
      ['on', true],
      ['off', false],
    ] as const)
      for (const native of [true, false]) {
        const answered = native ? await rig.ask(name) : await rig.call('POST', '/v1/messages', { body: { model: name, max_tokens: 9, messages: MESSAGES } });
        t.equal(answered.status === 200, isOn, `${kind} ${name} ${answered.status} ${answered.text.slice(0, 200)}`);
        if (isOn) t.match(answered.headers, { 'x-blockhouse-model': 'b/y', 'x-blockhouse-fallback': `a/x ${kind}` });
      }
  }
  const [wrong, never] = [await startUpstream(t, failing(400, { message: 'temperature must be lower' })), await startUpstream(t, hello)];
  const rig = await startWith(t, { a: wrong, b: never }, { all: { targets: ['a/x', 'b/y'], on: Object.keys(kinds) } });
  t.match(await rig.ask('all'), { status: 400, text: /temperature must be lower/ });
  t.equal(never.requests.length, 0);
  const [poor, rich] = [await startUpstream(t, failing(402, { message: 'pay' })), await startUpstream(t, hello)];
  t.match(await (await startWith(t, { a: poor, b: rich }, { x: ['a/x', 'b/y'] })).ask('x'), { status: 200, headers: { 'x-blockhouse-fallback': 'a/x rate' } });
});

t.test('41: the fallbacks of a block follow the same classes', async (t) => {
  for (const [answer, isAnswered] of [
    [TOO_LONG, true],
    [failing(400, { message: 'temperature must be lower' }), false],
  ] as const) {
    const [a, b] = [await startUpstream(t, answer), await startUpstream(t, hello)];
    const rig = await startWith(t, { a, b }, {});
    await rig.call('POST', '/api/blocks', { body: { name: 'helper' } });
    await rig.call('PUT', '/api/blocks/helper/config', { body: { adapter: { provider: 'a', model: 'x' }, fallbacks: [{ provider: 'b', model: 'y' }] } });
    await rig.call('POST', '/api/blocks/helper/start');
    const asked = await rig.call('POST', '/api/blocks/helper/chat?wait=10', { body: { message: 'hi' } });
    t.equal(/Hello/.test(asked.text), isAnswered, asked.text);
    t.equal(b.requests.length, isAnswered ? 1 : 0);
  }
});

t.test('42: models that are too small are passed over before they are asked; if all are, the largest is', async (t) => {
  const upstreams = { a: await startUpstream(t, hello), b: await startUpstream(t, hello) };
  const models = { tiny: { contextWindow: 1000 }, small: { contextWindow: 4000 }, large: { contextWindow: 100_000 } };
  const rig = await startWith(t, upstreams, { fit: ['a/tiny', 'a/small', 'b/large'], none: ['a/tiny', 'a/small'], open: ['a/tiny', 'b/unknown'] }, {}, models);
  const long = { messages: [{ role: 'user', content: 'word '.repeat(8000) }] };
  t.match((await rig.ask('fit')).headers, { 'x-blockhouse-model': 'a/tiny' });
  t.notOk((await rig.ask('fit')).headers['x-blockhouse-fallback']);
  t.match((await rig.ask('fit', long)).headers, { 'x-blockhouse-model': 'b/large', 'x-blockhouse-fallback': 'a/tiny context; a/small context' });
  t.match((await rig.ask('fit', { max_tokens: 50_000 })).headers, { 'x-blockhouse-model': 'b/large' }, 'the asked output counts');
  t.match((await rig.ask('none', long)).headers, { 'x-blockhouse-model': 'a/small', 'x-blockhouse-fallback': 'a/tiny context' });
  t.match((await rig.ask('open', long)).headers, { 'x-blockhouse-model': 'b/unknown' }, 'one whose window is not known may have room');
  t.equal(upstreams.a.requests.length, 3);
});

t.test('43: weights 3 to 1 share the conversations, each of which stays with its model, and the other follows when that fails', async (t) => {
  let isDown = false;
  const a = await startUpstream(t, (request, res, index) => (isDown ? sendJson(res, {}, 503) : hello(request, res, index)));
  const b = await startUpstream(t, hello);
  const aliases = { shared: { targets: [{ model: 'a/x', weight: 3 }, { model: 'b/y', weight: 1 }, 'b/last'] } };
  const rig = await startWith(t, { a, b }, aliases);
  const first = new Map<string, unknown>();
  for (let each = 0; each < 200; each += 1) {
    const session = { 'x-blockhouse-session': `s${each}` };
    first.set(`s${each}`, (await rig.ask('shared', {}, session)).headers['x-blockhouse-model']);
  }
  const ofA = [...first.values()].filter((model) => model === 'a/x').length;
  t.ok(ofA > 130 && ofA < 170, `${ofA} of 200`);
  for (let each = 0; each < 50; each += 1) {
    const again = await rig.ask('shared', { messages: [{ role: 'user', content: `turn ${each}` }] }, { 'x-blockhouse-session': `s${each}` });
    t.equal(again.headers['x-blockhouse-model'], first.get(`s${each}`));
  }
  isDown = true;
  const [stray = ''] = [...first].find(([, model]) => model === 'a/x') ?? [];
  t.match((await rig.ask('shared', {}, { 'x-blockhouse-session': stray })).headers, { 'x-blockhouse-model': 'b/y', 'x-blockhouse-fallback': 'a/x down' });
});

t.test('44: x-blockhouse-fallback is there only when something was passed over, also for embeddings', async (t) => {
  const a = await startUpstream(t, failing(429, { message: 'slow down' }));
  const b = await startUpstream(t, (request, res, index) =>
    request.path.endsWith('/embeddings') ? sendJson(res, { data: [{ index: 0, embedding: [1] }], usage: { prompt_tokens: 1 } }) : hello(request, res, index),
  );
  const rig = await startWith(t, { a, b }, { two: ['a/x', 'b/y'], one: 'b/y', all: ['a/x', 'a/y'] });
  t.notOk((await rig.ask('one')).headers['x-blockhouse-fallback']);
  t.equal((await rig.ask('two')).headers['x-blockhouse-fallback'], 'a/x rate');
  const embedded = await rig.call('POST', '/v1/embeddings', { body: { model: 'two', input: 'x' } });
  t.match(embedded, { status: 200, headers: { 'x-blockhouse-fallback': 'a/x rate', 'x-blockhouse-model': 'b/y' } }, embedded.text);
  t.match(await rig.ask('all'), { status: 429, headers: { 'x-blockhouse-fallback': 'a/x rate', 'x-blockhouse-model': 'a/y' } });
});

t.test('45: a loop of servers ends: the number of hops goes on, and above four the answer is 400', async (t) => {
  const upstream = await startUpstream(t, hello);
  const rig = await startWith(t, { a: upstream }, {});
  const paths = [
    ['/v1/chat', { adapter: 'a', model: 'x', messages: MESSAGES }],
    ['/v1/chat/completions', { model: 'a/x', messages: MESSAGES }],
    ['/v1/messages', { model: 'a/x', max_tokens: 9, messages: MESSAGES }],
  ] as const;
  for (const [path, body] of paths) {
    for (const [said, sent] of [
      [undefined, '1'],
      ['1', '2'],
      ['4', '5'],
      ['nonsense', '1'],
    ] as const) {
      const answer = await rig.call('POST', path, { body, headers: said === undefined ? {} : { 'x-blockhouse-hop': said } });
      t.equal(answer.status, 200, answer.text);
      t.equal(upstream.requests.at(-1)?.headers['x-blockhouse-hop'], sent, path);
    }
    const before = upstream.requests.length;
    t.match(await rig.call('POST', path, { body, headers: { 'x-blockhouse-hop': '5' } }), { status: 400, text: /goes round in a loop/ });
    t.equal(upstream.requests.length, before);
  }
});

t.test('39: an alias passes over a model without a price for a key that refuses such calls, and sends it nothing', async (t) => {
  const [unpriced, free] = [await startUpstream(t, hello), await startUpstream(t, hello)];
  const rig = await startWith(t, { openai: unpriced, b: free }, { two: ['openai/x', 'b/y'], one: 'openai/x' });
  const headersOf = async (unknown: 'allow' | 'refuse') => {
    const { key } = (await rig.call('POST', '/api/keys', { body: { name: unknown, usdPerDay: 1, unpriced: unknown } })).json;
    return { authorization: `Bearer ${key as string}` };
  };
  const [strict, loose] = [await headersOf('refuse'), await headersOf('allow')];
  const ask = (model: string, headers: Record<string, string>) =>
    rig.call('POST', '/v1/chat/completions', { token: false, body: { model, messages: MESSAGES }, headers });
  t.match(await ask('two', strict), { status: 200, headers: { 'x-blockhouse-model': 'b/y', 'x-blockhouse-fallback': 'openai/x price' } });
  t.match(await ask('one', strict), { status: 403, text: /The price of openai\/x is not known/ });
  const asked = ({ requests }: FakeUpstream) => requests.filter(({ method }) => method === 'POST').length;
  t.equal(asked(unpriced), 0);
  t.match(await ask('two', loose), { status: 200, headers: { 'x-blockhouse-model': 'openai/x' } });
  t.same([asked(unpriced), asked(free)], [1, 1]);
});
