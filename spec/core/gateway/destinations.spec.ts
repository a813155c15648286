// Each place that requests go to has a queue, a breaker and a budget of its own.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createBus } from '../../../core/bus.ts';
import { BlockhouseError } from '../../../core/errors.ts';
import { Destinations } from '../../../core/gateway/destinations.ts';
import type { ChatCall } from '../../../core/ports.ts';
import { type CoreOptions, createCore } from '../../../core/runtime.ts';
import type { ChatConfig, ChatRequest } from '../../../core/schemas/chat.ts';
import { gate, HELLO, passingFault, type Step, steppedAdapter } from '../../support/stepped-adapter.ts';
import { until } from '../../support/until.ts';

const asking = (content = 'hi', config?: ChatConfig): ChatRequest => ({
  adapter: 'stepped',
  model: 'model-1',
  messages: [{ role: 'user', content }],
  ...(config !== undefined && { config }),
});
const at = (baseURL: string): ChatConfig => ({ baseURL, apiKey: 'mine' });
const REQUEST = asking();
const ELSEWHERE = asking('hi', at('https://elsewhere.example'));

function coreWith(steps: readonly Step[], options: Partial<CoreOptions> = {}) {
  const adapter = steppedAdapter(steps);
  const core = createCore({ adapters: [adapter], env: { STEPPED_API_KEY: 'stored-key' }, random: () => 0, ...options });
  const paused: object[] = [];
  core.events.on('adapter.paused', (fact) => paused.push(fact));
  return { core, adapter, paused };
}

const originOf = ({ settings }: ChatCall): string => new URL(settings.values['baseURL'] ?? '').origin;

/** Answers at the provider, and does what it is told at any other address. */
const except =
  (elsewhere: (call: ChatCall) => Promise<void>): Step =>
  async (call) =>
    originOf(call) === 'https://api.stepped.example' ? void call.sink.emit(HELLO) : elsewhere(call);

t.test('requests that name an address of their own fill the queue of that address and no other', async (t) => {
  const held = gate();
  const { core, adapter } = coreWith([except(() => held.opened)], { queue: { concurrency: 1, waiting: 1 } });
  const stuck = ['/a', '/b'].map((path) => core.chat(asking('hi', at(`https://elsewhere.example${path}`))));
  await t.rejects(core.chat(ELSEWHERE), { code: 'QUEUE_FULL' }, 'one address, whatever its path');
  t.match(await core.chat(REQUEST), { message: { content: 'Hello' } }, 'the provider is free');
  t.match(await core.chat(asking('hi', at('https://api.stepped.example'))), { message: { content: 'Hello' } }, 'also when a request names it');
  const third = core.chat(asking('hi', at('https://third.example')));
  await until('another address is free', () => adapter.calls.map(originOf).includes('https://third.example'));
  held.open();
  await Promise.allSettled([...stuck, third]);
});

t.test('a request that names the configured address waits for the provider', async (t) => {
  const workspace = t.testdir();
  writeFileSync(join(workspace, 'auth.json'), JSON.stringify({ stepped: { apiKey: 'k', baseURL: 'https://proxy.example/v1' } }));
  const held = gate();
  const { core } = coreWith([() => held.opened], { workspace, env: {}, queue: { concurrency: 1, waiting: 0 } });
  const busy = core.chat(REQUEST);
  await t.rejects(core.chat(asking('hi', at('https://proxy.example/v2'))), { code: 'QUEUE_FULL' });
  held.open();
  await Promise.allSettled([busy]);
});

t.test('another region is another destination', async (t) => {
  const held = gate();
  const region = { env: ['STEPPED_REGION'] };
  const isHeld: Step = async (call) => (call.settings.values['region'] === 'eu-west-1' ? void call.sink.emit(HELLO) : held.opened);
  const adapter = steppedAdapter([isHeld], { settings: { region }, missingCredential: () => undefined });
  const core = createCore({ adapters: [adapter], env: { STEPPED_REGION: 'us-east-1' }, queue: { concurrency: 1, waiting: 0 } });
  const busy = core.chat(REQUEST);
  await t.rejects(core.chat(asking('hi', { region: 'us-east-1' })), { code: 'QUEUE_FULL' });
  t.match(await core.chat(asking('hi', { region: 'eu-west-1' })), { message: { content: 'Hello' } });
  held.open();
  await Promise.allSettled([busy]);
});

t.test('an address that fails call after call is left alone, and nothing else is', async (t) => {
  const fails = except(async () => {
    throw passingFault();
  });
  const { core, adapter, paused } = coreWith([fails], { now: () => 0, retries: 0 });
  for (let n = 0; n < 20; n += 1)
    await t.rejects(core.chat(asking(`${n}`, at('https://elsewhere.example')), { caller: `block-${n}` }), { code: 'UPSTREAM_FAILED' });
  const refused = {
    code: 'UPSTREAM_UNREACHABLE',
    message: /^Stepped at https:\/\/elsewhere\.example, asked for model-1, has failed 20 times in a row.*calls to it are paused/,
    retryAfterMs: 5000,
  };
  await t.rejects(core.chat(ELSEWHERE), refused);
  t.match(paused, [{ adapter: 'stepped', address: 'https://elsewhere.example', scope: 'model' }]);
  t.equal(adapter.calls.length, 20);
  t.match(await core.chat(REQUEST), { message: { content: 'Hello' } });
  await t.rejects(core.chat(asking('hi', at('https://third.example'))), { code: 'UPSTREAM_FAILED' });
});

