// The accounts of clients' calls, as a program meets them: a core with a workspace, its keys, and an adapter that does what the test says.
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mock } from 'node:test';
import t, { type Test } from 'tap';
import { nextTurn } from '../../../core/base/next-turn.ts';
import { createBus } from '../../../core/bus.ts';
import { BlockhouseError } from '../../../core/errors.ts';
import type { AccountedCall, PricedModel } from '../../../core/gateway/account.ts';
import type { EmbedCall } from '../../../core/ports.ts';
import { Prices } from '../../../core/gateway/pricing.ts';
import { READ_ON_MS } from '../../../core/gateway/read-on.ts';
import { GatewayAccounts } from '../../../core/keys/gateway-accounts.ts';
import { checkedFigures } from '../../../core/keys/key-limits.ts';
import { KeyPlaces } from '../../../core/keys/key-places.ts';
import { checkedLimits, type NamedKey, namedKey } from '../../../core/keys/named-key.ts';
import { PricedNames } from '../../../core/keys/priced-names.ts';
import { type Core, type CoreOptions, createCore } from '../../../core/runtime.ts';
import { GatewayLedger } from '../../../core/store/files/ledger/gateway-ledger.ts';
import type { GatewayBook, UnderWay } from '../../../core/store/port.ts';
import type { ChatRequest } from '../../../core/types.ts';
import { gate, HELLO, type Step, steppedAdapter, untilAborted } from '../../support/stepped-adapter.ts';
import { testFolder } from '../../support/test-folder.ts';
import { until, untilSo } from '../../support/until.ts';

const NOW = Date.parse('2026-11-22T23:00:00.000Z');
const REQUEST = { adapter: 'stepped', model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hi' }] } as const;
const APP = { key: 'app' } as const;
/** 1,000 tokens. */
const LONG: Step = async (call) => {
  call.sink.emit([
    { type: 'text', text: 'x' },
    { type: 'usage', usage: { inputTokens: 400, outputTokens: 600 } },
    { type: 'stop', stopReason: 'end_turn' },
  ]);
};

interface Options extends Partial<CoreOptions> {
  readonly steps?: readonly Step[];
  readonly start?: boolean;
}

async function coreWith(t: Test, { steps = [LONG], start = true, ...options }: Options = {}) {
  const adapter = steppedAdapter(steps, { pricesAs: 'openai' });
  const core = createCore({ workspace: testFolder(t), adapters: [adapter], env: { STEPPED_API_KEY: 'k' }, random: () => 0, clock: () => NOW, ...options });
  t.teardown(() => core.close());
  if (start) await core.start();
  return { core, adapter };
}

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'ok',
    (error: BlockhouseError) => error.code,
  );
const spent = async (core: Core) => core.accounts?.spentToday('app');

t.test('a key with a cap asks until it has reached it, and its last call may pass it', async (t) => {
  const { core, adapter } = await coreWith(t);
  await core.keys?.create('app', { tokensPerDay: 2500 });
  const codes: string[] = [];
  for (let call = 0; call < 5; call += 1) codes.push(await codeOf(core.chat(REQUEST, APP)));
  t.same(codes, ['ok', 'ok', 'ok', 'KEY_CAP_REACHED', 'KEY_CAP_REACHED']);
  t.equal(adapter.calls.length, 3, 'the others were not sent');
  t.match(await spent(core), { tokens: 3000, calls: 3, unpricedCalls: 0 });
  const refusal = await core.chat(REQUEST, APP).catch((error: BlockhouseError) => error);
  t.match(refusal, { retryAfterMs: 3_600_000, message: /2500 tokens.*00:00 UTC/ }, 'until the next UTC day');
  t.equal(await codeOf(core.chat(REQUEST)), 'ok', 'the token of the workspace has no cap');
});

/** What embeds two texts at a time, each of 10 tokens by estimate; `before` each of its batches. */
async function embedding(
  t: Test,
  before: (core: Core, batch: number) => Promise<unknown> = async () => undefined,
  { tokens = 10, tokensPerDay = 50 }: { readonly tokens?: number; readonly tokensPerDay?: number } = {},
) {
  const batches: number[] = [];
  const embed = async (call: EmbedCall) => {
    batches.push(call.inputs.length);
    await before(core, batches.length);
    return { vectors: call.inputs.map(() => [1]), inputTokens: call.inputs.length * tokens };
  };
  const adapter = steppedAdapter([], { pricesAs: 'openai', embedding: { batch: () => 2, takesTokenIds: false, embed } });
  const core: Core = createCore({ workspace: testFolder(t), adapters: [adapter], env: { STEPPED_API_KEY: 'k' }, random: () => 0, clock: () => NOW });
  t.teardown(() => core.close());
  await core.start();
  await core.keys?.create('app', { tokensPerDay });
  const ask = (texts: number) => codeOf(core.embed({ adapter: 'stepped', model: 'm', inputs: Array.from({ length: texts }, () => 'x'.repeat(40)) }, APP));
  return { core, batches, ask };
}

t.test(
  'each batch of a request for embeddings is sent only while there is room, so that one of thousands passes a cap by the last batch at most',
  async (t) => {
    const { core, batches, ask } = await embedding(t);
    t.equal(await ask(1000), 'KEY_CAP_REACHED');
    t.same(batches, [2, 2, 2]);
    t.match(await spent(core), { tokens: 60 }, 'what was sent counts');
    t.equal(await ask(1), 'KEY_CAP_REACHED');
    const other = await embedding(t);
    t.equal(await other.ask(4), 'ok');
    t.same(other.batches, [2, 2]);
  },
);

t.test('beside another call, only so many texts are let through as fit under the cap, so that neither is cut off', async (t) => {
  const { core, batches, ask } = await embedding(t, () => nextTurn());
  const first = ask(4);
  t.same([await ask(4), await first], ['KEY_CAP_REACHED', 'ok']);
  t.same(batches, [2, 2]);
  t.match(await spent(core), { tokens: 40 });
});

t.test('a batch that is sent is on record, also where the provider counts more than was expected of all of them', async (t) => {
  const noted: number[] = [];
  const look = async ({ workspace = '' }: Core): Promise<void> => {
    const lines = readFileSync(join(workspace, 'gateway-open.jsonl'), 'utf8').trim().split('\n');
    noted.push(JSON.parse(lines.at(-1) ?? '').usage.totalTokens);
  };
  const { core, ask } = await embedding(t, look, { tokens: 30, tokensPerDay: 5000 });
  t.equal(await ask(8), 'ok');
  t.same(noted, [80, 120, 180, 240]);
  t.match(await spent(core), { tokens: 240 });
});

t.test('a key that is revoked sends no further batch', async (t) => {
  const { batches, ask } = await embedding(t, async (core, batch) => batch === 2 && core.keys?.revoke('app'));
  t.equal(await ask(1000), 'KEY_FORBIDDEN');
  t.same(batches, [2, 2]);
});

