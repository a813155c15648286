import t from 'tap';
import { addBucket, addCall, type BilledCall, bucketOf, emptyBucket, noCosts, startSession } from '../../../../core/block/costs/costs.ts';
import { type BlockCosts, CostsFile } from '../../../../core/schemas/block-costs.ts';
import type { Usage } from '../../../../core/schemas/chat.ts';
import { compile } from '../../../../core/schemas/validate.ts';

const check = compile(CostsFile);
const usage = (inputTokens: number, outputTokens: number, rest: Partial<Usage> = {}): Usage => ({
  inputTokens,
  outputTokens,
  totalTokens: inputTokens + outputTokens,
  ...rest,
});

function call(fields: Partial<BilledCall> = {}): BilledCall {
  return {
    at: '2026-11-20T14:03:22.123Z',
    messageId: 'm1',
    provider: 'p',
    model: 'm',
    purpose: 'chat',
    usage: usage(100, 10),
    costUsd: 0.5,
    latencyMs: 1200,
    ttftMs: 300,
    failed: false,
    ...fields,
  };
}

const add = (...calls: Partial<BilledCall>[]): BlockCosts => calls.reduce((costs, fields) => addCall(costs, call(fields)), noCosts());

t.test('each new file is valid and an object of its own', async (t) => {
  t.doesNotThrow(() => check(noCosts()));
  t.not(noCosts().byDay, noCosts().byDay);
  t.not(noCosts().budget, noCosts().budget);
});

t.test('a call is counted in all sums', async (t) => {
  const costs = add({ usage: usage(100, 10, { cacheReadTokens: 60, cacheWriteTokens: 30 }) });
  const bucket = { calls: 1, input: 100, output: 10, cacheRead: 60, cacheWrite: 30, costUsd: 0.5, unpricedCalls: 0 };
  t.doesNotThrow(() => check(costs));
  t.strictSame(costs, {
    ...noCosts(),
    totalInput: 100,
    totalOutput: 10,
    totalCost: 0.5,
    sessionInput: 100,
    sessionOutput: 10,
    sessionCost: 0.5,
    calls: 1,
    byModel: { 'p/m': bucket },
    byDay: { '2026-11-20': bucket },
    byPurpose: { chat: bucket },
    answersByHour: { '2026-11-20T14': 1 },
    lastCall: {
      at: '2026-11-20T14:03:22.123Z',
      messageId: 'm1',
      provider: 'p',
      model: 'm',
      usage: usage(100, 10, { cacheReadTokens: 60, cacheWriteTokens: 30 }),
      costUsd: 0.5,
      latencyMs: 1200,
      ttftMs: 300,
    },
    lastUpdated: '2026-11-20T14:03:22.123Z',
  });
});

t.test('calls add up by model, day and purpose, and the old object is not changed', async (t) => {
  const before = add({});
  const frozen = structuredClone(before);
  const costs = [call({ model: 'n', purpose: 'summary', failed: true }), call({ at: '2026-11-21T00:00:00.000Z' })].reduce(addCall, before);
  t.strictSame(before, frozen);
  t.match(costs, { calls: 3, failedCalls: 1, totalInput: 300, totalOutput: 30, totalCost: 1.5 });
  t.match(costs.byModel, { 'p/m': { calls: 2 }, 'p/n': { calls: 1 } });
  t.match(costs.byDay, { '2026-11-20': { calls: 2 }, '2026-11-21': { calls: 1 } });
  t.match(costs.byPurpose, { chat: { calls: 2 }, summary: { calls: 1 } });
});

t.test('answers are counted by the hour, without summaries and failures, and the newest hours are kept', async (t) => {
  t.strictSame(add({}, {}, { purpose: 'summary' }, { failed: true }, { at: '2026-11-20T15:00:00.000Z' }).answersByHour, {
    '2026-11-20T14': 2,
    '2026-11-20T15': 1,
  });
  const at = (hour: number) => ({ at: new Date(Date.UTC(2026, 10, 20, hour)).toISOString() });
  const hours = Array.from({ length: 60 }, (_, hour) => at(hour));
  for (const calls of [hours, hours.toReversed()]) {
    const kept = Object.keys(add(...calls).answersByHour);
    t.equal(kept.length, 48);
    t.equal(kept.at(-1), '2026-11-22T11');
  }
});

