import t from 'tap';
import { type BudgetQuestion, hasCaps, judgeBudget, reachesUsd } from '../../../../core/block/costs/budget.ts';
import { configOf } from '../../../support/block-files.ts';

const at = (time: string): number => Date.parse(time);
const iso = (ms: number): string => new Date(ms).toISOString();
const budgetOf = (fields: object) => configOf({ budget: fields }).budget;

t.test('an unknown timezone is refused', async (t) => {
  const question = {
    budget: budgetOf({ timezone: 'Nowhere' }),
    day: { usd: 0, tokens: 0 },
    month: { usd: 0, tokens: 0 },
    worstCase: { usd: 0, tokens: 0 },
    now: 0,
  };
  t.throws(() => judgeBudget(question), { code: 'INVALID_REQUEST' });
});

t.test('a budget has caps if at least one is set', async (t) => {
  t.notOk(hasCaps(budgetOf({})));
  for (const cap of ['dailyUsd', 'monthlyUsd', 'dailyTokens']) t.ok(hasCaps(budgetOf({ [cap]: 0 })), cap);
});

interface Case {
  readonly budget: object;
  readonly day?: [usd: number, tokens: number];
  readonly month?: number;
  readonly next?: [usd: number | null, tokens: number];
}

const NOW = at('2026-11-20T14:03:22.123Z');

function question({ budget, day = [0, 0], month = day[0], next = [0.1, 100] }: Case): BudgetQuestion {
  const [usd, tokens] = day;
  return { budget: budgetOf(budget), day: { usd, tokens }, month: { usd: month, tokens }, worstCase: { usd: next[0], tokens: next[1] }, now: NOW };
}

t.test('spend and the worst case of the next call are compared with each cap', async (t) => {
  const cases: [Case, string][] = [
    [{ budget: {}, day: [1e9, 1e9] }, 'ok ok'],
    [{ budget: { dailyUsd: 1 }, day: [0.5, 0] }, 'ok ok'],
    [{ budget: { dailyUsd: 1 }, day: [0.8, 0] }, 'ok warn'],
    [{ budget: { dailyUsd: 1, warnAt: 0.4 }, day: [0.5, 0] }, 'ok warn'],
    [{ budget: { dailyUsd: 1 }, day: [0.75, 0], next: [0.25, 1] }, 'ok ok'],
    [{ budget: { dailyUsd: 1 }, day: [0.75, 0], next: [0.26, 1] }, 'exceeded exceeded dailyUsd'],
    [{ budget: { dailyUsd: 1 }, day: [1, 0], next: [0, 0] }, 'exceeded exceeded dailyUsd'],
    [{ budget: { dailyUsd: 0 }, next: [null, 0] }, 'exceeded exceeded dailyUsd'],
    [{ budget: { dailyUsd: 1 }, day: [0.5, 0], next: [null, 1e9] }, 'ok ok'],
    [{ budget: { dailyTokens: 1000 }, day: [0, 900] }, 'ok warn'],
    [{ budget: { dailyTokens: 1000 }, day: [0, 901] }, 'exceeded exceeded dailyTokens'],
    [{ budget: { monthlyUsd: 10 }, day: [1, 0], month: 9.95 }, 'exceeded exceeded monthlyUsd'],
    [{ budget: { dailyUsd: 1, monthlyUsd: 10, dailyTokens: 5 }, day: [2, 9], month: 12 }, 'exceeded exceeded monthlyUsd'],
    [{ budget: { dailyUsd: 1, monthlyUsd: 10 }, day: [2, 9], month: 8 }, 'exceeded exceeded dailyUsd'],
  ];
  for (const [given, wanted] of cases) {
    const verdict = judgeBudget(question(given));
    t.equal([verdict.kind, verdict.stand.state, ...(verdict.kind === 'exceeded' ? [verdict.cap] : [])].join(' '), wanted, JSON.stringify(given));
  }
});

t.test('a sum of fractions reaches the cap that it adds up to, and fits into it', async (t) => {
  const tenths = (count: number) => Array.from({ length: count }).reduce((sum: number) => sum + 0.1, 0);
  t.ok(tenths(10) < 1 && tenths(3) > 0.3, 'sums of floating-point numbers');
  t.ok(reachesUsd(tenths(10), 1));
  t.notOk(reachesUsd(0.9999, 1));
  t.ok(reachesUsd(0, 0));
  const verdict = (fields: Case) => judgeBudget(question(fields)).kind;
  t.equal(verdict({ budget: { dailyUsd: 1 }, day: [tenths(10), 0], next: [null, 0] }), 'exceeded');
  t.equal(verdict({ budget: { dailyUsd: 0.3 }, day: [tenths(2), 0], next: [0.1, 0] }), 'ok');
  t.equal(verdict({ budget: { dailyTokens: 10_000_000_000 }, day: [0, 9_999_999_999], next: [0, 2] }), 'exceeded', 'tokens are whole');
});

t.test('the state of the budget names the day and month of its timezone', async (t) => {
  const { stand } = judgeBudget({ ...question({ budget: { timezone: 'Pacific/Kiritimati' }, day: [1, 2], month: 3 }), now: at('2026-12-31T12:00:00Z') });
  t.same(stand, { day: { usd: 1, tokens: 2, key: '2027-01-01' }, month: { usd: 3, tokens: 2, key: '2027-01' }, state: 'ok' });
});

t.test('the message names the cap, the spend, the time of the reset and what lifts the cap', async (t) => {
  const texts = (given: Case) => {
    const verdict = judgeBudget(question(given));
    return verdict.kind === 'exceeded' ? [iso(verdict.resetsAt), verdict.message, verdict.fix] : [];
  };
  t.same(texts({ budget: { dailyUsd: 1 }, day: [0.95, 0] }), [
    '2026-11-21T00:00:00.000Z',
    'budget.dailyUsd ($1.00) is reached: $0.95 spent today, and the next call may need $0.10. It resets at 2026-11-21T00:00:00.000Z; to continue now, raise the cap.',
    'Raise budget.dailyUsd to 1.06 or more, set it to null, or wait until it resets.',
  ]);
  t.same(texts({ budget: { monthlyUsd: 0.00012 }, day: [0.00013, 0] }), [
    '2026-12-01T00:00:00.000Z',
    'budget.monthlyUsd ($0.00012) is less than one call may need ($0.10); $0.00013 spent this month. No calls are made until the cap is raised or adapter.maxTokens is lowered.',
    'Raise budget.monthlyUsd to 0.11 or more, set it to null, or lower adapter.maxTokens.',
  ]);
  t.same(texts({ budget: { dailyTokens: 1000, timezone: 'Europe/Berlin' }, day: [0, 1200] }), [
    '2026-11-20T23:00:00.000Z',
    'budget.dailyTokens (1000 tokens) is reached: 1200 tokens spent today. It resets at 2026-11-20T23:00:00.000Z; to continue now, raise the cap.',
    'Raise budget.dailyTokens to 1301 or more, set it to null, or wait until it resets.',
  ]);
});

t.test('following the fix lifts the cap', async (t) => {
  for (const spent of [0, 0.1, 0.95, 0.999, 12.345678, 1 / 3]) {
    const given = question({ budget: { dailyUsd: 0.05 }, day: [spent, 0], next: [0.1, 1] });
    const verdict = judgeBudget(given);
    const raised = Number(verdict.kind === 'exceeded' ? /to ([\d.]+) or more/.exec(verdict.fix)?.[1] : Number.NaN);
    t.equal(judgeBudget({ ...given, budget: { ...given.budget, dailyUsd: raised } }).kind, 'ok', String(spent));
  }
});
