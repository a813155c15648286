// What the gateway takes, refuses and answers. Attempts, retries and aborts are in attempts.spec.ts.
import { Ajv } from 'ajv';
import t from 'tap';
import { BlockhouseError } from '../../../core/errors.ts';
import type { CallOptions } from '../../../core/gateway/call-options.ts';
import type { Adapter, StreamSink } from '../../../core/ports.ts';
import { type CoreOptions, createCore } from '../../../core/runtime.ts';
import type { ChatRequest, ChatStart } from '../../../core/schemas/chat.ts';
import { scriptedAdapter } from '../../support/scripted-adapter.ts';
import { gate, HELLO, type Step, steppedAdapter } from '../../support/stepped-adapter.ts';
import { until } from '../../support/until.ts';

const ENV = { STEPPED_API_KEY: 'stored-key' };
const REQUEST: ChatRequest = { adapter: 'stepped', model: 'model-1', messages: [{ role: 'user', content: 'hi' }] };
const asking = (fields: object): ChatRequest => ({ ...REQUEST, ...fields });

function coreWith(steps?: readonly Step[], options: Partial<CoreOptions> = {}, overrides: Partial<Adapter> = {}) {
  const adapter = steppedAdapter(steps, overrides);
  const core = createCore({ adapters: [adapter], env: ENV, ...options });
  const facts: [string, Record<string, unknown>][] = [];
  core.events.on('*', (name, fact) => void (name.startsWith('attempt.') || facts.push([name, fact as Record<string, unknown>])));
  return { core, adapter, facts };
}

/** A sink that writes down what it gets. */
function recordingSink() {
  const seen: (ChatStart | string)[] = [];
  const sink: StreamSink = {
    opened: false,
    opensInMs: Number.POSITIVE_INFINITY,
    start(start) {
      seen.push(start);
      (this as { opened: boolean }).opened = true;
    },
    content(fragments) {
      seen.push(...fragments);
      return true;
    },
    onceWritable: (resume) => resume(),
  };
  return { seen, sink };
}

t.test('a whole answer has the fields of the contract', async (t) => {
  const { core } = coreWith();
  t.strictSame(await core.chat(REQUEST), {
    provider: 'stepped',
    model: 'model-1',
    message: { role: 'assistant', content: 'Hello' },
    usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 },
    stopReason: 'end_turn',
  });
});

t.test('the streamed answer adds up to the whole one', async (t) => {
  const steps: Step[] = [
    [
      ...HELLO,
      { type: 'toolCall', toolCall: { id: '1', name: 'f', arguments: {} } },
      { type: 'providerMetadata', providerMetadata: { s: 1 } },
      { type: 'warning', warning: { field: 'f', message: 'm' } },
    ],
  ];
  const whole = await coreWith(steps).core.chat(REQUEST);
  const { seen, sink } = recordingSink();
  const { content, role, ...message } = whole.message;
  const { usage, stopReason, warnings } = whole;
  t.strictSame(await coreWith(steps).core.pipe(REQUEST, sink), { usage, stopReason, ...message, warnings });
  t.equal(role, 'assistant');
  t.equal(seen.slice(1).join(''), content);
});

t.test('start reaches the sink exactly once, before the first text and never before it', async (t) => {
  const held = gate();
  const { core, adapter } = coreWith([
    async (call) => {
      call.sink.emit([
        { type: 'usage', usage: { inputTokens: 1 } },
        { type: 'text', text: '' },
      ]);
      await held.opened;
      call.sink.emit(HELLO);
      call.sink.emit([{ type: 'text', text: '!' }]);
    },
  ]);
  const { seen, sink } = recordingSink();
  const piped = core.pipe(REQUEST, sink);
  await until('the adapter is called', () => adapter.calls.length === 1);
  t.same(seen, [], 'nothing is sent while there is nothing to say');
  held.open();
  await piped;
  t.same(seen, [{ provider: 'stepped', model: 'model-1' }, 'Hel', 'lo', '!']);
});

t.test('an answer without text still has its start, right before the end', async (t) => {
  const { seen, sink } = recordingSink();
  await coreWith([
    [
      { type: 'toolCall', toolCall: { id: '1', name: 'f', arguments: {} } },
      { type: 'stop', stopReason: 'end_turn' },
    ],
  ]).core.pipe(REQUEST, sink);
  t.same(seen, [{ provider: 'stepped', model: 'model-1' }]);
});

t.test('a failure before the first text leaves the sink untouched', async (t) => {
  for (const steps of [[new Error('defect')], [[{ type: 'usage', usage: {} }]]] as Step[][]) {
    const { seen, sink } = recordingSink();
    await t.rejects(coreWith(steps).core.pipe(REQUEST, sink), { code: 'INTERNAL_ERROR' });
    t.same(seen, []);
  }
});