t.test('what one caller sends alone pauses the provider for that caller alone', async (t) => {
  const poisoned: Step = async (call) => {
    const turn = call.prompt.turns.at(-1);
    if (turn?.role === 'user' && turn.text.startsWith('poison')) throw new BlockhouseError('UPSTREAM_UNREACHABLE', 'reset', { mayHaveRun: true });
    call.sink.emit(HELLO);
  };
  const left = { code: 'UPSTREAM_UNREACHABLE', message: /calls to it are paused/ };
  for (const caller of [undefined, 'block-1']) {
    const { core, adapter, paused } = coreWith([poisoned], { now: () => 0 });
    for (let n = 0; n < 20; n += 1) await t.rejects(core.chat(asking(caller === undefined ? 'poison' : `poison ${n}`), { caller }), { message: 'reset' });
    await t.rejects(core.chat(asking('poison'), { caller }), left);
    if (caller !== undefined) await t.rejects(core.chat(REQUEST, { caller }), left, 'a caller with a name is one caller, whatever it asks of a model');
    t.match(paused, [{ adapter: 'stepped', address: undefined, scope: caller === undefined ? 'prompt' : 'caller', caller, failures: 20 }]);
    t.equal(adapter.calls.length, 20);
    t.match(await core.chat(REQUEST, { caller: caller && 'block-2' }), { message: { content: 'Hello' } }, 'the others are answered');
  }
});

t.test('a provider that fails for everybody is left alone by everybody', async (t) => {
  const { core, adapter, paused } = coreWith([new BlockhouseError('UPSTREAM_TIMEOUT', 'silent', { mayHaveRun: true })], { now: () => 0 });
  for (let n = 0; n < 20; n += 1) await t.rejects(core.chat(REQUEST, { caller: n % 2 === 0 ? 'one' : 'other' }), { code: 'UPSTREAM_TIMEOUT' });
  await t.rejects(core.chat(REQUEST), { code: 'UPSTREAM_UNREACHABLE', message: /failed 20 times in a row/ });
  t.match(paused, [{ scope: 'model' }]);
  t.equal(adapter.calls.length, 20);
});

t.test('while one call tries a provider that failed, the others are refused at once and do not wait for its place', async (t) => {
  const held = gate();
  const clock = { ms: 0 };
  const trying: Step = async (call) => {
    await held.opened;
    call.sink.emit(HELLO);
  };
  const faults = Array.from({ length: 20 }, () => passingFault());
  const { core, adapter } = coreWith([...faults, trying], { now: () => clock.ms, retries: 0, queue: { concurrency: 1, waiting: 10 } });
  for (let n = 0; n < 20; n += 1) await t.rejects(core.chat(asking(`${n}`)), { code: 'UPSTREAM_FAILED' });
  clock.ms += 5000;
  const probe = core.chat(REQUEST);
  await until('one call tries', () => adapter.calls.length === 21);
  await t.rejects(core.chat(REQUEST), { code: 'UPSTREAM_UNREACHABLE', message: /calls to it are paused/ });
  held.open();
  t.match(await probe, { message: { content: 'Hello' } });
});

t.test('requests to each address have a budget of their own', async (t) => {
  const state = { fails: true };
  const limited: Step = async (call) => {
    if (state.fails) throw new BlockhouseError('UPSTREAM_RATE_LIMITED', 'slow down', { retryAfterMs: 1 });
    call.sink.emit(HELLO);
  };
  for (const [some, others] of [
    [ELSEWHERE, REQUEST],
    [REQUEST, ELSEWHERE],
    [asking('hi', at('https://third.example')), ELSEWHERE],
  ] as const) {
    state.fails = true;
    const { core, adapter } = coreWith([limited], { now: () => 0 });
    const callsFor = async (request: ChatRequest): Promise<number> => {
      const before = adapter.calls.length;
      await Promise.allSettled([core.chat(request)]);
      return adapter.calls.length - before;
    };
    for (let request = 0; request < 20; request += 1) await callsFor(some);
    t.equal(await callsFor(some), 1, 'these have used theirs up');
    t.equal(await callsFor(others), 3, 'the others have all of theirs');
    state.fails = false;
    for (let request = 0; request < 100; request += 1) await callsFor(others);
    state.fails = true;
    t.equal(await callsFor(some), 1, 'and give nothing');
  }
});

const OPTIONS = { bus: createBus(), queue: { concurrency: 1, waiting: 1 }, now: () => 0 };

t.test('made-up addresses cost no memory for long, and those in use are kept', async (t) => {
  const adapter = steppedAdapter();
  const destinations = new Destinations([adapter], OPTIONS);
  const kept = destinations.enter(adapter, 'https://kept.example');
  for (let n = 0; n < 10_000; n += 1) destinations.enter(adapter, `https://host-${n}.example`).leave();
  t.equal(destinations.size, 1 + 1 + 64, 'the provider, the one in use, and the last of the idle ones');
  t.equal(destinations.enter(adapter, 'https://kept.example'), kept);
  kept.leave();
  t.equal(destinations.size, 66, 'another request still uses it');
  kept.leave();
  t.equal(destinations.size, 65);
});

t.test('an address that comes back soon is the same destination', async (t) => {
  const adapter = steppedAdapter();
  const destinations = new Destinations([adapter], OPTIONS);
  const first = destinations.enter(adapter, 'https://a.example');
  first.leave();
  t.equal(destinations.enter(adapter, 'https://a.example'), first);
  t.not(destinations.enter(adapter, 'https://b.example'), first);
  t.equal(destinations.enter(adapter, undefined), destinations.enter(adapter, undefined));
});
