import t from 'tap';
import { capMeaning, unpricedOf } from '../../../../transports/dashboard/data/caps.ts';

const NOON = Date.parse('2026-11-23T12:00:00Z');
const STAND = { day: { usd: 2, tokens: 600, key: '2026-11-23' }, month: { usd: 30, tokens: 9000, key: '2026-11' }, state: 'ok' } as const;

t.test('a cap stands beside what is spent of it, and when it is reached at this pace', async (t) => {
  t.same(capMeaning('budget.dailyUsd', 3, STAND, 'UTC', NOON), { spent: 2, isReached: false, reachedAt: NOON + 6 * 3_600_000 });
  t.same(capMeaning('budget.dailyTokens', 900, STAND, 'UTC', NOON), { spent: 600, isReached: false, reachedAt: NOON + 6 * 3_600_000 });
  t.same(capMeaning('budget.monthlyUsd', 40, STAND, 'UTC', NOON), { spent: 30, isReached: false, reachedAt: undefined });
});

t.test('a cap below what is spent would pause the block at once', async (t) => {
  t.match(capMeaning('budget.dailyUsd', 1, STAND, 'UTC', NOON), { isReached: true, reachedAt: undefined });
  t.match(capMeaning('budget.monthlyUsd', 30, STAND, 'UTC', NOON), { isReached: true });
  t.match(capMeaning('budget.dailyUsd', 0, { ...STAND, day: { ...STAND.day, usd: 0 } }, 'UTC', NOON), { isReached: true });
});

t.test('without a cap there is only what is spent', async (t) => {
  t.same(capMeaning('budget.dailyUsd', null, STAND, 'UTC', NOON), { spent: 2, isReached: false, reachedAt: undefined });
});

t.test('what was counted on another day, or in another month, of the zone is over', async (t) => {
  const late = Date.parse('2026-11-30T23:30:00Z');
  t.match(capMeaning('budget.dailyUsd', 1, STAND, 'UTC', late), { spent: 0, isReached: false });
  t.match(capMeaning('budget.monthlyUsd', 40, STAND, 'UTC', late), { spent: 30 });
  t.match(capMeaning('budget.monthlyUsd', 40, STAND, 'Asia/Tokyo', late), { spent: 0 });
});

t.test('calls without a price are counted for the day and for the month', async (t) => {
  const sums = { calls: 3, input: 1, output: 1, cacheRead: 0, cacheWrite: 0, costUsd: null };
  const byDay = { '2026-10-31': { ...sums, unpricedCalls: 9 }, '2026-11-22': { ...sums, unpricedCalls: 2 }, '2026-11-23': { ...sums, unpricedCalls: 3 } };
  t.equal(unpricedOf({ byDay }, STAND.day.key), 3);
  t.equal(unpricedOf({ byDay }, STAND.month.key), 5);
  t.equal(unpricedOf({ byDay }, '2026-11-24'), 0);
});
