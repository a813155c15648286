import t from 'tap';
import { displayWidth } from '../../../cli/terminal/layout.ts';
import { styleFor } from '../../../cli/terminal/output.ts';
import { aliasTable, keyTable, resolvedLines } from '../../../cli/views/client-tables.ts';

const style = styleFor(false);
const NOW = Date.parse('2026-11-22T12:00:00.000Z');
const SPENT = { usd: 0.5, tokens: 1200, calls: 7, unpricedCalls: 0 };
const KEY = {
  name: 'app',
  createdAt: '',
  usdPerDay: null,
  tokensPerDay: null,
  unpriced: 'allow' as const,
  models: null,
  expiresAt: null,
  spentToday: SPENT,
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
  t.match(some, /^app +\$0\.50 \+ 5 not counted +\$5\.00 +all/);
  t.match(none, /^app +5 not counted +\$5\.00 +all/);
  t.match(idle, /^app +\$0 +\$5\.00, known prices only +all/);
});

t.test('an alias shows its models in order', async (t) => {
  t.match(aliasTable([{ name: 'best', targets: ['a/b', 'c/d'] }], { width: 80, style })[1], /^best +a\/b, then c\/d$/);
});

t.test('a name shows what it means and why', async (t) => {
  const targets = [{ adapter: 'a', model: 'b' }];
  t.same(resolvedLines({ name: 'x', by: 'prefix', rule: 'x', targets }), ['x → a/b (by the way in which the provider names models)']);
  t.same(resolvedLines({ name: 'x', by: 'alias', rule: 'x', targets }), ['x → a/b (by an alias)']);
});