t.test('the cost stays unknown until a call has a price', async (t) => {
  t.match(add({ costUsd: null }), { totalCost: null, sessionCost: null, unpricedCalls: 1, lastCall: { costUsd: null } });
  t.match(add({ costUsd: null }, { costUsd: 0.25 }, { costUsd: null }), {
    totalCost: 0.25,
    unpricedCalls: 2,
    byModel: { 'p/m': { costUsd: 0.25, unpricedCalls: 2 } },
  });
  t.equal(add({ costUsd: 0 }).totalCost, 0, 'a known zero is a price');
  t.match(add({ usage: null, costUsd: null }), { calls: 1, totalInput: 0, unpricedCalls: 1, lastCall: { usage: null } });
});

t.test('totals are never NaN, negative or smaller than before', async (t) => {
  const odd = [-5, 0.5, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 2 ** 60, '12' as unknown as number, null as unknown as number];
  const start = add({ usage: usage(7, 3, { cacheReadTokens: 2 }) });
  for (const value of odd) {
    for (const field of ['inputTokens', 'outputTokens', 'cacheReadTokens', 'cacheWriteTokens'] as const) {
      const costs = addCall(start, call({ usage: { ...usage(1, 1), [field]: value } }));
      t.match(costs, { totalCost: 0.5, calls: 2, unpricedCalls: 1, lastCall: { usage: null } }, `${field} ${value}`);
      t.ok(costs.totalInput >= 7 && costs.totalOutput >= 3);
      t.doesNotThrow(() => check(JSON.parse(JSON.stringify(costs))));
    }
    if (typeof value === 'number')
      t.match(
        addCall(start, call({ costUsd: value === 0.5 ? -0.1 : value < 1e18 ? value : Number.NaN })),
        { totalCost: 0.5, unpricedCalls: 1 },
        `costUsd ${value}`,
      );
  }
});

t.test('a count stops at the largest safe integer', async (t) => {
  const full = add(
    { usage: usage(Number.MAX_SAFE_INTEGER, 0) },
    { usage: usage(Number.MAX_SAFE_INTEGER, 1), costUsd: Number.MAX_VALUE },
    { costUsd: Number.MAX_VALUE },
  );
  t.match(full, { totalInput: Number.MAX_SAFE_INTEGER, totalOutput: 11, totalCost: Number.MAX_VALUE });
});

t.test('a damaged count in the file counts as zero', async (t) => {
  const costs = addCall({ ...noCosts(), totalInput: Number.NaN, totalCost: -1 }, call());
  t.match(costs, { totalInput: 100, totalCost: 0.5 });
});

t.test('a model named like a property of all objects is an ordinary key', async (t) => {
  const costs = add({ provider: '__proto__', model: 'x' }, { at: '__proto__' });
  t.same(Object.keys(costs.byModel), ['__proto__/x', 'p/m']);
  t.ok(Object.hasOwn(costs.byDay, '__proto__'));
  t.equal(({} as Record<string, unknown>)['calls'], undefined);
});

t.test('the newest 90 days are kept, in whatever order the calls come', async (t) => {
  let costs = noCosts();
  const days = Array.from({ length: 100 }, (_, n) => new Date(Date.UTC(2026, 0, 1 + n)).toISOString());
  for (const at of [...days.slice(50), ...days.slice(0, 50)]) costs = addCall(costs, call({ at }));
  t.same(
    Object.keys(costs.byDay),
    days.slice(10).map((at) => at.slice(0, 10)),
  );
  t.equal(costs.calls, 100, 'the totals keep all');
});

t.test('a new session resets its own counts and keeps the others', async (t) => {
  const costs = startSession(add({}));
  t.match(costs, { sessionInput: 0, sessionOutput: 0, sessionCost: null, totalInput: 100, totalCost: 0.5, calls: 1 });
  t.match(addCall(costs, call()), { sessionInput: 100, sessionCost: 0.5, totalCost: 1 });
});

t.test('the state of the budget is the newest known one', async (t) => {
  const budget = { day: { usd: 1, tokens: 2 }, month: { usd: 3, tokens: 4 }, state: 'warn' as const };
  t.same(add({ budget }, {}).budget, budget);
});

t.test('buckets add up', async (t) => {
  t.strictSame(addBucket(emptyBucket(), emptyBucket()), emptyBucket());
  const a = bucketOf(usage(1, 2, { cacheReadTokens: 1 }), 0.5);
  const b = bucketOf(usage(10, 20), null);
  t.strictSame(addBucket(a, b), { calls: 2, input: 11, output: 22, cacheRead: 1, cacheWrite: 0, costUsd: 0.5, unpricedCalls: 1 });
  t.strictSame(addBucket(b, a), addBucket(a, b));
});

t.test('a clock that was set back does not make the counts look older', async (t) => {
  t.match(add({}, { at: '2026-11-20T13:00:00.000Z' }), { lastUpdated: '2026-11-20T14:03:22.123Z', lastCall: { at: '2026-11-20T13:00:00.000Z' } });
});
