import t from 'tap';
import { SpendDays } from '../../../../core/store/parts/spend-days.ts';

const call = (day: string, fields: object = {}) => ({
  at: `${day}T12:00:00.000Z`,
  key: 'app',
  usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 },
  costUsd: 0.5,
  ...fields,
});

t.test('calls are summed by day and key; one of which nothing is known, and one without a key, are not', async (t) => {
  const days = new SpendDays();
  days.count(call('2026-11-22'));
  days.count(call('2026-11-22', { costUsd: null, usage: { inputTokens: 9, outputTokens: 0, totalTokens: 9 } }));
  days.count(call('2026-11-22', { usage: null }));
  days.count(call('2026-11-22', { key: null }));
  days.count(call('2026-11-23'));
  t.same(days.spent('2026-11-22', 'app'), { usd: 0.5, tokens: 24, calls: 2, unpricedCalls: 1 });
  t.same(days.spent('2026-11-23', 'app'), { usd: 0.5, tokens: 15, calls: 1, unpricedCalls: 0 });
  t.same(days.spent('2026-11-24', 'app'), { usd: 0, tokens: 0, calls: 0, unpricedCalls: 0 });
  t.equal(days.meanOutput('app'), 5);
  t.equal(days.meanOutput('other'), undefined);
  const copy = new SpendDays();
  copy.addAll(days);
  t.same([...copy.rows()], [...days.rows()]);
});

t.test('the mean output is that of answers whose output was told', async (t) => {
  const days = new SpendDays();
  days.count(call('2026-11-22', { usage: { inputTokens: 10, outputTokens: 1, totalTokens: 11, estimated: true } }));
  t.equal(days.meanOutput('app'), undefined);
  days.count(call('2026-11-22'));
  t.equal(days.meanOutput('app'), 5);
});

t.test('a name that every object has is a key like any other', async (t) => {
  const days = new SpendDays();
  days.count(call('2026-11-22', { key: 'constructor' }));
  t.equal(days.spent('2026-11-22', 'constructor').tokens, 15);
  t.equal(days.spent('2026-11-22', 'tostring').tokens, 0);
});

t.test('the days that were counted longest ago are dropped, and a day to which the clock comes back is not', async (t) => {
  const days = new SpendDays();
  days.count(call('2026-11-01'));
  for (let day = 10; day < 17; day += 1) days.count(call(`2026-11-${day}`));
  days.count(call('2026-11-01'));
  for (let day = 20; day < 27; day += 1) days.count(call(`2026-11-${day}`));
  t.equal(days.spent('2026-11-01', 'app').calls, 2);
  t.equal(days.spent('2026-11-16', 'app').calls, 0);
});

t.test('nothing that a call says lowers a sum', async (t) => {
  const spent = new SpendDays();
  const count = (tokens: number, costUsd: number) =>
    spent.count(call('2026-11-22', { usage: { inputTokens: 0, outputTokens: tokens, totalTokens: tokens }, costUsd }));
  count(100, 1);
  for (const wrong of [-5000, Number.NaN, Number.POSITIVE_INFINITY]) count(wrong, wrong);
  t.same(spent.spent('2026-11-22', 'app'), { usd: 1, tokens: 100, calls: 4, unpricedCalls: 0 });
  t.equal(spent.meanOutput('app'), 100);
});