t.test('a cap in USD counts what the data say of the model', async (t) => {
  const { core } = await coreWith(t);
  await core.keys?.create('app', { usdPerDay: 0.0005 });
  const codes: string[] = [];
  for (let call = 0; call < 4; call += 1) codes.push(await codeOf(core.chat(REQUEST, APP)));
  t.same(codes, ['ok', 'ok', 'KEY_CAP_REACHED', 'KEY_CAP_REACHED']);
});

t.test('a small cap lets the first ordinary call through, and of many at a time as many as fit beside each other', async (t) => {
  const held = gate();
  const wait: Step = async (call) => {
    await held.opened;
    await LONG(call);
  };
  const { core, adapter } = await coreWith(t, { steps: [wait], queue: { concurrency: 4 } });
  await core.keys?.create('app', { tokensPerDay: 1000 });
  const calls = Array.from({ length: 200 }, () => codeOf(core.chat(REQUEST, APP)));
  await until('the call is sent', () => adapter.calls.length > 0);
  held.open();
  const codes = await Promise.all(calls);
  t.equal(codes.filter((code) => code === 'ok').length, 1, 'each is expected to have 1,000 tokens of output');
  t.equal(codes.filter((code) => code === 'KEY_CAP_REACHED').length, 199);
  t.match(await spent(core), { tokens: 1000 });
});

t.test('a refusal for calls under way is short, and another call may follow them', async (t) => {
  const held = gate();
  const wait: Step = async (call) => {
    await held.opened;
    call.sink.emit(HELLO);
  };
  const { core, adapter } = await coreWith(t, { steps: [wait] });
  await core.keys?.create('app', { tokensPerDay: 1000 });
  const first = core.chat(REQUEST, APP);
  await until('the call is sent', () => adapter.calls.length === 1);
  t.match(await core.chat(REQUEST, APP).catch((error) => error), { code: 'KEY_CAP_REACHED', retryAfterMs: 1000, message: /under way/ });
  held.open();
  await first;
  t.equal(await codeOf(core.chat(REQUEST, APP)), 'ok');
});

t.test('a call under way counts as long as the answers before it, and not less once it has begun', async (t) => {
  const held = gate();
  const short: Step = async (call) => {
    call.sink.emit([
      { type: 'usage', usage: { inputTokens: 10, outputTokens: 10 } },
      { type: 'text', text: 'x' },
    ]);
    await held.opened;
    call.sink.emit([{ type: 'stop', stopReason: 'end_turn' }]);
  };
  const { core, adapter } = await coreWith(t, { steps: [short, HELLO, short] });
  await core.keys?.create('app', { tokensPerDay: 1000 });
  const first = codeOf(core.chat(REQUEST, APP));
  await until('the call is sent', () => adapter.calls.length === 1);
  t.equal(await codeOf(core.chat(REQUEST, APP)), 'KEY_CAP_REACHED', 'it has begun, and may have 1,000 tokens');
  held.open();
  t.equal(await first, 'ok');
  t.equal(await codeOf(core.chat(REQUEST, APP)), 'ok');
  t.same(await Promise.all([core.chat(REQUEST, APP), core.chat(REQUEST, APP), core.chat(REQUEST, APP)].map(codeOf)), ['ok', 'ok', 'ok'], 'each is short');
});

t.test('a key is looked at again when its call has its place', async (t) => {
  const held = gate();
  const wait: Step = async (call) => {
    await held.opened;
    await LONG(call);
  };
  const { core, adapter } = await coreWith(t, { steps: [wait], queue: { concurrency: 1 } });
  await core.keys?.create('app', { tokensPerDay: 100_000 });
  await core.keys?.create('other');
  const [first, waiting] = [codeOf(core.chat(REQUEST, { key: 'other' })), codeOf(core.chat(REQUEST, APP))];
  await until('the call is sent', () => adapter.calls.length === 1);
  await core.keys?.revoke('app');
  held.open();
  t.same(await Promise.all([first, waiting]), ['ok', 'KEY_FORBIDDEN']);
  t.equal(adapter.calls.length, 1);
});

t.test('a call that waits is not sent with a key that was made again since, or that may no longer ask its model', async (t) => {
  for (const limits of [{}, { tokensPerDay: 100_000 }])
    for (const models of [['stepped/*'], ['none']]) {
      const held = gate();
      const wait: Step = async (call) => {
        await held.opened;
        await LONG(call);
      };
      const { core, adapter } = await coreWith(t, { steps: [wait], queue: { concurrency: 1 } });
      await core.keys?.create('app', { ...limits, models: ['stepped/*'] });
      await core.keys?.create('other');
      const [first, waiting] = [codeOf(core.chat(REQUEST, { key: 'other' })), codeOf(core.chat(REQUEST, APP))];
      await until('the call is sent', () => adapter.calls.length === 1);
      if (models[0] === 'none') {
        const path = join(core.workspace ?? '', 'keys.json');
        writeFileSync(path, readFileSync(path, 'utf8').replace('stepped/*', 'none'));
        await until('the list is read again', () => core.keys?.named('app')?.models?.[0] === 'none');
      } else {
        await core.keys?.revoke('app');
        await core.keys?.create('app', { ...limits, models });
      }
      held.open();
      t.same(await Promise.all([first, waiting]), ['ok', 'KEY_FORBIDDEN'], JSON.stringify({ ...limits, models }));
      t.equal(adapter.calls.length, 1);
    }
});

t.test('a cap that a key gets while its calls wait binds those that are not sent yet', async (t) => {
  const held = gate();
  const wait: Step = async (call) => {
    await held.opened;
    await LONG(call);
  };
  const { core, adapter } = await coreWith(t, { steps: [wait], queue: { concurrency: 1 } });
  const { pricer } = Prices.prototype;
  t.capture(Prices.prototype, 'known', () => undefined); // the price data are read while the calls wait, however long that takes
  t.capture(Prices.prototype, 'pricer', async function (this: Prices, model: Parameters<Prices['pricer']>[0]) {
    for (let turns = 0; turns < 20; turns += 1) await nextTurn();
    return pricer.call(this, model);
  });
  await core.keys?.create('app');
  const codes = [1, 2, 3].map(() => codeOf(core.chat(REQUEST, APP)));
  await until('the first is sent', () => adapter.calls.length === 1);
  const path = join(core.workspace ?? '', 'keys.json');
  writeFileSync(path, readFileSync(path, 'utf8').replace(/"tokensPerDay": null/, '"tokensPerDay": 1'));
  await until('the cap is read', () => core.keys?.named('app')?.tokensPerDay === 1);
  held.open();
  t.same(await Promise.all(codes), ['ok', 'KEY_CAP_REACHED', 'KEY_CAP_REACHED']);
  t.equal(adapter.calls.length, 1);
});

t.test('calls that wait while their key without limits comes into a group count for that group, so its cap binds the later ones', async (t) => {
  const held = gate();
  const wait: Step = async (call) => {
    await held.opened;
    await LONG(call);
  };
  const { core, adapter } = await coreWith(t, { steps: [wait], queue: { concurrency: 1 } });
  await core.keys?.setGroup('team', { tokensPerMonth: 1 });
  await core.keys?.create('app');
  const codes = [1, 2, 3, 4].map(() => codeOf(core.chat(REQUEST, APP)));
  await until('the first is sent', () => adapter.calls.length === 1);
  await core.keys?.change('app', { group: 'team' });
  held.open();
  t.same(await Promise.all(codes), ['ok', 'ok', 'KEY_CAP_REACHED', 'KEY_CAP_REACHED'], 'the first was sent before, and the second finds nothing spent');
  t.equal((await core.accounts?.spent('group', 'team'))?.month.tokens, 1000);
});

