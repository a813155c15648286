import t from 'tap';
import { checkedFigures, type Figures } from '../../../../core/keys/key-limits.ts';
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
  t.match(days.spent('2026-11-22', 'app').day, { usd: 0.5, tokens: 24, calls: 2, unpricedCalls: 1 });
  t.match(days.spent('2026-11-23', 'app').day, { usd: 0.5, tokens: 15, calls: 1, unpricedCalls: 0 });
  t.match(days.spent('2026-11-24', 'app').day, { usd: 0, tokens: 0, calls: 0, unpricedCalls: 0 });
  days.count(call('2026-11-21'));
  t.equal(days.spent('2026-11-24', 'app').lastDay, '2026-11-23', 'the newest day, whichever was counted last');
  t.equal(days.spent('2026-11-24', 'other').lastDay, null);
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
  t.equal(days.spent('2026-11-22', 'constructor').day.tokens, 15);
  t.equal(days.spent('2026-11-22', 'tostring').day.tokens, 0);
});

t.test('a week is from Monday to Sunday, a month by its name, and both grow with each call', async (t) => {
  const days = new SpendDays();
  const tokens = (day: string) => Object.values(days.spent(day, 'app')).flatMap((sums) => (typeof sums === 'object' ? [sums.tokens] : []));
  for (const day of ['2026-10-31', '2026-11-01', '2026-11-16', '2026-11-22', '2026-11-23', '2026-11-30', '2026-12-01']) days.count(call(day));
  t.same(tokens('2026-11-22'), [15, 30, 75], 'day, week, month');
  days.count(call('2026-11-22'));
  days.count(call('2026-11-17'));
  t.same(tokens('2026-11-22'), [30, 60, 105]);
  t.same(tokens('2026-12-01'), [15, 30, 15], 'a week in two months');
  t.same(tokens('2026-11-01'), [15, 30, 105], 'asked for in any order');
});

t.test('a call counts for its key and for the group in which the key was', async (t) => {
  const days = new SpendDays();
  days.count(call('2026-11-22', { group: 'team' }));
  days.count(call('2026-11-22', { key: 'other', group: 'team' }));
  days.count(call('2026-11-22'));
  t.equal(days.spent('2026-11-22', 'group:team').month.tokens, 30);
  t.equal(days.spent('2026-11-22', 'app').month.tokens, 30);
  t.same(JSON.parse(days.text())['2026-11-22']['group:team'].calls, 2);
});

t.test('the days that were counted longest ago are dropped, and a day to which the clock comes back is not', async (t) => {
  const days = new SpendDays();
  const date = (number: number) => new Date(Date.UTC(2026, 10, number)).toISOString().slice(0, 10);
  days.count(call('2026-11-01'));
  for (let day = 10; day < 73; day += 1) days.count(call(date(day)));
  days.count(call('2026-11-01'));
  t.equal(days.spent(date(10), 'app').day.calls, 1);
  for (let day = 80; day < 143; day += 1) days.count(call(date(day)));
  t.equal(days.spent('2026-11-01', 'app').day.calls, 2);
  t.equal(days.spent(date(72), 'app').day.calls, 0);
  t.equal(Object.keys(JSON.parse(days.text())).length, 64);
  t.equal(days.meanOutput('app'), 5);
});

t.test('nothing that a call says lowers a sum', async (t) => {
  const spent = new SpendDays();
  const count = (tokens: number, costUsd: number) =>
    spent.count(call('2026-11-22', { usage: { inputTokens: 0, outputTokens: tokens, totalTokens: tokens }, costUsd }));
  count(100, 1);
  for (const wrong of [-5000, Number.NaN, Number.POSITIVE_INFINITY]) count(wrong, wrong);
  t.match(spent.spent('2026-11-22', 'app').day, { usd: 1, tokens: 100, calls: 4, unpricedCalls: 0 });
  t.equal(spent.meanOutput('app'), 100);
});

t.test('a cap is far while less than half of it would be used up by what was spent and twice what is under way', async (t) => {
  const days = new SpendDays();
  const caps = (figures: Partial<Figures>) => ({ kind: 'key' as const, name: 'app', ...checkedFigures(figures) });
  const account = days.account('app');
  /** How many tokens, and hundredths of as many USD, may be under way. */
  const mostUnderWay = (of: ReturnType<typeof caps>, day = '2026-11-25'): number => {
    let tokens = 0;
    while (tokens < 500 && days.isFar(account, of, day, { usd: tokens / 100, tokens })) tokens += 1;
    return tokens - 1;
  };
  const [ofDay, ofMonth, usdOfDay] = [caps({ tokensPerDay: 200 }), caps({ tokensPerDay: 200, tokensPerMonth: 100 }), caps({ usdPerDay: 4 })];
  t.same([mostUnderWay(ofDay), mostUnderWay(ofMonth), mostUnderWay(usdOfDay), mostUnderWay(caps({}))], [49, 24, 99, 499]);
  days.count(call('2026-11-24'));
  t.same([mostUnderWay(ofDay), mostUnderWay(ofMonth), mostUnderWay(usdOfDay)], [49, 17, 99], 'another day counts for the month alone');
  days.count(call('2026-11-25'));
  days.count(call('2026-11-25'));
  t.same([mostUnderWay(ofDay), mostUnderWay(usdOfDay), mostUnderWay(ofMonth)], [34, 49, 2]);
  t.equal(mostUnderWay(ofMonth), 2);
  days.count(call('2026-11-25'));
  t.equal(mostUnderWay(ofMonth), -1, 'counted at once, by the same caps as before');
  t.same([mostUnderWay(ofDay), mostUnderWay(ofDay, '2026-11-26'), mostUnderWay(ofDay, '2026-11-24')], [27, 49, 42], 'whatever day it is');
});

t.test('caps with the same figures are the same object for all keys of a group', async (t) => {
  const days = new SpendDays();
  const caps = (tokensPerDay: number) => ({ kind: 'group' as const, name: 'team', ...checkedFigures({ tokensPerDay }) });
  const [account, first] = [days.account('group:team'), caps(100)];
  t.equal(days.sharedCaps(account, first), first);
  days.isFar(account, first, '2026-11-25', { usd: 0, tokens: 0 });
  t.equal(days.sharedCaps(account, caps(100)), first);
  const other = caps(50);
  t.equal(days.sharedCaps(account, other), other);
});