t.test('the adapter gets the request as it was resolved', async (t) => {
  const { core, adapter } = coreWith();
  await core.chat(asking({ config: { maxTokens: 7, temperature: 0.5 } }));
  await core.pipe(REQUEST, recordingSink().sink);
  t.match(adapter.calls[0], {
    model: 'model-1',
    stream: false,
    prompt: { maxTokens: 7, temperature: 0.5, turns: [{ role: 'user', text: 'hi' }] },
    settings: { values: { apiKey: 'stored-key', baseURL: 'https://api.stepped.example/v1' } },
    timeouts: { connectMs: 10_000, firstByteMs: 120_000, idleMs: 120_000 },
  });
  t.match(adapter.calls[1], { stream: true, prompt: { maxTokens: undefined } });
});

t.test("timeouts: the operator's win over the adapter's, those over the defaults", async (t) => {
  const { core, adapter } = coreWith(undefined, { timeouts: { idleMs: 5 } }, { timeouts: { firstByteMs: 300_000, idleMs: 1 } });
  await core.chat(REQUEST);
  t.same(adapter.calls[0]?.timeouts, { connectMs: 10_000, firstByteMs: 300_000, idleMs: 5 });
});

t.test('an alias is taken in a body and in a URL, and the answer has the id', async (t) => {
  const { core } = coreWith(undefined, {}, { aliases: ['other'] });
  t.equal((await core.chat(asking({ adapter: 'other' }))).provider, 'stepped');
  t.equal((await core.models('other')).provider, 'stepped');
  t.equal((await core.verify('other', { provider: 'stepped' })).provider, 'stepped');
});

t.test('a request that can not succeed is refused at once: no place in the queue, no call, no event', async (t) => {
  const held = gate();
  const { core, adapter, facts } = coreWith([async () => held.opened], { queue: { concurrency: 1, waiting: 1 } });
  const busy = [core.chat(REQUEST), core.chat(REQUEST)];
  const before = facts.length;
  const cases: [object, RegExp][] = [
    [{ model: undefined }, /model is required/],
    [{ adapter: 'nobody' }, /adapter "nobody" does not exist; use one of stepped/],
    [{ adapter: '__proto__' }, /does not exist; use one of stepped/],
    [{ messages: [{ role: 'assistant', content: 'x' }] }, /user message/],
    [{ config: { baseURL: 'https://evil.example' } }, /a stored key is not sent there/],
    [{ config: { baseURL: 'http://169.254.169.254', apiKey: 'mine' } }, /metadata/],
    [{ config: { baseURL: 'file:///etc/passwd' } }, /http or https/],
  ];
  for (const [fields, message] of cases) await t.rejects(core.chat(asking(fields)), { code: 'INVALID_REQUEST', message }, JSON.stringify(fields));
  await t.rejects(core.chat(REQUEST), { code: 'QUEUE_FULL', retryAfterMs: 2000 }, 'the queue is full all the while');
  t.equal(facts.slice(before).filter(([name]) => name === 'call.started').length, 1, 'only the one that reached the queue was announced');
  t.equal(adapter.calls.length, 1);
  held.open();
  await Promise.allSettled(busy);
});

t.test('missing credentials are 503 with the way to give them', async (t) => {
  const { core, adapter, facts } = coreWith(undefined, { env: {} });
  await t.rejects(core.chat(REQUEST), { code: 'ADAPTER_NOT_CONFIGURED', status: 503, message: /STEPPED_API_KEY/ });
  t.equal(adapter.calls.length + facts.length, 0);
  await core.chat(asking({ config: { apiKey: 'mine' } }));
  t.match(adapter.calls[0]?.settings, { values: { apiKey: 'mine' }, sources: { apiKey: 'request' } });
});

t.test("a bad base URL is the caller's fault in a request, and the operator's where it is stored", async (t) => {
  await t.rejects(coreWith().core.chat(asking({ config: { baseURL: 'nonsense' } })), { code: 'INVALID_REQUEST', message: /config\.baseURL/ });
  await t.rejects(coreWith(undefined, { env: { ...ENV, STEPPED_BASE_URL: 'nonsense' } }).core.chat(REQUEST), {
    code: 'ADAPTER_NOT_CONFIGURED',
    message: /baseURL must be an absolute http or https URL\. It comes from env:STEPPED_BASE_URL\./,
  });
});