t.test('what was sent is paid for, also where its caller left before the first text', async (t) => {
  const leaving = new AbortController();
  const silence: Step = async (call) => {
    setImmediate(() => leaving.abort());
    await untilAborted(call);
  };
  const { core } = await coreWith(t, { steps: [silence] });
  await core.keys?.create('app', { tokensPerDay: 100_000 });
  const question = { ...REQUEST, messages: [{ role: 'user', content: 'word '.repeat(800) }] } as const;
  t.equal(await codeOf(core.chat(question, { ...APP, signal: leaving.signal })), 'CANCELLED');
  await until('it is settled', () => core.liveCalls().length === 0);
  t.match(await spent(core), { tokens: 1000 + 4096, calls: 1 }, 'its adapter does not read on, so it may have had the largest output');
});

t.test('an answer that does not end is read on for some minutes, and then counts the largest output', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.teardown(() => mock.timers.reset());
  const leaving = new AbortController();
  const endless: Step = async (call) => {
    call.sink.emit([{ type: 'usage', usage: { inputTokens: 7 } }]);
    await once(call.until ?? call.signal, 'abort');
    throw new BlockhouseError('CANCELLED', 'It was read long enough.', { mayHaveRun: true });
  };
  const { core, adapter } = await coreWith(t, { steps: [endless, LONG] });
  await core.keys?.create('app', { tokensPerDay: 100_000 });
  const call = codeOf(core.chat({ ...REQUEST, config: { maxTokens: 500 } }, { ...APP, signal: leaving.signal }));
  while (adapter.calls.length === 0) await new Promise(setImmediate);
  leaving.abort();
  t.equal(await call, 'CANCELLED', 'its caller does not wait');
  mock.timers.tick(READ_ON_MS - 1);
  t.equal(core.liveCalls().length, 1);
  mock.timers.tick(1);
  while (core.liveCalls().length > 0) await new Promise(setImmediate);
  t.match(await spent(core), { tokens: 507, calls: 1 });
});

t.test('what a call that is read on was sent is let go, and its answer goes nowhere', async (t) => {
  const leaving = new AbortController();
  const { opened, open } = gate();
  const shown: string[] = [];
  const slow: Step = async (call) => {
    call.sink.emit([{ type: 'text', text: 'a' }]);
    await opened;
    t.same([call.prompt.turns, call.prompt.system], [[], undefined]);
    call.sink.emit([{ type: 'text', text: 'b'.repeat(400) }]); // it reports no usage
    call.sink.emit([{ type: 'stop', stopReason: 'end_turn' }]);
  };
  const { core } = await coreWith(t, { steps: [slow] });
  await core.keys?.create('app', { tokensPerDay: 100_000 });
  const sink = {
    opened: false,
    opensInMs: Number.POSITIVE_INFINITY,
    start: () => shown.push('start'),
    content: (fragments: readonly string[]) => shown.push(...fragments) > 0,
    onceWritable: () => undefined,
  };
  const question = {
    ...REQUEST,
    messages: [
      { role: 'system' as const, content: 'short' },
      { role: 'user' as const, content: 'word '.repeat(800) },
    ],
  };
  const call = codeOf(core.pipe({ ...question, stream: true }, sink, { ...APP, signal: leaving.signal }));
  await until('it has begun', () => shown.length === 2);
  leaving.abort();
  t.equal(await call, 'CANCELLED');
  open();
  await until('it has ended', () => core.liveCalls().length === 0);
  t.same(shown, ['start', 'a']);
  const { tokens = 0 } = (await spent(core)) ?? {};
  t.ok(tokens > 1000 && tokens < 1500, `${tokens}: its input and its text, as for a caller who stays`);
  t.equal(question.messages.length, 2, 'the request of the program is as it was');
});

t.test('a call that is over its cap, or never sent, costs nothing', async (t) => {
  const { core } = await coreWith(t, { steps: [LONG, new BlockhouseError('UPSTREAM_REJECTED', 'No.')] });
  await core.keys?.create('app', { tokensPerDay: 5000 });
  await core.chat(REQUEST, APP);
  t.equal(await codeOf(core.chat(REQUEST, APP)), 'UPSTREAM_REJECTED');
  t.match(await spent(core), { tokens: 1000, calls: 1 });
});

t.test('what ends with the gateway is in the books before they are closed', async (t) => {
  const leaving = new AbortController();
  const silence: Step = async (call) => untilAborted(call);
  const { core, adapter } = await coreWith(t, { steps: [silence] });
  await core.keys?.create('app', { tokensPerDay: 5000 });
  const call = codeOf(core.chat(REQUEST, { ...APP, signal: leaving.signal }));
  await until('the call is sent', () => adapter.calls.length === 1);
  await core.close();
  leaving.abort();
  await call;
  const lines = readFileSync(join(core.workspace ?? '', 'gateway-ledger.jsonl'), 'utf8')
    .trim()
    .split('\n');
  t.match(
    lines.map((line) => JSON.parse(line)),
    [{ key: 'app', usage: { inputTokens: 1, estimated: true }, error: String }],
  );
  t.equal(lines.length, 1);
});

t.test('the books close when the calls that have ended are in them with their prices', async (t) => {
  const [workspace, loaded, bus] = [testFolder(t), gate(), createBus()];
  const ledger = new GatewayLedger({ workspace, bus });
  const prices = new Prices(async () => {
    await loaded.opened;
    return await import('@pydantic/genai-prices');
  });
  const gateway = { pricedAs: ({ model }: { readonly model: string }) => ({ provider: 'openai', model }) };
  const accounts = new GatewayAccounts({
    bus,
    gateway,
    prices,
    ledger,
    keys: { named: () => undefined, lastKnown: () => undefined },
    now: () => NOW,
    monotonic: () => 0,
  });
  const usage = { inputTokens: 400, outputTokens: 600, totalTokens: 1000 };
  const end = { call: 1, requestId: 'r', adapter: 'stepped', model: 'gpt-4o-mini', kind: 'chat', stream: false, attempts: 1, durationMs: 5, usage } as const;
  accounts.settle(end, { adapterId: 'stepped', model: 'gpt-4o-mini' } as AccountedCall, undefined);
  const closing = accounts.close();
  await nextTurn();
  loaded.open();
  await closing;
  t.match(JSON.parse(readFileSync(join(workspace, 'gateway-ledger.jsonl'), 'utf8')), { usage, costUsd: Number });
});

