// What is written down after a call.
import t from 'tap';
import { RUNNABLE, startCore } from '../../../support/blocks.ts';
import { heldDaemon } from '../../../support/held-daemon.ts';
import { HELLO, steppedAdapter } from '../../../support/stepped-adapter.ts';
import { until } from '../../../support/until.ts';

t.test('a call is in costs.json by model, day and purpose before its answer is reported', async (t) => {
  const adapters = [steppedAdapter([HELLO], { missingCredential: () => undefined, pricesAs: 'openai' })];
  const one = await startCore(t, { adapters });
  await one.create('ada', { adapter: { provider: 'stepped', model: 'gpt-4o' } });
  await one.blocks.start('ada');
  const seen: number[] = [];
  one.core.events.on('message.finished', () => seen.push(one.readJson('ada', 'costs').calls));
  const answer = await one.ask('ada', 'hi');
  t.strictSame(seen, [1]);
  const costs = one.readJson('ada', 'costs');
  const day = answer.timestamp.slice(0, 10);
  t.ok((answer.costUsd ?? 0) > 0);
  t.match(costs, { calls: 1, totalInput: 3, totalOutput: 2, sessionInput: 3, totalCost: answer.costUsd, unpricedCalls: 0 });
  t.match(costs, { byModel: { 'stepped/gpt-4o': { calls: 1 } }, byDay: { [day]: { calls: 1 } }, byPurpose: { chat: { calls: 1 } } });
  t.match(costs.lastCall, { provider: 'stepped', model: 'gpt-4o', costUsd: answer.costUsd, messageId: answer.replyTo });
  t.match(costs.budget, { state: 'ok', day: { tokens: 5, usd: answer.costUsd } }, 'known without a cap, too');
  t.match((await one.blocks.costs({ by: 'model' })).rows, [{ key: 'stepped/gpt-4o', calls: 1, costUsd: answer.costUsd }]);
});

t.test('if caps are set, costs.json shows their state after the call', async (t) => {
  const one = await startCore(t);
  await one.create('ada', { ...RUNNABLE, adapter: { ...RUNNABLE.adapter, maxTokens: 10 }, budget: { dailyTokens: 100, warnAt: 0.05 } });
  await one.blocks.start('ada');
  await one.ask('ada', 'hi');
  t.match(one.readJson('ada', 'costs').budget, { state: 'warn', day: { tokens: 5, usd: 0 } });
});

t.test('a new run resets the counts of the session', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  await one.blocks.start('ada');
  await one.ask('ada', 'hi');
  await one.blocks.restart('ada');
  t.match(one.readJson('ada', 'costs'), { sessionInput: 0, totalInput: 3 });
});

t.test('the window is counted after each answer', async (t) => {
  const daemon = heldDaemon((call) => call.answer('Hello.'));
  const one = await startCore(t, { answer: daemon.answer });
  await one.create('ada', { ...RUNNABLE, memory: { maxContextTokens: 1000 } });
  await one.blocks.start('ada');
  await one.ask('ada', 'hi');
  await until('it is counted', () => one.readJson('ada', 'memory').window.messages === 2);
  const { window, compactionCount } = one.readJson('ada', 'memory');
  t.ok(window.tokens > 0);
  t.equal(window.percent, Math.round((window.tokens / 1000) * 1000) / 10);
  t.equal(compactionCount, 0);
});
