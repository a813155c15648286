// The order of the models of an alias.
import t from 'tap';
import { drawn, fitting, hasWeights } from '../../../core/routing/fallback.ts';
import type { ModelTarget } from '../../../core/routing/model-table.ts';

const target = (model: string, weight?: number): ModelTarget => ({ adapter: 'a', model, ...(weight !== undefined && { weight }) });
const names = (targets: readonly ModelTarget[]) => targets.map(({ model }) => model).join('');

t.test('thousands of conversations are shared as the weights say, and so are the second choices', (t) => {
  const targets = [target('x', 3), target('y', 1), target('z', 4)];
  const counts: Record<string, number> = {};
  const COUNT = 20_000;
  for (let each = 0; each < COUNT; each += 1) {
    const order = names(drawn(targets, `conversation ${each}`));
    counts[order[0] ?? ''] = (counts[order[0] ?? ''] ?? 0) + 1;
    if (order[0] === 'z') counts[`z${order[1]}`] = (counts[`z${order[1]}`] ?? 0) + 1;
  }
  const share = (of: string, all = COUNT) => (counts[of] ?? 0) / all;
  for (const [found, wanted] of [
    [share('x'), 3 / 8],
    [share('y'), 1 / 8],
    [share('z'), 4 / 8],
    [share('zx', counts['z']), 3 / 4],
    [share('zy', counts['z']), 1 / 4],
  ] as const)
    t.ok(Math.abs(found - wanted) < 0.015, `${found} of ${wanted}`);
  t.end();
});

t.test('only neighbours with a weight are drawn, and each has its place again for the same conversation', (t) => {
  const targets = [target('a'), target('b', 1), target('c', 1), target('d'), target('e', 1)];
  const seen = new Set<string>();
  for (let each = 0; each < 200; each += 1) {
    const order = names(drawn(targets, `${each}`));
    t.equal(order, names(drawn(targets, `${each}`)));
    seen.add(order);
  }
  t.same([...seen].sort(), ['abcde', 'acbde']);
  t.equal(names(drawn([target('a'), target('b')], 'x')), 'ab');
  t.same([hasWeights(targets), hasWeights([target('a')])], [true, false]);
  t.end();
});

t.test('one model that takes another place moves no conversation between the others', (t) => {
  const before = [target('x', 1), target('y', 1), target('z', 1)];
  for (let each = 0; each < 1000; each += 1) {
    const [first] = drawn(before, `${each}`);
    const [after] = drawn([target('y', 1), target('x', 1)], `${each}`);
    if (first?.model !== 'z') t.equal(after?.model, first?.model);
  }
  t.end();
});

t.test('a model is too small if four fifths of the estimate and the answer are more than its window', (t) => {
  const windows: Record<string, number> = { s: 1000, m: 2000 };
  const fit = (models: string, tokens: number, output = 0) => {
    const found = fitting(
      [...models].map((model) => target(model)),
      ({ model }) => windows[model],
      { tokens, output },
    );
    return `${names(found.fit)}-${names(found.small)}`;
  };
  t.equal(fit('sm', 1250), 'sm-');
  t.equal(fit('sm', 1251), 'm-s');
  t.equal(fit('sm', 1000, 201), 'm-s');
  t.equal(fit('smu', 9999), 'u-sm');
  t.equal(fit('sm', 9999), 'm-s');
  t.equal(fit('ms', 9999), 'm-s');
  t.end();
});