t.test('a key that asks in vain again and again does not push the lines of others out of the ledger, and each of its calls counts in reports', async (t) => {
  const fails: Step = () => Promise.reject(new BlockhouseError('UPSTREAM_REJECTED', 'There is no such model.'));
  const { core } = await coreWith(t, { steps: [fails], retries: 0 });
  await core.keys?.create('app', { tokensPerDay: 100_000 });
  for (let call = 0; call < 300; call += 1) t.not(await codeOf(core.chat({ ...REQUEST, model: `m${call}` }, APP)), 'ok');
  t.match((await core.accounts?.costs('key'))?.rows, [{ key: 'app', calls: 300, costUsd: null, unpricedCalls: 0 }]);
  t.match(await spent(core), { calls: 0, tokens: 0 });
  await core.close();
  const text = readFileSync(join(core.workspace ?? '', 'gateway-ledger.jsonl'), 'utf8');
  t.ok(text.trim().split('\n').length <= 110, `${text.split('\n').length} lines`);
  t.equal(readFileSync(join(core.workspace ?? '', 'gateway-open.jsonl'), 'utf8'), '', 'none is under way');
});

t.test('a book that other servers share is asked before each call, also one that is sent at once, with what that call may use', async (t) => {
  const key = namedKey({ name: 'app', hash: 'x', createdAt: '', ...checkedLimits({ usdPerDay: 10, tokensPerDay: 10_000 }) });
  const gateway = { pricedAs: () => ({ provider: 'own', model: 'm', rates: { input: 1, output: 10 } }) };
  const call = {
    key: 'app',
    adapterId: 'stepped',
    model: 'm',
    hasOutput: true,
    choices: 2,
    inputTokens: () => 100,
    usageSoFar: () => undefined,
  } as unknown as AccountedCall;
  for (const isShared of [true, false]) {
    const asked: unknown[] = [];
    const ledger = {
      isShared,
      room: (_key: unknown, underWay: UnderWay) => {
        asked.push(underWay.own?.());
        return true;
      },
      meanOutput: () => 500,
      note: () => undefined,
      noteAlone: () => undefined,
      close: async () => undefined,
    } as unknown as GatewayBook;
    const options = {
      bus: createBus(),
      gateway,
      prices: new Prices(),
      keys: { named: () => key, lastKnown: () => undefined },
      now: () => NOW,
      monotonic: () => 0,
    };
    const accounts = new GatewayAccounts({ ...options, ledger });
    await accounts.accept(call)?.reserve(true);
    await accounts.close();
    t.strictSame(asked, isShared ? [undefined, { usd: 0.0101, tokens: 1100 }] : [undefined], isShared ? 'shared' : 'of one server');
  }
});

t.test('a price that has changed counts after a second, also when the clock is set back', async (t) => {
  const [workspace, bus] = [testFolder(t), createBus()];
  const ledger = new GatewayLedger({ workspace, bus });
  const time = { day: NOW, running: 0 };
  let rate = 1;
  const gateway = { pricedAs: () => ({ provider: 'own', model: 'm', rates: { input: rate, output: rate } }) };
  const keys = { named: () => undefined, lastKnown: () => undefined };
  const accounts = new GatewayAccounts({ bus, gateway, prices: new Prices(), ledger, keys, now: () => time.day, monotonic: () => time.running });
  const usage = { inputTokens: 400_000, outputTokens: 600_000, totalTokens: 1_000_000 };
  const end = { call: 1, requestId: 'r', adapter: 'stepped', model: 'm', kind: 'chat', stream: false, attempts: 1, durationMs: 5, usage } as const;
  const settle = () => accounts.settle(end, { adapterId: 'stepped', model: 'm' } as AccountedCall, undefined);
  settle();
  rate = 1000;
  time.day -= 86_400_000;
  time.running += 1000;
  settle();
  await accounts.close();
  const lines = readFileSync(join(workspace, 'gateway-ledger.jsonl'), 'utf8').trim().split('\n');
  t.same(lines.map((line) => JSON.parse(line).costUsd).sort(), [1, 1000]);
});

t.test('while its limits can not be checked, a key is refused', async (t) => {
  const { core, adapter } = await coreWith(t, { start: false });
  await core.keys?.create('app', { tokensPerDay: 0, models: ['none'] });
  t.match(await core.chat(REQUEST, APP).catch((error) => error), { code: 'WRONG_STATE', message: /key app.*start\(\)/ });
  t.equal(await codeOf(core.countTokens(REQUEST, APP)), 'WRONG_STATE');
  t.equal(await codeOf(core.embed({ adapter: 'stepped', model: 'm', inputs: ['x'] }, APP)), 'INVALID_REQUEST', 'the adapter makes none');
  await core.start();
  t.equal(await codeOf(core.chat(REQUEST, APP)), 'KEY_FORBIDDEN');
  t.equal(await codeOf(core.countTokens(REQUEST, APP)), 'KEY_FORBIDDEN');
  t.equal(await codeOf(core.chat(REQUEST, { key: 'unknown' })), 'KEY_FORBIDDEN');
  await core.stop();
  t.equal(await codeOf(core.chat(REQUEST, APP)), 'KEY_FORBIDDEN', 'also after the blocks have ended');
  t.equal(adapter.calls.length, 0);
  const bare = createCore({ adapters: [steppedAdapter([LONG])], env: { STEPPED_API_KEY: 'k' } });
  t.equal(await codeOf(bare.chat(REQUEST, APP)), 'WRONG_STATE', 'without a workspace');
  t.equal(await codeOf(bare.chat(REQUEST)), 'ok');
  await bare.close();
});

t.test('a key may ask for the name that its client uses, or for the model itself', async (t) => {
  const { core } = await coreWith(t);
  await core.keys?.create('app', { models: ['fast', 'stepped/gpt-4o*'] });
  t.equal(await codeOf(core.chat(REQUEST, APP)), 'ok');
  t.equal(await codeOf(core.chat({ ...REQUEST, model: 'o1' }, APP)), 'KEY_FORBIDDEN');
  t.equal(await codeOf(core.chat({ ...REQUEST, model: 'o1' }, { ...APP, askedAs: 'fast' })), 'ok');
  t.equal(await codeOf(core.chat({ ...REQUEST, model: 'o1' }, { ...APP, askedAs: 'slow' })), 'KEY_FORBIDDEN');
  t.equal(await codeOf(core.chat({ ...REQUEST, model: 'fast' }, APP)), 'KEY_FORBIDDEN', 'a name alone does not choose a provider');
});

t.test('a key without limits that refuses unknown prices while its calls wait sends no more of them', async (t) => {
  const held = gate();
  const wait: Step = async (call) => {
    await held.opened;
    await LONG(call);
  };
  const { core, adapter } = await coreWith(t, { steps: [wait], queue: { concurrency: 1 } });
  await core.keys?.create('app');
  const codes = [1, 2, 3].map(() => codeOf(core.chat({ ...REQUEST, model: 'nobody-knows-its-price' }, APP)));
  await until('the first is sent', () => adapter.calls.length === 1);
  await core.keys?.change('app', { usdPerDay: 1, unpriced: 'refuse' });
  held.open();
  t.same(await Promise.all(codes), ['ok', 'PRICE_UNKNOWN', 'PRICE_UNKNOWN']);
  t.equal(adapter.calls.length, 1);
});