t.test('the call carries the rule for where it may go', async (t) => {
  const { core, adapter } = coreWith(undefined, {
    env: { ...ENV, STEPPED_BASE_URL: 'http://10.0.0.5:8000/v1' },
    allowedOrigins: new Set(['https://proxy.example']),
  });
  await core.chat(REQUEST);
  await core.chat(asking({ config: { baseURL: 'https://evil.example', apiKey: 'mine' } }));
  await core.chat(asking({ config: { baseURL: 'https://proxy.example/x' } }));
  const trustedOrigins = new Set(['https://api.stepped.example', 'http://10.0.0.5:8000']);
  const allowedOrigins = new Set(['https://proxy.example']);
  t.same(adapter.calls[0]?.egress, { trustedOrigins, allowedOrigins, ownKey: false, isKeyless: false });
  t.same(adapter.calls[1]?.egress, { trustedOrigins, allowedOrigins, ownKey: true, isKeyless: false });
  t.equal(adapter.calls[2]?.settings.sources['apiKey'], 'env:STEPPED_API_KEY');
});

t.test("origins that follow from an adapter's other settings are trusted as well", async (t) => {
  const trustedOrigins = () => ['https://eu-west-1.stepped.example/x', 'nonsense'];
  const { core, adapter } = coreWith(undefined, {}, { trustedOrigins });
  await core.chat(REQUEST);
  t.same(adapter.calls[0]?.egress.trustedOrigins, new Set(['https://api.stepped.example', 'https://eu-west-1.stepped.example']));
});

