// How the window of a block's memory is moved, and moved back.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { estimateTokens } from '../../../../core/base/tokens.ts';
import type { BlockMemory } from '../../../../core/schemas/block-memory.ts';
import { pair } from '../../../support/block-files.ts';
import { RUNNABLE, type StartedCore, startCore } from '../../../support/blocks.ts';
import { type HeldCall, type HeldDaemon, heldDaemon } from '../../../support/held-daemon.ts';
import { type Step, steppedAdapter, untilAborted } from '../../../support/stepped-adapter.ts';
import { until } from '../../../support/until.ts';

const isSummary = (call: HeldCall): boolean => call.asked.messages[0]?.content.includes('You keep the memory') === true;
const FOUR = [...pair('1'), ...pair('2'), ...pair('3'), ...pair('4')];
/** Keeps one exchange. */
const KEEP = { ...RUNNABLE, memory: { maxContextTokens: 256, thresholdPercent: 50, keepMessages: 2 } };

/** A stopped block with four exchanges. */
async function remembering(
  t: Parameters<typeof startCore>[0],
  onCall?: Parameters<typeof heldDaemon>[0],
  config: object = KEEP,
): Promise<StartedCore & { daemon: HeldDaemon }> {
  const daemon = heldDaemon(onCall);
  const one = await startCore(t, { answer: daemon.answer });
  await one.create('ada', config);
  one.write('ada', 'chat', FOUR);
  return Object.assign(one, { daemon });
}

const memoryIn = (one: StartedCore): BlockMemory => one.readJson('ada', 'memory');

t.test('messages that leave the window are summarised, nothing is deleted, and facts stay unchanged', async (t) => {
  const one = await remembering(t, (call) => call.answer(' They counted to three. '));
  const fact = await one.blocks.addFact('ada', { text: 'The sky is green.' });
  const memory = await one.blocks.compact('ada');
  t.match(memory, { summary: 'They counted to three.', summaryUpdatedAt: String, compactionCount: 1, window: { firstKeptId: '4', messages: 2 } });
  t.match(memory.compactions, [
    {
      trigger: 'manual',
      outcome: 'summarized',
      messages: 6,
      model: 'm',
      costUsd: 0,
      previousSummary: '',
      previousFirstKeptId: null,
      tokensBefore: Number,
      tokensAfter: Number,
    },
  ]);
  t.strictSame(memory.facts, [fact]);
  t.strictSame(memoryIn(one), memory, 'as it stands on disk');
  t.equal((await one.blocks.history('ada')).length, 8);
  t.match(one.daemon.calls[0]?.asked.messages[1]?.content, /question 1.*answer 3a/s);
  t.notMatch(one.daemon.calls[0]?.asked.messages[1]?.content, /question 4/);
  t.match(one.readJson('ada', 'costs'), { calls: 1, byPurpose: { summary: { calls: 1, input: 3 } }, lastCall: { messageId: null } });
  t.match(one.factsOf('memory.compacted'), [{ block: 'ada', outcome: 'summarized', trigger: 'manual' }]);
  t.match(one.factsOf('call.billed'), [{ purpose: 'summary' }]);
});

t.test('the next summary builds on the previous one, and each can be undone', async (t) => {
  const one = await remembering(t, (_call) => _call.answer(`Summary ${one.daemon.calls.length}.`));
  await one.blocks.compact('ada');
  one.write('ada', 'chat', [...FOUR, ...pair('5')]);
  const second = await one.blocks.compact('ada');
  t.match(one.daemon.calls[1]?.asked.messages[1]?.content, /Summary 1\..*question 4/s);
  t.match(second, { summary: 'Summary 2.', window: { firstKeptId: '5' }, compactionCount: 2 });
  t.match(await one.blocks.undoCompaction('ada'), { summary: 'Summary 1.', window: { firstKeptId: '4', messages: 4 }, compactions: [{}, { undone: true }] });
  t.match(await one.blocks.undoCompaction('ada'), { summary: '', window: { firstKeptId: null, messages: 10 } });
  await t.rejects(one.blocks.undoCompaction('ada'), { code: 'WRONG_STATE' });
});

