import t from 'tap';
import { areSameCaps, later, leftOfHalf, reachedCap } from '../../../../core/block/costs/caps.ts';
import { checkedFigures, type Figures } from '../../../../core/keys/key-limits.ts';

const NOW = Date.parse('2026-11-25T12:00:00.000Z');
const bound = (figures: Partial<Figures>) => ({ kind: 'key', name: 'app', ...checkedFigures(figures) }) as const;
const sums = (usd: number, tokens: number) => ({ usd, tokens, calls: 1, unpricedCalls: 0 });
const SPENT = { day: sums(1, 100), week: sums(2, 200), month: sums(3, 300) };
const NOTHING = { usd: 0, tokens: 0 };

t.test('each cap is reached by what was spent in its own time, and says when that ends', async (t) => {
  for (const [figures, cap, resetsAt, resets] of [
    [{ usdPerDay: 1 }, '1 USD a day', '2026-11-26', 'at 00:00 UTC'],
    [{ tokensPerDay: 100 }, '100 tokens a day', '2026-11-26', 'at 00:00 UTC'],
    [{ usdPerWeek: 2 }, '2 USD a week', '2026-11-30', 'on Monday at 00:00 UTC'],
    [{ usdPerMonth: 3 }, '3 USD a month', '2026-12-01', 'on 2026-12-01 at 00:00 UTC'],
    [{ tokensPerMonth: 300 }, '300 tokens a month', '2026-12-01', 'on 2026-12-01 at 00:00 UTC'],
  ] as const) {
    t.match(reachedCap(bound(figures), SPENT, NOTHING, NOW), { cap, resets, resetsAt: Date.parse(`${resetsAt}T00:00:00.000Z`) }, cap);
    const larger = bound(Object.fromEntries(Object.entries(figures).map(([field, value]) => [field, value + 1])));
    t.equal(reachedCap(larger, SPENT, NOTHING, NOW), undefined, `more than ${cap}`);
    t.match(reachedCap(larger, SPENT, { usd: 1, tokens: 1 }, NOW), { resets }, `${cap}, with calls under way`);
  }
});

t.test('what is left of the half of each cap is counted in its own time, and the least of it counts', async (t) => {
  const left = (figures: Partial<Figures>) => leftOfHalf(bound(figures), SPENT);
  t.same(left({}), { usd: Number.POSITIVE_INFINITY, tokens: Number.POSITIVE_INFINITY });
  t.same(left({ tokensPerDay: 1000 }).tokens, 400);
  t.same(left({ tokensPerDay: 1000, tokensPerMonth: 600 }).tokens, 0, 'the least of both');
  t.same(left({ usdPerDay: 4, tokensPerDay: 100 }), { usd: 1, tokens: -50 });
  t.same(left({ usdPerWeek: 8 }).usd, 2);
  t.same(left({ usdPerMonth: 8 }).usd, 1);
});

t.test('caps are the same with the same figures', async (t) => {
  t.equal(areSameCaps(bound({ usdPerWeek: 6 }), bound({ usdPerWeek: 6, requestsPerMinute: 5 })), true);
  t.equal(areSameCaps(bound({ usdPerWeek: 6 }), bound({ usdPerMonth: 6 })), false);
});

t.test('of several caps that are reached, the one that ends last counts', async (t) => {
  const reached = reachedCap(bound({ usdPerDay: 0, usdPerWeek: 0, usdPerMonth: 0 }), SPENT, NOTHING, NOW);
  t.match(reached, { cap: '0 USD a month' });
  t.match(
    reachedCap(bound({ usdPerWeek: 0, usdPerMonth: 0 }), SPENT, NOTHING, Date.parse('2026-12-31T12:00:00Z')),
    { cap: '0 USD a week' },
    'the week ends later',
  );
  const day = reachedCap(bound({ usdPerDay: 0 }), SPENT, NOTHING, NOW);
  t.equal(later(day, reached), reached);
  t.equal(later(reached, day), reached);
  t.equal(later(undefined, day), day);
  t.equal(later(day, undefined), day);
});