t.test('while prices.json could never be read, a cap in USD lets no call through whose price may stand there', async (t) => {
  const workspace = testFolder(t, { 'prices.json': '{"models": ' });
  const { core, adapter } = await coreWith(t, { workspace });
  await core.keys?.setGroup('team', { usdPerMonth: 1 });
  for (const [key, limits] of Object.entries({
    usd: { usdPerDay: 1 },
    member: { group: 'team' },
    sure: { usdPerDay: 1, unpriced: 'refuse' },
    tokens: { tokensPerDay: 9999 },
  } as const))
    await core.keys?.create(key, limits);
  const ask = (key: string) => codeOf(core.chat(REQUEST, { key }));
  t.same([await ask('usd'), await ask('member'), await ask('sure')], ['WORKSPACE_DAMAGED', 'WORKSPACE_DAMAGED', 'PRICE_UNKNOWN']);
  t.equal(adapter.calls.length, 0);
  t.equal(await ask('tokens'), 'ok', 'a cap in tokens counts them');
  const call = {
    key: 'usd',
    provider: 'stepped',
    model: 'gpt-4o-mini',
    pricedAs: { provider: '', model: 'gpt-4o-mini', isUnread: true },
    isFirst: true,
  } as const;
  const accounts = core.accounts as unknown as Pick<GatewayAccounts, 'assertForKey'>;
  t.equal(await codeOf(accounts.assertForKey(call)), 'WORKSPACE_DAMAGED', 'also where a block makes the call');
  writeFileSync(join(workspace, 'prices.json'), '{"models": {"stepped/gpt-4o-mini": {"input": 500, "output": 500}}}');
  await untilSo('the file is read', async () => (await ask('usd')) === 'ok');
  t.equal((await core.accounts?.spentToday('usd'))?.usd, 0.5);
});

t.test('a key that refuses calls without a price sends none', async (t) => {
  const { core, adapter } = await coreWith(t);
  await core.keys?.create('app', { unpriced: 'refuse' });
  await core.keys?.create('loose', { usdPerDay: 1 });
  const unknown = { ...REQUEST, model: 'no-such-model' };
  t.match(await core.chat(unknown, APP).catch((error) => error), { code: 'PRICE_UNKNOWN', status: 403, message: /stepped\/no-such-model/ });
  t.equal(adapter.calls.length, 0);
  t.equal(await codeOf(core.chat(REQUEST, APP)), 'ok');
  t.equal(await codeOf(core.chat(unknown, { key: 'loose' })), 'ok');
  t.match(await core.accounts?.spentToday('loose'), { usd: 0, calls: 1, unpricedCalls: 1 });
});

t.test('a killed process leaves what its calls may have cost', async (t) => {
  const leaving = new AbortController();
  const silence: Step = async (call) => untilAborted(call);
  const { core, adapter } = await coreWith(t, { steps: [silence] });
  await core.keys?.create('app', { tokensPerDay: 5000 });
  const call = codeOf(core.chat(REQUEST, { ...APP, signal: leaving.signal }));
  await until('the call is sent', () => adapter.calls.length === 1);
  const journal = readFileSync(join(core.workspace ?? '', 'gateway-open.jsonl'), 'utf8');
  t.match(JSON.parse(journal), { key: 'app', provider: 'stepped', model: REQUEST.model, usage: { totalTokens: 1001 }, costUsd: Number });
  t.notMatch(journal, 'hi"', 'no prompt');
  leaving.abort();
  await call;
  await core.close();
  t.equal(readFileSync(join(core.workspace ?? '', 'gateway-open.jsonl'), 'utf8'), '', 'one that ends leaves nothing');
});