t.test('a memory with nothing to compact is not changed', async (t) => {
  const one = await remembering(t, undefined, { ...RUNNABLE, memory: { keepMessages: 8 } });
  t.match(await one.blocks.compact('ada'), { compactionCount: 0, compactions: [] });
  t.equal(one.daemon.calls.length, 0);
});

t.test('a failed summary is recorded, and the window does not move', async (t) => {
  for (const [name, refuse, code] of [
    ['refused', (call: HeldCall) => call.refuse(400, 'no'), /REJECTED|INVALID/],
    ['empty', (call: HeldCall) => call.answer('  '), /MALFORMED/],
  ] as const) {
    await t.test(name, async (t) => {
      const one = await remembering(t, refuse);
      await t.rejects(one.blocks.compact('ada'), { code });
      t.match(memoryIn(one), {
        summary: '',
        compactionCount: 0,
        window: { firstKeptId: null },
        compactions: [{ outcome: 'failed', trigger: 'manual', model: 'm' }],
      });
      await t.rejects(one.blocks.undoCompaction('ada'), { code: 'WRONG_STATE' });
    });
  }
});

t.test('a fallback summarises when the first model fails', async (t) => {
  const one = await remembering(t, (call) => (call.asked.model === 'm' ? call.refuse(400, 'no') : call.answer('Short.')), {
    ...KEEP,
    fallbacks: [{ provider: 'ollama', model: 'second' }],
  });
  t.match((await one.blocks.compact('ada')).compactions, [{ outcome: 'summarized', model: 'second' }]);
});

t.test('neither an exhausted budget nor the kill switch allows a summary', async (t) => {
  const one = await remembering(t, undefined, { ...KEEP, budget: { dailyTokens: 10 } });
  await t.rejects(one.blocks.compact('ada'), { code: 'WRONG_STATE', message: /budget/ });
  await one.blocks.halt({ reason: 'Too dear' });
  await t.rejects(one.blocks.compact('ada'), { code: 'WRONG_STATE', message: /Too dear/ });
  t.equal(one.daemon.calls.length, 0);
  t.equal(memoryIn(one).compactions.length, 1, 'the switch is no failure of the model');
});

t.test('all that a summary reads counts towards the caps: what it is to do, and what it summarises', async (t) => {
  const one = await remembering(t, (call) => call.answer('Short.'), { ...KEEP, adapter: { ...RUNNABLE.adapter, maxTokens: 10 } });
  await one.blocks.compact('ada');
  const asked = one.daemon.calls[0]?.asked.messages ?? [];
  t.strictSame(
    asked.map(({ role }) => role),
    ['system', 'user'],
  );
  const spent = 3 + 2;
  const needed = asked.reduce((sum, { content }) => sum + estimateTokens(content), 0) + 10;
  await one.blocks.undoCompaction('ada');
  await one.blocks.updateConfig('ada', { budget: { dailyTokens: spent + needed - 1 } });
  await t.rejects(one.blocks.compact('ada'), { code: 'WRONG_STATE', message: /budget/ });
  t.equal(one.daemon.calls.length, 1);
  await one.blocks.updateConfig('ada', { budget: { dailyTokens: spent + needed } });
  t.match(await one.blocks.compact('ada'), { summary: 'Short.' });
});

t.test('once the kill switch is set, no fallback is asked for a summary', async (t) => {
  const one = await remembering(t, undefined, { ...KEEP, fallbacks: [{ provider: 'ollama', model: 'second' }] });
  const compacted = t.rejects(one.blocks.compact('ada'), { code: 'WRONG_STATE', message: /Too dear/ });
  const call = await one.daemon.call(0);
  await one.blocks.halt({ reason: 'Too dear' });
  call.refuse(400, 'no');
  await compacted;
  t.equal(one.daemon.calls.length, 1);
  t.strictSame(memoryIn(one).compactions, [], 'the switch is no failure of the model');
});

