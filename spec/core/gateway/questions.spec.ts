import t from 'tap';
import { createOpenAI } from '../../../adapters/openai/index.ts';
import { createBus } from '../../../core/bus.ts';
import { DEFAULT_QUEUE } from '../../../core/config.ts';
import { Gateway } from '../../../core/gateway/gateway.ts';
import { Questions } from '../../../core/gateway/questions.ts';
import { RETRY_LIMIT } from '../../../core/gateway/retry.ts';
import { SharedAnswers } from '../../../core/gateway/shared-answers.ts';
import { startServer } from '../../support/server.ts';
import { sendJson } from '../../support/upstream.ts';

t.test('a list that is longer than a person reads is cut, and told once', async (t) => {
  t.type(Questions, 'function');
  const data = [...Array.from({ length: 6000 }, (_, index) => ({ id: `m${index}` })), { id: 'x'.repeat(300) }];
  const server = await startServer(t, { adapters: [createOpenAI()], env: {}, answer: (_request, res) => sendJson(res, { data }) });
  const faults: string[] = [];
  server.core.events.on('workspace.fault', ({ what }) => faults.push(what));
  await server.core.credentials?.update('gpu', { adapter: 'openai', baseURL: `${server.upstream.url}/v1` });
  t.equal((await server.core.models('gpu')).count, 5000);
  t.equal((await server.core.models('gpu')).count, 5000);
  t.same(faults, ['the list of models of gpu']);
});

t.test('calls for one list at the same time are one question, whose answer holds for a moment; other settings ask again', async (t) => {
  let asked = 0;
  const server = await startServer(t, {
    adapters: [createOpenAI()],
    env: {},
    answer: (_request, res) => {
      asked += 1;
      sendJson(res, { data: [{ id: `m${asked}` }] });
    },
  });
  const entry = { adapter: 'openai', baseURL: `${server.upstream.url}/v1` };
  await server.core.credentials?.update('gpu', entry);
  await server.core.keys?.create('app');
  const list = async (key?: string) => (await server.core.models('gpu', { key })).models;
  const answers = await Promise.all(Array.from({ length: 40 }, (_, at) => list(at % 2 === 0 ? undefined : 'app')));
  t.same([asked, new Set(answers.flat())], [1, new Set(['m1'])]);
  t.same(await list(), ['m1']);
  await server.core.credentials?.update('gpu', { ...entry, apiKey: 'another-key-of-this-server' });
  t.same(await list(), ['m2']);
});

t.test('probes that keys of applications ask for at the same time are one, and nothing is kept of its answer; the owner has one of their own', async (t) => {
  let asked = 0;
  const server = await startServer(t, {
    adapters: [createOpenAI()],
    env: {},
    answer: (_request, res) => {
      asked += 1;
      sendJson(res, asked === 2 ? { error: { message: 'Not now' } } : { data: [{ id: 'm' }] }, asked === 2 ? 500 : 200);
    },
  });
  const entry = { adapter: 'openai', baseURL: `${server.upstream.url}/v1`, apiKey: 'a-key-of-this-server-0123' };
  await server.core.credentials?.update('gpu', entry);
  for (const name of ['app', 'other']) await server.core.keys?.create(name);
  const probe = (key?: string) => server.core.verify('gpu', {}, { key });
  const answers = await Promise.all(Array.from({ length: 40 }, (_, at) => probe(at % 2 === 0 ? 'app' : 'other')));
  t.same([asked, new Set(answers.map(({ ok }) => ok))], [1, new Set([true])]);
  t.match(await probe('app'), { ok: false, detail: /The check of the provider failed/ });
  t.match(await Promise.all([probe('app'), probe(), probe()]), [{ ok: true }, { ok: true }, { ok: true }]);
  t.equal(asked, 5);
  await server.core.credentials?.update('gpu', { ...entry, apiKey: 'another-key-of-this-server' });
  const before = probe('app');
  await server.core.credentials?.update('gpu', entry);
  await Promise.all([before, probe('app')]);
  t.equal(asked, 7, 'with other settings');
});

t.test('a model gets the images of results if its provider takes them, and none where its settings are wrong or nobody has its name', async (t) => {
  const takesImages = (name: string, env: Record<string, string> = {}): boolean =>
    new Gateway({
      adapters: [createOpenAI()],
      credentials: undefined,
      env,
      bus: createBus(),
      timeouts: {},
      queue: DEFAULT_QUEUE,
      allowedOrigins: new Set(),
      retries: RETRY_LIMIT,
      now: () => performance.now(),
      random: Math.random,
      newRequestId: () => 'r',
    }).takesImages(name, 'm');
  t.equal(takesImages('openai'), true);
  t.equal(takesImages('openai', { OPENAI_BASE_URL: 'nowhere' }), false);
  t.equal(takesImages('nobody'), false);
});

t.test('a shared question ends with its last caller alone, is over after two seconds, and one that failed is asked by the next', async (t) => {
  let now = 0;
  const lists = new SharedAnswers<readonly string[]>(() => now, 2000);
  const settings = {};
  const signals: AbortSignal[] = [];
  const failing: ((error: Error) => void)[] = [];
  const question = (signal: AbortSignal) =>
    signals.push(signal) > 2 ? Promise.resolve(['late']) : new Promise<string[]>((_resolve, reject) => failing.push(reject));
  const [one, two] = [new AbortController(), new AbortController()];
  const [first, second] = [lists.of(settings, one.signal, question), lists.of(settings, two.signal, question)];
  one.abort();
  await t.rejects(first, { code: 'CANCELLED' });
  t.same([signals.length, signals[0]?.aborted], [1, false]);
  two.abort();
  await t.rejects(second, { code: 'CANCELLED' });
  t.equal(signals[0]?.aborted, true);
  await t.rejects(lists.of(settings, one.signal, question), { code: 'CANCELLED' });
  const third = lists.of(settings, new AbortController().signal, question);
  failing[1]?.(new Error('refused'));
  await t.rejects(third, { message: 'refused' });
  const here = () => lists.of(settings, new AbortController().signal, question);
  t.same([await here(), signals.length], [['late'], 3]);
  now = 1999;
  await here();
  t.equal(signals.length, 3);
  now = 2000;
  await here();
  t.equal(signals.length, 4);
});
