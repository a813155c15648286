// Caps of a block against the ledger, call by call.
import { mkdirSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { BlockhouseError } from '../../../../core/errors.ts';
import { pair } from '../../../support/block-files.ts';
import { endAnswer, RUNNABLE, type StartedCore, startCore } from '../../../support/blocks.ts';
import { heldDaemon, pulseIn } from '../../../support/held-daemon.ts';
import { gate, HELLO, type Step, steppedAdapter } from '../../../support/stepped-adapter.ts';
import { until, untilSo } from '../../../support/until.ts';

const PRICED = { provider: 'stepped', model: 'gpt-4o', maxTokens: 1000 };

/** A block whose model has a price, or with RUNNABLE none. */
async function capped(t: Parameters<typeof startCore>[0], budget: object, adapter: object = PRICED): Promise<StartedCore> {
  const stepped = steppedAdapter([HELLO], { missingCredential: () => undefined, pricesAs: 'openai' });
  const daemon = heldDaemon((call) => call.answer('Hello.'));
  const { createOllama } = await import('../../../../adapters/ollama/index.ts');
  const one = await startCore(t, { adapters: [createOllama(), stepped], answer: daemon.answer });
  await one.create('ada', { adapter, budget });
  await one.blocks.start('ada');
  return one;
}

t.test('a token cap pauses the block before the call that would exceed it', async (t) => {
  const one = await capped(t, { dailyTokens: 150 }, { ...RUNNABLE.adapter, maxTokens: 140 });
  t.match(await one.ask('ada', 'hi'), { content: 'Hello.' });
  const { id } = await one.blocks.post('ada', { message: 'a little more than that' }, 'web');
  const pulse = await pulseIn(one, 'ada', 'paused');
  t.match(pulse, {
    status: 'SLEEPING',
    attention: true,
    reason: { code: 'BUDGET_REACHED', message: /dailyTokens.*5 tokens spent today/s, fix: /blockhouse config set ada budget\.dailyTokens=/ },
  });
  t.match(pulse.transitions.at(-1), { to: 'paused', actor: 'budget', cause: 'BUDGET_REACHED' });
  t.match(pulse.nextWakeUp, /T00:00:00\.000Z$/);
  t.match((await one.blocks.history('ada'))[2], { id, status: 'queued', attempts: 0 });
  t.match(one.readJson('ada', 'costs').budget, { state: 'exceeded', day: { tokens: 5 } });
  t.equal(one.upstream.requests.length, 1);
  t.match((await one.blocks.logs('ada'))[0]?.content, /WARN budget\.reached cap=dailyTokens/);
});

t.test('raising the cap lifts it at once', async (t) => {
  const one = await capped(t, { dailyTokens: 1 }, RUNNABLE.adapter);
  const { id } = await one.blocks.post('ada', { message: 'hi' }, 'web');
  await pulseIn(one, 'ada', 'paused');
  await one.blocks.updateConfig('ada', { budget: { dailyTokens: 1_000_000 } });
  await one.told('message.finished', { id, status: 'done' });
});

t.test('a cap in USD includes the worst case of the next call', async (t) => {
  const one = await capped(t, { dailyUsd: 1 });
  t.match(await one.ask('ada', 'hi'), { costUsd: Number });
  await one.blocks.updateConfig('ada', { budget: { dailyUsd: 0.001 } });
  await one.blocks.post('ada', { message: 'hi' }, 'web');
  t.match((await pulseIn(one, 'ada', 'paused')).reason?.message, /dailyUsd/);
  await one.blocks.updateConfig('ada', { budget: { dailyUsd: 0.001 }, adapter: { ...PRICED, maxTokens: 10 } });
  await until('a smaller call fits', () => one.factsOf('message.finished').length === 2);
});

t.test('a cap in USD does not stop a model without a price, whose cost stays unknown', async (t) => {
  const one = await capped(t, { dailyUsd: 0.000001, monthlyUsd: 1 }, { provider: 'ollama', model: 'm-cloud' });
  t.match(await one.ask('ada', 'hi'), { costUsd: null });
  t.match(one.readJson('ada', 'costs'), { totalCost: null, unpricedCalls: 1, budget: { state: 'ok', month: { tokens: 5 } } });
});

t.test('a cap in USD lets no call through whose price may stand in a prices.json that could never be read', async (t) => {
  const daemon = heldDaemon((call) => call.answer('Hello.'));
  const one = await startCore(t, { answer: daemon.answer, files: { 'prices.json': '{"models": ' } });
  await one.create('ada', { ...RUNNABLE, budget: { dailyUsd: 1 } });
  await one.create('bob', { ...RUNNABLE, budget: { dailyTokens: 1_000_000 } });
  for (const name of ['ada', 'bob']) await one.blocks.start(name);
  t.match(await one.ask('bob', 'hi'), { content: 'Hello.' }, 'a cap in tokens counts it');
  await one.blocks.post('ada', { message: 'hi' }, 'web');
  await untilSo('it says why', async () => (await one.blocks.details('ada')).pulse.reason?.code === 'WORKSPACE_DAMAGED');
  t.equal(one.upstream.requests.length, 1);
});

t.test('neither a reset, nor an archive, nor another name lifts a cap', async (t) => {
  const one = await capped(t, { dailyTokens: 100 }, { ...RUNNABLE.adapter, maxTokens: 90 });
  await one.ask('ada', 'hi');
  await one.blocks.updateConfig('ada', { budget: { dailyTokens: 5 } });
  await one.blocks.reset('ada');
  await one.blocks.post('ada', { message: 'a' }, 'web');
  t.match(await pulseIn(one, 'ada', 'paused'), { reason: { message: /5 tokens spent today/ } });
  const { archiveName } = await one.blocks.archive('ada');
  await one.blocks.restore(archiveName, { name: 'bob' });
  await one.blocks.start('bob');
  t.match(await pulseIn(one, 'bob', 'paused'), { reason: { message: /5 tokens spent today/ } });
  t.equal(one.upstream.requests.length, 1);
});

t.test('the next day lifts a daily cap', async (t) => {
  let now = Date.parse('2026-11-20T23:59:59.900Z');
  const daemon = heldDaemon((call) => {
    call.say('Hello.');
    endAnswer(call.res, 100, 50);
  });
  const one = await startCore(t, { answer: daemon.answer, clock: () => now });
  await one.create('ada', { adapter: { ...RUNNABLE.adapter, maxTokens: 90 }, budget: { dailyTokens: 200 } });
  await one.blocks.start('ada');
  await one.ask('ada', 'hi');
  const { id } = await one.blocks.post('ada', { message: 'hi' }, 'web');
  t.match(await pulseIn(one, 'ada', 'paused'), { nextWakeUp: '2026-11-21T00:00:00.000Z' });
  now += 1000;
  await one.told('message.finished', { id, status: 'done' });
  t.match(one.readJson('ada', 'costs').budget, { state: 'ok', day: { key: '2026-11-21', tokens: 150 }, month: { tokens: 300 } });
});

t.test('an unknown timezone stops the block with a fix', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  await one.blocks.start('ada');
  one.write('ada', 'config', { ...one.readJson('ada', 'config'), budget: { dailyTokens: 1, timezone: 'Mars/Olympus' } });
  t.match(await pulseIn(one, 'ada', 'failed'), {
    reason: { code: 'BLOCK_DAMAGED', message: /budget\.timezone must be an IANA time zone such as UTC or Europe\/Berlin, not "Mars\/Olympus"/ },
  });
  await t.rejects(one.blocks.start('ada'), { code: 'BLOCK_DAMAGED', message: /budget\.timezone/ });
  t.equal(one.upstream.requests.length, 0, 'nothing was paid for');
});