t.test('a second compaction at the same time is refused, and a later one is not', async (t) => {
  const one = await remembering(t);
  const compacted = one.blocks.compact('ada');
  await t.rejects(one.blocks.compact('ada'), { code: 'WRONG_STATE', message: /being summarised/ });
  (await one.daemon.call(0)).answer('Short.');
  await compacted;
  t.match(await one.blocks.compact('ada'), { compactionCount: 1 });
  t.equal(one.daemon.calls.length, 1);
});

t.test("a block without a model can't summarise", async (t) => {
  const one = await remembering(t, undefined, { memory: KEEP.memory });
  await t.rejects(one.blocks.compact('ada'), { code: 'ADAPTER_NOT_CONFIGURED' });
});

t.test('a compaction by hand is shown only while it lasts, with or without a monitor', async (t) => {
  for (const [isRunning, before] of [
    [true, 'idle'],
    [false, 'stopped'],
  ] as const) {
    await t.test(before, async (t) => {
      const one = await remembering(t);
      if (isRunning) await one.blocks.start('ada');
      const compacted = one.blocks.compact('ada');
      const call = await one.daemon.call(0);
      await until('it is shown', () => one.readJson('ada', 'pulse').currentTask?.phase === 'compacting');
      t.match(one.factsOf('block.transitioned').at(-1), { block: 'ada', from: before, to: 'compacting' });
      t.match((await one.blocks.list())[0], { state: 'compacting', status: 'BUSY' });
      t.match(await one.blocks.explain('ada'), { state: 'compacting', why: /being summarised/ });
      t.match((await one.blocks.details('ada')).pulse, { state: 'compacting', currentTask: { phase: 'compacting' } });
      call.answer('Short.');
      await compacted;
      await until('it is over', () => one.readJson('ada', 'pulse').currentTask === null);
      t.match((await one.blocks.details('ada')).pulse, { state: before, currentTask: null });
      t.match(one.factsOf('block.transitioned').at(-1), { from: 'compacting', to: before });
    });
  }
});

t.test('a message that comes during a compaction by hand is answered after it', async (t) => {
  const one = await remembering(t, (call) => (isSummary(call) ? undefined : call.answer('Hello.')));
  await one.blocks.start('ada');
  const compacted = one.blocks.compact('ada');
  const call = await one.daemon.call(0);
  const { id } = await one.blocks.post('ada', { message: 'hi' }, 'web');
  t.match(await one.blocks.explain('ada'), { state: 'compacting', queue: { queued: 1 }, next: /will answer the next message/ });
  t.equal(one.daemon.calls.length, 1);
  call.answer('Short.');
  t.match(await compacted, { summary: 'Short.' });
  await one.told('message.finished', { id, status: 'done' });
});

t.test('a memory that was reset in the meantime is not moved', async (t) => {
  const one = await remembering(t);
  const compacted = one.blocks.compact('ada');
  const call = await one.daemon.call(0);
  await one.blocks.reset('ada');
  call.answer('Old things.');
  await t.rejects(compacted, { code: 'WRONG_STATE', message: /the summary was discarded/ });
  t.match(memoryIn(one), { summary: '', compactions: [] });
});

t.test('a server that stops ends a summary by hand, and nothing is written', async (t) => {
  const one = await remembering(t);
  const compacted = t.rejects(one.blocks.compact('ada'), { code: /CANCELLED|SHUTTING_DOWN/ });
  await one.daemon.call(0);
  await one.core.close();
  await compacted;
  t.strictSame(memoryIn(one).compactions, []);
});