t.test('config fields that the adapter has no use for are named in the warnings, baseURL is refused', async (t) => {
  const { core } = coreWith(undefined, {}, { settings: { region: { env: ['STEPPED_API_KEY'] } }, missingCredential: () => undefined });
  const { warnings } = await core.chat(asking({ config: { region: 'eu-west-1', apiKey: 'a', accessKeyId: 'b', secretAccessKey: 'c', sessionToken: 'd' } }));
  t.same(
    warnings?.map(({ field }) => field),
    ['config.apiKey', 'config.accessKeyId', 'config.secretAccessKey', 'config.sessionToken'],
  );
  await t.rejects(core.chat(asking({ config: { baseURL: 'https://a.example' } })), { code: 'INVALID_REQUEST', message: /can't be set for stepped/ });
});

t.test('warnings of the prompt reach the answer', async (t) => {
  const { warnings } = await coreWith().core.chat(asking({ messages: [{ role: 'user', content: ' ' }, ...REQUEST.messages] }));
  t.match(warnings, [{ field: 'messages[0].content' }]);
});

t.test('models are listed with their count, also without credentials', async (t) => {
  const { core, adapter } = coreWith(undefined, { env: {} });
  t.strictSame(await core.models('stepped'), { provider: 'stepped', models: ['model-1', 'model-2'], count: 2 });
  t.ok(adapter.probes[0]?.egress);
  await t.rejects(core.models('nobody'), { code: 'ADAPTER_NOT_FOUND', status: 404 });
});

t.test('verify has three outcomes: it works, it does not, and a wrong request', async (t) => {
  const { core, adapter } = coreWith();
  t.strictSame(await core.verify('stepped'), { provider: 'stepped', ok: true, detail: 'It answers.' });
  t.strictSame(await core.verify('stepped', { provider: 'stepped', config: { apiKey: 'mine' } }), { provider: 'stepped', ok: true, detail: 'It answers.' });
  t.equal(adapter.probes[1]?.settings.values['apiKey'], 'mine');
  t.equal(adapter.calls.length, 0, 'no inference');

  t.strictSame(await coreWith(undefined, { env: {} }).core.verify('stepped'), { provider: 'stepped', ok: false, detail: 'Stepped needs STEPPED_API_KEY.' });
  const failing = (error: Error) => coreWith(undefined, {}, { verify: () => Promise.reject(error) }).core.verify('stepped');
  t.strictSame(await failing(new BlockhouseError('UPSTREAM_AUTH', 'bad key')), { provider: 'stepped', ok: false, detail: 'bad key' });

  const wrong: [unknown, RegExp][] = [
    [{ provider: 'nobody' }, /provider "nobody" does not exist/],
    [{ config: { baseURL: 'https://evil.example' } }, /a stored key is not sent there/],
    [{ surplus: 1 }, /surplus is not a known field/],
    [[], /must be an object/],
    [null, /must be an object/],
  ];
  for (const [body, message] of wrong) await t.rejects(core.verify('stepped', body as object), { code: 'INVALID_REQUEST', message }, JSON.stringify(body));
  await t.rejects(core.verify('nobody'), { code: 'ADAPTER_NOT_FOUND' });
  await t.rejects(failing(new Error('defect with sk-123')), { code: 'INTERNAL_ERROR', message: /^(?!.*sk-123)/ });
});

t.test('a body whose provider contradicts the URL is refused', async (t) => {
  const core = createCore({ adapters: [steppedAdapter(), steppedAdapter([], { id: 'second' })], env: ENV });
  await t.rejects(core.verify('stepped', { provider: 'second' }), { code: 'INVALID_REQUEST', message: /must be stepped, the provider in the URL/ });
});

t.test('adapters do not share a queue', async (t) => {
  const held = gate();
  const core = createCore({
    adapters: [steppedAdapter([async () => held.opened]), steppedAdapter([], { id: 'second' })],
    env: ENV,
    queue: { concurrency: 1, waiting: 0 },
  });
  const busy = core.chat(REQUEST);
  await t.rejects(core.chat(REQUEST), { code: 'QUEUE_FULL' });
  t.equal((await core.chat(asking({ adapter: 'second' }))).provider, 'second');
  held.open();
  await t.rejects(busy);
});

t.test('the account of a call that waits is asked when the call has its place', async (t) => {
  const held = gate();
  const asked: string[] = [];
  const { core, adapter } = coreWith(
    [
      async (call) => {
        await held.opened;
        call.sink.emit(HELLO);
      },
    ],
    { queue: { concurrency: 1, waiting: 2 } },
  );
  const holding = (reserve: () => undefined): CallOptions => ({ accounts: { accept: () => ({ readsOn: false, reserve }), settle: () => undefined } });
  const first = core.chat(
    REQUEST,
    holding(() => void asked.push('first')),
  );
  const unwanted = new BlockhouseError('CANCELLED', 'no longer');
  const refuse = (): never => {
    asked.push('second');
    throw unwanted;
  };
  const second = t.rejects(core.chat(REQUEST, holding(refuse)), unwanted);
  const third = core.pipe(
    REQUEST,
    recordingSink().sink,
    holding(() => void asked.push('third')),
  );
  t.strictSame(asked, ['first']);
  held.open();
  await Promise.all([first, second, third]);
  t.strictSame(asked, ['first', 'second', 'third']);
  t.equal(adapter.calls.length, 2, 'the place of the one that was not wanted went to the next');
});

t.test('a hostile request pollutes nothing', async (t) => {
  const { core } = coreWith();
  const metadata = JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}');
  await core.chat(asking({ messages: [{ role: 'user', content: 'x', providerMetadata: metadata }], tools: [{ name: 'f', parameters: metadata }] }));
  t.equal(({} as Record<string, unknown>)['polluted'], undefined);
});

t.test('a curated list of models needs no settings, and asks nobody', async (t) => {
  const { core, adapter } = coreWith(undefined, { env: { STEPPED_BASE_URL: 'not a url' } }, { curatedModels: ['one', 'two'] });
  t.same(await core.models('stepped'), { provider: 'stepped', models: ['one', 'two'], count: 2 });
  t.equal(adapter.probes.length, 0);
});

t.test('a bad address of the operator is told as such, not as a field of the request', async (t) => {
  for (const base of ['http://169.254.169.254/v1', 'not a url', 'https://user:word@api.example']) {
    const { core } = coreWith(undefined, { env: { ...ENV, STEPPED_BASE_URL: base } });
    const { message } = await core.chat(REQUEST).then(
      () => t.fail('it was called') as never,
      (error: unknown) => error as BlockhouseError,
    );
    t.match(message, /^baseURL .*\. It comes from env:STEPPED_BASE_URL\.$/);
    t.notMatch(message, 'config.');
    await t.rejects(core.chat(REQUEST), { code: 'ADAPTER_NOT_CONFIGURED' });
  }
});

t.test('an entry of auth.json may stand under an alias', async (t) => {
  const workspace = t.testdir({ 'auth.json': JSON.stringify({ steps: { apiKey: 'under-the-alias' } }) });
  const { core, adapter } = coreWith(undefined, { workspace, env: {} }, { aliases: ['steps'] });
  await core.chat(REQUEST);
  t.equal(adapter.calls[0]?.settings.values['apiKey'], 'under-the-alias');
});

t.test('another core of the process checks its requests with the schemas that the first one has compiled', async (t) => {
  const ask = async (): Promise<void> => {
    const { core } = coreWith();
    await core.chat(REQUEST);
    await core.close();
  };
  await ask();
  const compiled = t.capture(Object.getPrototypeOf(Ajv.prototype), 'compile', () => t.fail('a schema is compiled again'));
  await ask();
  t.same(compiled(), []);
});

t.test('of a list of very many models, or of very long names, the first are kept, and it is told once', async (t) => {
  const listModels = () => ['x'.repeat(257), ...Array.from({ length: 600_000 }, (_, at) => `m${at}`)];
  const core = createCore({ adapters: [scriptedAdapter({ listModels }, 'one')], env: {} });
  t.teardown(() => core.close());
  const told: unknown[] = [];
  core.events.on('workspace.fault', (fact) => told.push(fact));
  for (let times = 0; times < 2; times += 1) {
    const { models, count } = await core.models('one');
    t.strictSame([count, models.length, models[0], models.at(-1)], [5000, 5000, 'm0', 'm4999']);
  }
  t.match(told, [{ what: 'the list of models of one', error: /600001 names, of which 5000 are offered/ }]);
});
