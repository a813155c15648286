import t from 'tap';
import { displayWidth } from '../../../cli/terminal/layout.ts';
import { styleFor } from '../../../cli/terminal/output.ts';
import { aliasTable, groupTable, keyTable, reachedCaps, reachedGroups, resolvedLines } from '../../../cli/views/client-tables.ts';

const style = styleFor(false);
const NOW = Date.parse('2026-11-22T12:00:00.000Z');
const SPENT = { usd: 0.5, tokens: 1200, calls: 7, unpricedCalls: 0 };
const KEY = {
  name: 'app',
  createdAt: '',
  usdPerDay: null,
  usdPerWeek: null,
  usdPerMonth: null,
  tokensPerDay: null,
  tokensPerMonth: null,
  inFlight: null,
  requestsPerMinute: null,
  tokensPerMinute: null,
  unpriced: 'allow' as const,
  group: null,
  models: null,
  rights: [],
  blocks: null,
  expiresAt: null,
  rev: 'r',
  spentToday: SPENT,
  spentThisWeek: SPENT,
  spentThisMonth: SPENT,
  lastUsedOn: null,
};

t.test('a key shows what it has spent in the unit of its cap, at 80 columns', async (t) => {
  const keys = [
    KEY,
    { ...KEY, name: 'capped', usdPerDay: 5 },
    {
      ...KEY,
      name: 'tokens',
      tokensPerDay: 100_000,
      models: Array.from({ length: 20 }, (_, index) => `model-${index}`),
      expiresAt: '2026-12-22T12:00:00.000Z',
    },
  ];
  const lines = keyTable(keys, { now: NOW, width: 80, style });
  t.ok(lines.every((line) => displayWidth(line) <= 80));
  t.match(lines[1], /^app +\S*0\.50\S* +- +all +never$/);
  t.match(lines[3], /tokens +1,200 tokens +100,000 tokens/);
});

t.test('calls whose price is not known are told, and never shown as free', async (t) => {
  const keys = [
    { ...KEY, usdPerDay: 5, spentToday: { ...SPENT, unpricedCalls: 5 } },
    { ...KEY, usdPerDay: 5, spentToday: { ...SPENT, usd: 0, unpricedCalls: 5 } },
    { ...KEY, usdPerDay: 5, unpriced: 'refuse' as const, spentToday: { usd: 0, tokens: 0, calls: 0, unpricedCalls: 0 } },
  ];
  const [, some, none, idle] = keyTable(keys, { now: NOW, width: 80, style });
  t.match(some, /^app +\$0\.50 \+ 5 not priced +\$5\.00 +all/);
  t.match(none, /^app +5 not priced +\$5\.00 +all/);
  t.match(idle, /^app +\$0 +\$5\.00, known prices only +all/);
});

t.test('limits are shown with their time, and groups where there are any', async (t) => {
  const limits = { usdPerWeek: 20, usdPerMonth: 50, tokensPerMonth: 1_000_000, inFlight: 4, requestsPerMinute: 60, tokensPerMinute: 9000 };
  const [head, one, other] = keyTable([{ ...KEY, ...limits, group: 'team' }, KEY], { now: NOW, width: 250, style });
  t.match(head, /^KEY +GROUP +TODAY/);
  t.match(
    one,
    /^app +team +\$0\.50, 1,200 tokens +\$20\.00 a week, \$50\.00 a month, 1,000,000 tokens a month, 4 at once, 60 requests a minute, 9,000 tokens a minute +all/,
  );
  t.match(other, /^app +- /);
  const { models: _models, expiresAt: _expiresAt, createdAt: _createdAt, group: _group, ...group } = KEY;
  const groups = [{ ...group, name: 'team', tokensPerMonth: 5, keys: ['app', 'other'] }];
  t.match(groupTable(groups, { width: 80, style }), [/^GROUP +TODAY/, /^team +1,200 tokens +5 tokens a month +app other$/]);
});

t.test('a limit of one is said in the singular', async (t) => {
  const [, line] = keyTable([{ ...KEY, tokensPerDay: 1, tokensPerMonth: 1, requestsPerMinute: 1, tokensPerMinute: 1 }], { now: NOW, width: 250, style });
  t.match(line, / 1 token, 1 token a month, 1 request a minute, 1 token a minute +all/);
});

t.test('what was spent is shown in all units of the caps that hold, those of the group among them', async (t) => {
  const { models: _models, expiresAt: _expiresAt, createdAt: _createdAt, group: _group, ...limits } = KEY;
  const groups = [{ ...limits, name: 'team', tokensPerDay: 5000, keys: ['app', 'own'] }];
  const keys = [
    { ...KEY, group: 'team' },
    { ...KEY, name: 'own', group: 'team', usdPerDay: 5 },
    { ...KEY, name: 'both', usdPerDay: 5, tokensPerMonth: 9000 },
  ];
  const [, ofGroup, own, both] = keyTable(keys, { now: NOW, width: 250, style }, groups);
  t.match(ofGroup, /^app +team +1,200 tokens +- +all/);
  t.match(own, /^own +team +\$0\.50, 1,200 tokens +\$5\.00 /);
  t.match(both, /^both +- +\$0\.50, 1,200 tokens +\$5\.00, 9,000 tokens a month/);
});

t.test('a group whose cap is used up is named with its keys, and the command', async (t) => {
  const { models: _models, expiresAt: _expiresAt, createdAt: _createdAt, group: _group, ...limits } = KEY;
  const names = Array.from({ length: 7 }, (_, index) => `k${index}`);
  const groups = [
    { ...limits, name: 'free', keys: [] },
    { ...limits, name: 'team', tokensPerDay: 1000, keys: names },
  ];
  const keys = names.map((name) => ({ ...KEY, name, group: 'team' }));
  t.same(
    reachedGroups(keys, groups, (...words) => words.join(' ')),
    [
      'The group team has reached its cap of 1,000 tokens a day, which holds for its keys k0, k1, k2, k3, k4 and 2 more. `key group set team --tokens-per-day <count>` raises it.',
    ],
  );
});

t.test('an alias shows its models in order', async (t) => {
  t.match(aliasTable([{ name: 'best', targets: ['a/b', 'c/d'] }], { width: 80, style })[1], /^best +a\/b, then c\/d$/);
});

t.test('a name shows what it means and why', async (t) => {
  const targets = [{ adapter: 'a', model: 'b' }];
  t.same(resolvedLines({ name: 'x', by: 'prefix', rule: 'x', targets }), ['x → a/b (by the way in which the provider names models)']);
  t.same(resolvedLines({ name: 'x', by: 'alias', rule: 'x', targets }), ['x → a/b (by an alias)']);
});

t.test('a cap that is used up in its period is named with its option', async (t) => {
  t.same(reachedCaps(KEY), []);
  t.same(reachedCaps({ ...KEY, usdPerDay: 0.51, usdPerWeek: 0.5, tokensPerMonth: 1200, tokensPerDay: 1201 }), [
    { cap: '$0.50 a week', option: '--usd-per-week', value: '<amount>' },
    { cap: '1,200 tokens a month', option: '--tokens-per-month', value: '<count>' },
  ]);
});