t.test('an unknown provider is not a defect, with or without a cap', async (t) => {
  for (const budget of [{}, { dailyTokens: 100_000, dailyUsd: 1 }]) {
    const one = await startCore(t);
    await one.create('ada', { ...RUNNABLE, budget });
    await one.blocks.start('ada');
    one.write('ada', 'config', { ...one.readJson('ada', 'config'), adapter: { provider: 'nope', model: 'm' } });
    await one.blocks.post('ada', { message: 'hi' }, 'web');
    t.match(await pulseIn(one, 'ada', 'failed'), { reason: { code: 'INVALID_REQUEST', message: /nope/ }, restarts: 0 });
  }
});

const TOLD = { inputTokens: 10, outputTokens: 990 };
const FALLBACKS = ['second', 'third'].map((model) => ({ provider: 'stepped', model }));

/** A block before `steps`, whose calls may take 1000 tokens of the answer each. */
async function stepping(t: Parameters<typeof startCore>[0], steps: readonly Step[], config: object) {
  const adapter = steppedAdapter(steps, { missingCredential: () => undefined });
  const one = await startCore(t, { adapters: [adapter] });
  await one.create('ada', { adapter: { provider: 'stepped', model: 'first', maxTokens: 1000 }, ...config });
  return Object.assign(one, { adapter });
}

