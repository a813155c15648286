import { readFileSync } from 'node:fs';
import t from 'tap';
import { FAMILIES, type Family } from '../../../transports/metrics/families.ts';
import { metric, ROWS } from '../../support/observability/panels.ts';
import { RULES } from '../../support/observability/rules.ts';

const ALL = Object.values<Family>(FAMILIES);
const NAMES = new Set(ALL.map(({ name }) => name));

t.test('names follow what Prometheus asks for', async (t) => {
  t.equal(NAMES.size, ALL.length, 'no name is used twice');
  for (const { name, kind, help, labels, edges } of ALL) {
    t.match(name, /^(blockhouse|process|nodejs)_[a-z0-9_]+$/);
    t.equal(name.endsWith('_total'), kind === 'counter', `${name}: a counter ends with _total, and nothing else does`);
    if (kind === 'histogram') t.match(name, /_seconds$/);
    t.notMatch(name, /_(ms|milliseconds|kb|mb|percent)(_|$)/, 'base units');
    t.match(help, /^[A-Z1].*\.$/, `${name}: a sentence`);
    t.notOk(labels.includes('le') || labels.includes('quantile'), name);
    t.same(edges, edges && [...edges].sort((a, b) => a - b));
    t.equal(edges !== undefined, kind === 'histogram', name);
  }
});

t.test('panels and alerts name only metrics that exist, and each metric has its place', async (t) => {
  const queries = [...ROWS.flatMap(({ panels }) => panels.flatMap(({ queries }) => queries.map(({ expr }) => expr))), ...RULES.map(({ expr }) => expr)];
  const named = new Set<string>();
  for (const expr of queries) {
    for (const [name] of expr.matchAll(/\b(?:blockhouse|process|nodejs)_[a-z0-9_]+/g)) {
      const base = name.replace(/_bucket$/, '');
      t.ok(NAMES.has(base), `${base} in ${expr}`);
      named.add(base);
    }
  }
  const unseen = [...NAMES].filter((name) => !named.has(name));
  t.same(
    unseen,
    [metric('spansDropped'), metric('eventsDropped'), metric('attempts')],
    'dropped spans and events need a collector, and attempts are calls and repetitions',
  );
});

t.test('labels of queries are those of their metrics', async (t) => {
  const known = (name: string): readonly string[] => ALL.find((family) => family.name === name.replace(/_bucket$/, ''))?.labels ?? [];
  const queries = [...ROWS.flatMap(({ panels }) => panels.flatMap(({ queries }) => queries.map(({ expr }) => expr))), ...RULES.map(({ expr }) => expr)];
  for (const expr of queries) {
    const ofExpr = new Set(['job', 'instance', 'le', ...[...expr.matchAll(/\b(?:blockhouse|process|nodejs)_[a-z0-9_]+/g)].flatMap(([name]) => known(name))]);
    for (const [, by = ''] of expr.matchAll(/\bby \(([^)]*)\)/g)) for (const label of by.split(',')) t.ok(ofExpr.has(label.trim()), `${label} in ${expr}`);
    for (const [, label = ''] of expr.matchAll(/[{,](\w+)=?~?!?"/g)) t.ok(ofExpr.has(label), `${label} in ${expr}`);
  }
});

t.test('legends and texts of alerts use labels that the query keeps', async (t) => {
  const kept = (expr: string): string[] => [
    'value',
    'instance',
    'job',
    ...[...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, by = '']) => by.split(',').map((label) => label.trim())),
  ];
  for (const { alert, expr, summary, cure } of RULES)
    for (const [, label = ''] of `${summary} ${cure}`.matchAll(/\{\{ \$labels\.(\w+) \}\}/g)) t.ok(kept(expr).includes(label), `${label} of ${alert}`);
});

t.test('calls that the cap or the limits of a key refuse are no failures of the connection', async (t) => {
  const { expr = '' } = RULES.find(({ alert }) => alert === 'BlockhouseCallsFail') ?? {};
  const [, left = ''] = /\{code!~"([^"]+)"\}/.exec(expr) ?? [];
  const isLeft = (code: string): boolean => new RegExp(`^(?:${left})$`).test(code);
  for (const code of ['KEY_CAP_REACHED', 'KEY_RATE_LIMITED', 'PRICE_UNKNOWN']) t.ok(isLeft(code), code);
  for (const code of ['UPSTREAM_RATE_LIMITED', 'UPSTREAM_AUTH', 'UPSTREAM_FAILED', 'ADAPTER_NOT_CONFIGURED']) t.notOk(isLeft(code), code);
});

t.test('the dashboard of the docs can be read, and its panels do not lie on each other', async (t) => {
  const { panels } = JSON.parse(readFileSync(new URL('../../../docs/observability/grafana.json', import.meta.url), 'utf8')) as {
    panels: { id: number; gridPos: { x: number; y: number; w: number; h: number } }[];
  };
  t.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) => Array.from({ length: w * h }, (_, index) => `${x + (index % w)}:${y + Math.floor(index / w)}`));
  t.equal(new Set(cells).size, cells.length);
});