t.test('a stream that grows longer than expected is noted with more than it has used', async (t) => {
  const held = gate();
  const long: Step = async (call) => {
    call.sink.emit([{ type: 'text', text: 'word '.repeat(8000) }]);
    await held.opened;
    await LONG(call);
  };
  const { core } = await coreWith(t, { steps: [long] });
  await core.keys?.create('app', { tokensPerDay: 500_000 });
  const call = codeOf(core.chat(REQUEST, APP));
  const path = join(core.workspace ?? '', 'gateway-open.jsonl');
  const lines = () =>
    readFileSync(path, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  await until('the journal has a second line', () => {
    try {
      return lines().length > 1;
    } catch {
      return false; // no line yet
    }
  });
  t.ok(lines().at(-1).usage.totalTokens >= 20_000);
  held.open();
  await call;
});

t.test('a tier that only the answer names does not make a call free under a cap in USD', async (t) => {
  const dear: Step = async (call) =>
    void call.sink.emit([
      { type: 'text', text: 'x' },
      { type: 'usage', usage: { inputTokens: 400, outputTokens: 600, unpricedTier: true } },
      { type: 'stop', stopReason: 'end_turn' },
    ]);
  const { core } = await coreWith(t, { steps: [dear] });
  await core.keys?.create('app', { usdPerDay: 0.0005, unpriced: 'refuse' });
  const codes: string[] = [];
  for (let call = 0; call < 4; call += 1) codes.push(await codeOf(core.chat(REQUEST, APP)));
  t.same(codes, ['ok', 'ok', 'KEY_CAP_REACHED', 'KEY_CAP_REACHED']);
  t.match(await spent(core), { calls: 2, unpricedCalls: 0 });
  t.match((await core.accounts?.costs('key'))?.total, { costUsd: null }, 'what it costs exactly is not known');
});

t.test('an hour in the cache that has no price is refused where what has no price is', async (t) => {
  const adapter = steppedAdapter([LONG], { pricesAs: 'aws' });
  const core = createCore({ workspace: testFolder(t), adapters: [adapter], env: { STEPPED_API_KEY: 'k' }, clock: () => NOW });
  t.teardown(() => core.close());
  await core.start();
  const marked = (cache: '5m' | '1h'): ChatRequest => ({
    adapter: 'stepped',
    model: 'anthropic.claude-sonnet-4-5-20250929-v1:0',
    messages: [{ role: 'user', content: [{ type: 'text', text: 'hi', cache }] }],
  });
  await core.keys?.create('app', { usdPerDay: 1, unpriced: 'refuse' });
  await core.keys?.create('lax', { usdPerDay: 1 });
  t.equal(await codeOf(core.chat(marked('1h'), APP)), 'PRICE_UNKNOWN');
  t.equal(await codeOf(core.chat(marked('5m'), APP)), 'ok');
  t.equal(await codeOf(core.chat(marked('1h'), { key: 'lax' })), 'ok');
});

t.test('a model for audio that has prices of text alone is refused where what has no price is', async (t) => {
  const adapter = steppedAdapter([LONG], { pricesAs: 'openai' });
  const core = createCore({ workspace: testFolder(t), adapters: [adapter], env: { STEPPED_API_KEY: 'k' }, clock: () => NOW });
  t.teardown(() => core.close());
  await core.start();
  await core.keys?.create('app', { usdPerDay: 1, unpriced: 'refuse' });
  await core.keys?.create('lax', { usdPerDay: 1 });
  const ask = (model: string, key: string) => codeOf(core.chat({ ...REQUEST, model }, { key }));
  t.equal(await ask('gpt-4o-mini-audio-preview', 'app'), 'PRICE_UNKNOWN');
  t.equal(await ask('gpt-audio-mini', 'app'), 'ok', 'the data have its price of audio');
  t.equal(await ask('gpt-4o', 'app'), 'ok', 'which is no model for audio');
  t.equal(await ask('gpt-4o-mini-audio-preview', 'lax'), 'ok');
});

t.test('a cap of a week or a month holds, says when it ends, and outlasts restarts and a clock that jumps', async (t) => {
  const clock = { ms: Date.parse('2026-11-25T12:00:00.000Z') };
  const workspace = testFolder(t);
  const open = () => coreWith(t, { workspace, clock: () => clock.ms });
  const first = await open();
  await first.core.keys?.create('week', { usdPerWeek: 0.0005 });
  await first.core.keys?.create('month', { tokensPerMonth: 1500 });
  for (const key of ['week', 'month']) t.same(await Promise.all([codeOf(first.core.chat(REQUEST, { key })), 'ok']), ['ok', 'ok']);
  await first.core.close();
  const days = (ms: number) => Math.round(ms / 86_400_000);
  const ask = async (core: Core, key: string) =>
    core.chat(REQUEST, { key }).then(
      () => 'ok',
      (error: BlockhouseError) => [error.code, days(error.retryAfterMs ?? 0)],
    );
  const { core } = await open();
  for (const key of ['week', 'month']) t.equal(await ask(core, key), 'ok', key);
  t.same(await ask(core, 'week'), ['KEY_CAP_REACHED', 5], 'until Monday, 30 November');
  t.same(await ask(core, 'month'), ['KEY_CAP_REACHED', 6], 'until 1 December');
  clock.ms = Date.parse('2026-12-20T00:00:00.000Z');
  for (const key of ['week', 'month']) t.equal(await ask(core, key), 'ok', 'another month');
  clock.ms = Date.parse('2026-11-28T00:00:00.000Z');
  for (const key of ['week', 'month']) t.match(await ask(core, key), ['KEY_CAP_REACHED'], `${key}: the clock was set right`);
  clock.ms = Date.parse('2026-11-30T00:00:00.000Z');
  t.same([await ask(core, 'week'), (await ask(core, 'month'))[0]], ['ok', 'KEY_CAP_REACHED']);
  clock.ms = Date.parse('2026-12-01T00:00:00.000Z');
  t.equal(await ask(core, 'month'), 'ok', 'less than its cap in December');
});

t.test('of all limits each must hold: many parallel calls of several keys pass the cap of their group by one at most, also when callers leave', async (t) => {
  let tokens = 0;
  const counted: Step = async ({ sink }) => {
    sink.emit([
      { type: 'text', text: 'x' },
      { type: 'usage', usage: { inputTokens: 10, outputTokens: 990 } },
      { type: 'stop', stopReason: 'end_turn' },
    ]);
    tokens += 1000;
  };
  const { core } = await coreWith(t, { steps: [counted], queue: { concurrency: 4 } });
  await core.keys?.setGroup('team', { tokensPerMonth: 5000 });
  for (const key of ['one', 'two', 'three']) await core.keys?.create(key, { group: 'team', tokensPerDay: 1_000_000 });
  const ask = (index: number, signal?: AbortSignal) => codeOf(core.chat(REQUEST, { key: ['one', 'two', 'three'][index % 3], signal }));
  const codes = await Promise.all(
    Array.from({ length: 200 }, (_, index) => {
      const leaving = new AbortController();
      if (index % 4 === 3) setImmediate(() => leaving.abort());
      return ask(index, leaving.signal);
    }),
  );
  for (let index = 0; index < 12; index += 1) codes.push(await ask(index));
  t.ok(tokens >= 4000 && tokens <= 6000, `the provider has given ${tokens} tokens`);
  t.match(new Set(codes.slice(-3)), new Set(['KEY_CAP_REACHED']));
  await core.keys?.revoke('two');
  await core.keys?.create('two', { group: 'team' });
  await core.keys?.create('four', { group: 'team' });
  for (const key of ['two', 'four']) t.equal(await codeOf(core.chat(REQUEST, { key })), 'KEY_CAP_REACHED', `${key}: a new key of the group`);
  await core.keys?.change('four', { group: null });
  t.equal(await codeOf(core.chat(REQUEST, { key: 'four' })), 'ok', 'outside of the group');
});

t.test('no more calls of a key and of its group run than they may, at all providers together; further ones wait and are answered', async (t) => {
  let running = 0;
  const most: Record<string, number> = {};
  const slow: Step = async ({ sink, signal }) => {
    running += 1;
    let isOver = false;
    const end = (): void => {
      if (!isOver) running -= 1;
      isOver = true;
    };
    signal.addEventListener('abort', end); // the provider stops
    most['all'] = Math.max(most['all'] ?? 0, running);
    await nextTurn();
    end();
    sink.emit(HELLO);
  };
  const { core, adapter } = await coreWith(t, { steps: [slow], queue: { concurrency: 64, waiting: 1000 } });
  await core.keys?.setGroup('team', { inFlight: 3 });
  await core.keys?.create('one', { group: 'team', inFlight: 2 });
  await core.keys?.create('two', { group: 'team' });
  const codes = await Promise.all(Array.from({ length: 200 }, (_, index) => codeOf(core.chat(REQUEST, { key: index % 2 === 0 ? 'one' : 'two' }))));
  t.same(new Set(codes), new Set(['ok']));
  t.same([most['all'], adapter.calls.length], [3, 200]);
  most['all'] = 0;
  const leaving = Array.from({ length: 200 }, () => new AbortController());
  const left = leaving.map(({ signal }) => codeOf(core.chat(REQUEST, { key: 'one', signal })));
  for (const [index, one] of leaving.entries()) if (index % 3 > 0) setImmediate(() => one.abort());
  await Promise.all(left);
  t.equal(most['all'], 2, 'also while clients leave');
  await core.keys?.change('one', { inFlight: 1 });
  most['all'] = 0;
  await Promise.all(Array.from({ length: 20 }, () => codeOf(core.chat(REQUEST, { key: 'one' }))));
  t.equal(most['all'], 1);
});

t.test('a client that leaves its call gets nothing back of its tokens a minute, and a call that was never sent takes none', async (t) => {
  const clock = { ms: 1000 };
  const { core, adapter } = await coreWith(t, { steps: [untilAborted], now: () => clock.ms, queue: { concurrency: 2 } });
  await core.keys?.create('app', { tokensPerMinute: 5000 });
  const leaving = Array.from({ length: 200 }, () => new AbortController());
  const codes = leaving.map(({ signal }) => codeOf(core.chat(REQUEST, { key: 'app', signal })));
  await until('two are sent', () => adapter.calls.length === 2);
  for (const one of leaving) one.abort();
  const ends = await Promise.all(codes);
  t.equal(ends.filter((code) => code === 'KEY_RATE_LIMITED').length, 196, 'four of about 1,000 tokens are let in, and two of them wait for a place');
  const left = () => core.accounts?.rates(core.keys?.named('app') as NamedKey)?.tokens?.remaining ?? 0;
  t.ok(left() > 2900 && left() <= 3000, `${left()} are left: the two that were sent keep their estimate`);
  for (let n = 0; n < 10; n += 1) t.equal(await codeOf(core.chat(REQUEST, { key: 'app', signal: AbortSignal.abort() })), 'CANCELLED');
  t.ok(left() > 2900, 'those that were not sent take nothing');
  t.equal(adapter.calls.length, 2);
});

t.test('limits that a key had when its request came do not come back when the answer to it is written', async (t) => {
  const { core } = await coreWith(t, { now: () => 1000 });
  await core.keys?.create('app', { requestsPerMinute: 100 });
  const before = core.keys?.named('app') as NamedKey; // of a request whose body comes slowly
  await core.keys?.change('app', { requestsPerMinute: 1 });
  t.equal(await codeOf(core.chat(REQUEST, APP)), 'ok');
  t.match(core.accounts?.rates(before), { requests: { limit: 1, remaining: 0 } });
  t.equal(await codeOf(core.chat(REQUEST, APP)), 'KEY_RATE_LIMITED');
});

t.test('the name of a price is looked for once a second, and each time for a call with settings of its own', async (t) => {
  let [now, looks] = [0, 0];
  const pricedAs = () => {
    looks += 1;
    return { provider: 'p', model: String(looks) };
  };
  const names = new PricedNames({ pricedAs }, () => now);
  const call = { adapterId: 'a', model: 'm', address: undefined, config: undefined, tier: undefined };
  t.same([names.of(call)?.model, names.of(call)?.model], ['1', '1']);
  t.equal(names.of({ ...call, tier: 'flex' })?.model, '2');
  now = 1000;
  t.equal(names.of(call)?.model, '3');
});

t.test('a key and its group have the same places for all lines, whose number follows a change', async (t) => {
  const places = new KeyPlaces();
  const keyOf = (inFlight: number | null, group: number) =>
    namedKey({ name: 'app', hash: '', createdAt: '', ...checkedLimits({ inFlight, group: 'team' }) }, checkedFigures({ inFlight: group }));
  const [own, team] = places.of(keyOf(1, 2));
  own?.take();
  t.same([own?.hasRoom, team?.hasRoom], [false, true]);
  const changed = places.of(keyOf(null, 2));
  t.same([changed[0] === own, changed[1] === team, own?.hasRoom], [true, true, true]);
});

t.test('a call of a block counts for the key of its message and its group, and in reports only where they sum by key', async (t) => {
  const { core } = await coreWith(t);
  await core.keys?.setGroup('team', {});
  await core.keys?.create('app', { group: 'team', tokensPerDay: 500 });
  const usage = { inputTokens: 400, outputTokens: 600, totalTokens: 1000 };
  const call = {
    at: '2026-11-22T23:00:00.000Z',
    block: 'ada',
    messageId: 'm1',
    provider: 'stepped',
    model: 'x',
    purpose: 'chat',
    usage,
    costUsd: 0.5,
    latencyMs: 1,
    ttftMs: null,
  } as const;
  const accounts = core.accounts as GatewayAccounts;
  await accounts.countForKey({ ...call, key: 'app' });
  await accounts.countForKey({ ...call, key: 'gone', failed: true });
  t.match(await spent(core), { usd: 0.5, tokens: 1000, calls: 1 });
  t.match((await accounts.spent('group', 'team')).day, { usd: 0.5, tokens: 1000 });
  t.match((await accounts.costs('key')).rows.map(({ key }) => key).sort(), ['app', 'gone']);
  t.match(await accounts.costs('day-key'), { total: { calls: 2 } });
  for (const by of ['model', 'connection', 'day'] as const) t.match(await accounts.costs(by), { rows: [], total: { calls: 0 } }, by);
  t.equal(await codeOf(core.chat(REQUEST, APP)), 'KEY_CAP_REACHED');
});

t.test(
  'a call of a block counts for the key of its message and its group also when the key has expired meanwhile, and while keys.json is damaged',
  async (t) => {
    const clock = { ms: NOW };
    const { core } = await coreWith(t, { clock: () => clock.ms });
    await core.keys?.setGroup('team', { tokensPerDay: 5000 });
    await core.keys?.create('app', { group: 'team', expiresAt: '2026-11-22T23:10:00.000Z' });
    const usage = { inputTokens: 400, outputTokens: 600, totalTokens: 1000 };
    const call = { at: '2026-11-22T23:20:00.000Z', block: 'ada', messageId: 'm1', provider: 'stepped', model: 'x', usage, costUsd: 0.5 } as const;
    const accounts = core.accounts as GatewayAccounts;
    const count = (): void => void accounts.countForKey({ ...call, purpose: 'chat', latencyMs: 1, ttftMs: null, key: 'app' });
    clock.ms = Date.parse(call.at);
    t.equal(core.keys?.named('app'), undefined);
    count();
    t.match((await accounts.spent('group', 'team')).day, { usd: 0.5, tokens: 1000 }, 'expired');
    writeFileSync(join(core.workspace ?? '', 'keys.json'), '{');
    await until('the file is looked at', () => {
      try {
        core.keys?.named('app');
        return false;
      } catch {
        return true;
      }
    });
    count();
    t.match((await accounts.spent('key', 'app')).day, { usd: 1, tokens: 2000 }, 'damaged');
    t.match((await accounts.spent('group', 'team')).day, { usd: 1, tokens: 2000 });
  },
);

t.test(
  'a call of a block counts for a key what it costs at least, and is refused for one that refuses unknown prices, also while keys.json is damaged',
  async (t) => {
    const { core } = await coreWith(t);
    await core.keys?.create('app', { usdPerDay: 1, unpriced: 'refuse' });
    await core.keys?.create('free', { usdPerDay: 1 });
    const accounts = core.accounts as GatewayAccounts;
    const usage = { inputTokens: 400, outputTokens: 600, totalTokens: 1000 };
    const line = { at: '2026-11-22T23:00:00.000Z', block: 'ada', messageId: 'm1', provider: 'far', model: 'x', purpose: 'chat' } as const;
    const count = (more: { costUsd: null; leastUsd?: number; model?: string; failed?: true; usage?: typeof usage }): void =>
      void accounts.countForKey({ ...line, usage, latencyMs: 1, ttftMs: null, key: 'app', ...more });
    count({ costUsd: null, leastUsd: 0.25 });
    t.match(await accounts.spentToday('app'), { usd: 0.25, unpricedCalls: 0 });

    const rates = { input: 1, output: 1 };
    const asking = (key: string, pricedAs: PricedModel | undefined, model = 'x') =>
      codeOf(accounts.assertForKey({ key, provider: 'far', model, pricedAs, isFirst: false }));
    t.equal(await asking('app', undefined), 'PRICE_UNKNOWN');
    t.equal(await asking('app', { provider: 'openai', model: 'no-such-model' }), 'PRICE_UNKNOWN');
    t.equal(await asking('app', { provider: 'far', model: 'x', rates }), 'ok');
    t.equal(await asking('free', undefined), 'ok');
    t.equal(await asking('gone', undefined), 'ok');

    const told = { provider: '', model: 'told', toldBy: 'far' };
    t.equal(await asking('app', told, 'told'), 'ok', 'only its answer tells what it costs');
    count({ costUsd: null, model: 'told', failed: true, usage: { ...usage, outputTokens: 0 } });
    t.equal(await asking('app', told, 'told'), 'ok', 'a call that has failed says nothing of that');
    count({ costUsd: null, model: 'told' });
    t.equal(await asking('app', told, 'told'), 'PRICE_UNKNOWN');

    writeFileSync(join(core.workspace ?? '', 'keys.json'), '{');
    await until('the file is looked at', () => {
      try {
        core.keys?.named('app');
        return false;
      } catch {
        return true;
      }
    });
    t.equal(await asking('app', undefined), 'PRICE_UNKNOWN');
  },
);

t.test('a question to a block waits until it is known what its key has spent, and is then refused where a call of the key is', async (t) => {
  const limits = { usdPerDay: 10, requestsPerMinute: 5, tokensPerMinute: 1000 };
  const key = namedKey({ name: 'app', hash: 'x', createdAt: '', ...checkedLimits(limits) });
  const free = namedKey({ name: 'free', hash: 'y', createdAt: '', ...checkedLimits({}) });
  const bound = { kind: 'key', name: 'app' } as const;
  const noRoom = (isUnderWay: boolean) => ({ bound, cap: '10 USD a day', isUnderWay, resets: 'at 00:00 UTC', retryAfterMs: 1 });
  const rooms = [
    async () => noRoom(false),
    async () => noRoom(true),
    async () => true,
    () => true,
    () => noRoom(false),
    async () => Promise.reject(new BlockhouseError('WORKSPACE_DAMAGED', 'x')),
  ];
  const ledger = { room: () => rooms.shift()?.(), close: async () => undefined } as unknown as GatewayBook;
  const keys = { named: (name: string) => [key, free].find((one) => one.name === name), lastKnown: () => undefined };
  const gateway = { pricedAs: () => undefined };
  const accounts = new GatewayAccounts({ bus: createBus(), gateway, prices: new Prices(), keys, ledger, now: () => NOW, monotonic: () => 0 });
  const check = async (key?: string) => (await accounts.checkForBlock({ key, adapterId: 'block', model: undefined, askedAs: 'block/ada' }))?.code ?? 'ok';
  const asking = (name?: string) => check(name).catch(({ code }: BlockhouseError) => `failed with ${code}`);
  t.same([await asking(), await asking('free')], ['ok', 'ok']);
  t.equal(rooms.length, 6, 'what has no caps is not looked at');
  t.equal(await asking('app'), 'KEY_CAP_REACHED');
  t.same([await asking('app'), await asking('app'), await asking('app')], ['ok', 'ok', 'ok'], 'what others may use up is not used up');
  t.equal(await asking('app'), 'KEY_CAP_REACHED', 'which it gets for a new message alone');
  t.equal(await asking('app'), 'failed with WORKSPACE_DAMAGED');
  rooms.push(() => true);
  t.equal(await asking('app'), 'failed with KEY_RATE_LIMITED', 'each of them was a request');
  t.equal(await asking('gone'), 'failed with KEY_FORBIDDEN');
  await accounts.close();
});

t.test('the first call of a message to a block is refused once its key has reached a cap, and a run that has begun goes on', async (t) => {
  const { core } = await coreWith(t);
  await core.keys?.setGroup('team', { usdPerDay: 2 });
  await core.keys?.create('app', { usdPerDay: 1 });
  await core.keys?.create('member', { group: 'team' });
  const accounts = core.accounts as GatewayAccounts;
  const usage = { inputTokens: 400, outputTokens: 600, totalTokens: 1000 };
  const line = { at: '2026-11-22T23:00:00.000Z', block: 'ada', messageId: 'm1', provider: 'far', model: 'x', purpose: 'chat', usage } as const;
  const asking = (key: string, isFirst = true) => codeOf(accounts.assertForKey({ key, provider: 'far', model: 'x', pricedAs: undefined, isFirst }));
  const count = (key: string, costUsd: number): void => void accounts.countForKey({ ...line, costUsd, latencyMs: 1, ttftMs: null, key });
  count('app', 0.9);
  t.equal(await asking('app'), 'ok');
  count('app', 0.1);
  t.same([await asking('app'), await asking('app', false)], ['KEY_CAP_REACHED', 'ok']);
  t.equal(await asking('member'), 'ok');
  count('member', 2);
  t.equal(await asking('member'), 'KEY_CAP_REACHED', 'a cap of its group');
  await core.keys?.change('app', { usdPerDay: 3 });
  t.equal(await asking('app'), 'ok', 'a cap that was raised meanwhile');
});

t.test('what a block has used for a key with a cap is in the ledger, which a killed process leaves, before the answer of the block is given', async (t) => {
  const workspace = testFolder(t);
  const { core } = await coreWith(t, { workspace });
  await core.keys?.create('app', { usdPerDay: 1 });
  const usage = { inputTokens: 400, outputTokens: 600, totalTokens: 1000 };
  const line = { at: '2026-11-22T23:00:00.000Z', block: 'ada', messageId: 'm1', provider: 'far', model: 'x', purpose: 'chat', usage } as const;
  for (const costUsd of [0.2, null]) {
    await (core.accounts as GatewayAccounts).countForKey({ ...line, costUsd, latencyMs: 1, ttftMs: null, key: 'app' });
    const last = readFileSync(join(workspace, 'gateway-ledger.jsonl'), 'utf8').trim().split('\n').at(-1) ?? '';
    t.match(JSON.parse(last), { key: 'app', requestId: 'block/ada/m1', costUsd });
  }
});

t.test('messages that wait at a block when their key is revoked have its caps, and count for its group', async (t) => {
  const { core } = await coreWith(t);
  await core.keys?.setGroup('team', {});
  await core.keys?.create('app', { usdPerDay: 1, group: 'team' });
  const accounts = core.accounts as GatewayAccounts;
  const usage = { inputTokens: 400, outputTokens: 600, totalTokens: 1000 };
  const line = { at: '2026-11-22T23:00:00.000Z', block: 'ada', messageId: 'm1', provider: 'far', model: 'x', purpose: 'chat', usage } as const;
  const asking = () => codeOf(accounts.assertForKey({ key: 'app', provider: 'far', model: 'x', pricedAs: undefined, isFirst: true }));
  await core.keys?.revoke('app');
  await core.keys?.create('other');
  t.equal(await asking(), 'ok');
  await accounts.countForKey({ ...line, costUsd: 1, latencyMs: 1, ttftMs: null, key: 'app' });
  t.equal(await asking(), 'KEY_CAP_REACHED');
  t.match((await accounts.spent('group', 'team')).day, { usd: 1, tokens: 1000 });
});