/** The purposes of the calls in the ledger; null for what is no call. */
const billedIn = (one: StartedCore): unknown[] =>
  readFileSync(join(one.workspace, 'ledger.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).purpose ?? null);

t.test('the cost of a summary is recorded even when the server or an archive ends it', async (t) => {
  const ends = {
    server: (one: StartedCore) => one.core.close(),
    archive: async ({ blocks }: StartedCore) => {
      const { archiveName } = await blocks.archive('ada');
      await blocks.restore(archiveName, { name: 'bob' });
    },
  };
  for (const [name, end] of Object.entries(ends)) {
    await t.test(name, async (t) => {
      const half: Step = async (call) => {
        call.sink.emit([{ type: 'text', text: 'The summary so far' }]);
        await untilAborted(call);
      };
      const adapter = steppedAdapter([half], { missingCredential: () => undefined });
      const one = await startCore(t, { adapters: [adapter] });
      await one.create('ada', { ...KEEP, adapter: { provider: 'stepped', model: 'm' } });
      one.write('ada', 'chat', FOUR);
      const compacted = t.rejects(one.blocks.compact('ada'), { code: /CANCELLED|SHUTTING_DOWN/ });
      await until('some text has come', () => adapter.calls.length === 1);
      await end(one);
      await compacted;
      t.strictSame(billedIn(one), name === 'server' ? ['summary'] : ['summary', null], 'before the other name takes it over');
      t.match(JSON.parse(readFileSync(one.folder(name === 'server' ? 'ada' : 'bob', 'costs.json'), 'utf8')), { byPurpose: { summary: { calls: 1 } } });
    });
  }
});

t.test('an overfull window moves without a summary if none can be made, and messages are still answered', async (t) => {
  const one = await remembering(t, (call) => (isSummary(call) ? call.refuse(500, 'broken') : call.answer('A long answer. '.repeat(80))));
  await one.blocks.start('ada');
  await one.blocks.post('ada', { message: 'hi' }, 'web');
  await one.told('memory.compacted', { outcome: 'evicted', trigger: 'overflow' });
  t.match(await one.ask('ada', 'and now?'), { status: 'done' });
  const { compactions, summary, compactionCount } = memoryIn(one);
  t.match(compactions[0], { trigger: 'overflow', outcome: 'evicted', previousSummary: '' });
  t.equal(summary, '');
  t.ok(compactionCount >= 1);
  t.match(
    one.factsOf('block.transitioned').map(({ to }) => to),
    ['starting', 'idle', 'working', 'compacting'],
  );
});

t.test('a window past its threshold stays unchanged if its summary fails, and messages are still answered', async (t) => {
  const one = await remembering(t, (call) => (isSummary(call) ? call.refuse(500, 'broken') : call.answer('An answer. '.repeat(30))));
  await one.blocks.start('ada');
  await one.blocks.post('ada', { message: 'hi' }, 'web');
  await one.told('memory.compacted', { outcome: 'failed', trigger: 'threshold' });
  t.match(await one.ask('ada', 'and now?'), { status: 'done' });
  t.match(memoryIn(one).compactions[0], { outcome: 'failed', tokensBefore: Number });
});

t.test('a stop ends a summary, and nothing is written', async (t) => {
  const one = await remembering(t, (call) => (isSummary(call) ? undefined : call.answer('An answer. '.repeat(30))));
  await one.blocks.start('ada');
  await one.blocks.post('ada', { message: 'hi' }, 'web');
  await one.told('block.transitioned', { to: 'compacting' });
  const call = await one.daemon.call(1);
  await one.blocks.stop('ada');
  await until('the provider is left alone', () => call.isClosed);
  t.strictSame(memoryIn(one).compactions, []);
});

t.test('the last twenty compactions are kept', async (t) => {
  const one = await remembering(t, (call) => call.refuse(400, 'no'));
  for (let count = 0; count < 22; count += 1) await t.rejects(one.blocks.compact('ada'));
  t.equal(memoryIn(one).compactions.length, 20);
});