t.test('a fallback is not asked if the cost of the first call leaves no room under the cap', async (t) => {
  const refusal = new BlockhouseError('UPSTREAM_REJECTED', 'no', { upstreamStatus: 404, usage: { ...TOLD, totalTokens: 1000 } });
  const one = await stepping(t, [refusal], { fallbacks: FALLBACKS, budget: { dailyTokens: 1200 } });
  await one.blocks.start('ada');
  await one.blocks.post('ada', { message: 'hi' }, 'web');
  t.match(await pulseIn(one, 'ada', 'paused'), { reason: { code: 'BUDGET_REACHED', message: /1000 tokens spent today/ } });
  t.equal(one.adapter.calls.length, 1);
  t.match(await one.blocks.history('ada'), [{ status: 'queued', attempts: 0 }], 'it waits, and no attempt is counted');
});

t.test('a message that comes during a compaction waits for its end, and is answered if the cap leaves room', async (t) => {
  for (const [name, usage, state] of [
    ['it fits', { inputTokens: 3, outputTokens: 2 }, 'answered'],
    ['it does not', TOLD, 'paused'],
  ] as const) {
    await t.test(name, async (t) => {
      const held = gate();
      const summarise: Step = async (call) => {
        await held.opened;
        call.sink.emit([
          { type: 'text', text: 'Short.' },
          { type: 'usage', usage },
          { type: 'stop', stopReason: 'end_turn' },
        ]);
      };
      const one = await stepping(t, [summarise, HELLO], { memory: { keepMessages: 2 }, budget: { dailyTokens: 2000 } });
      one.write('ada', 'chat', [...pair('1'), ...pair('2'), ...pair('3')]);
      await one.blocks.start('ada');
      const compacted = one.blocks.compact('ada');
      await until('the summary is asked for', () => one.adapter.calls.length === 1);
      const { id } = await one.blocks.post('ada', { message: 'hi' }, 'web');
      t.match(await one.blocks.details('ada'), { pulse: { state: 'compacting', queue: { queued: 1 } } });
      t.equal(one.adapter.calls.length, 1, 'both together could pass the cap');
      held.open();
      await compacted;
      if (state === 'answered') await one.told('message.finished', { id, status: 'done' });
      else t.match(await pulseIn(one, 'ada', 'paused'), { reason: { code: 'BUDGET_REACHED' } });
      t.equal(one.adapter.calls.length, state === 'answered' ? 2 : 1);
    });
  }
});

t.test("no call is made while the ledger can't be written, and paid calls count once it can", async (t) => {
  const usage = { type: 'usage', usage: TOLD } as const;
  const one = await stepping(t, [[{ type: 'text', text: 'Hello' }, usage, { type: 'stop', stopReason: 'end_turn' }]], {
    budget: { dailyTokens: 5000 },
  });
  const ledger = join(one.workspace, 'ledger.jsonl');
  await one.blocks.start('ada');
  await one.ask('ada', 'hi');
  rmSync(ledger);
  mkdirSync(ledger);
  for (let count = 1; count <= 10; count += 1) {
    await one.blocks.post('ada', { message: 'again' }, 'web');
    await one.blocks.start('ada');
    await one.inState('ada', 'backoff');
  }
  t.equal(one.adapter.calls.length, 2, 'only the call that found it so');
  rmdirSync(ledger);
  await one.blocks.start('ada');
  await until('answers go on', () => one.factsOf('message.finished').length > 1);
  await pulseIn(one, 'ada', 'paused');
  t.equal(one.adapter.calls.length, 4, 'of five calls that fit, the last could pass the cap');
  t.match(one.readJson('ada', 'costs').budget.day, { tokens: 4000 });
});
