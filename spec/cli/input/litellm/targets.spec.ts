import t from 'tap';
import { distinct, shownTargets, weighted } from '../../../../cli/input/litellm/targets.ts';

const deployment = (model: string, weight?: number) => ({ model, order: 0, weight });

t.test('the weight of a model is the sum of its deployments, a whole number from 1 to 1000 in the same proportion', async (t) => {
  const weights = (...all: [string, number?][]): unknown[] =>
    weighted(
      [...new Set(all.map(([model]) => model))],
      all.map(([model, weight]) => deployment(model, weight)),
    ).map((target) => (target as { weight: number }).weight);
  t.same(weights(['a', 3], ['b', 1]), [3, 1]);
  t.same(weights(['a', 3], ['b', 1], ['a', 2]), [5, 1]);
  t.same(weights(['a'], ['b']), [1, 1], 'nothing says it');
  t.same(weights(['a', 0.5], ['b', 0.25]), [1000, 500]);
  t.same(weights(['a', 1_000_000], ['b', 1]), [1000, 1], 'none is never drawn');
});

t.test('a model stands in an alias once, and people read which are drawn and which come in their turn', async (t) => {
  const targets = distinct(['x/z', { model: 'x/a', weight: 2 }, { model: 'x/b', weight: 1 }, 'x/a', 'x/c']);
  t.same(targets, ['x/z', { model: 'x/a', weight: 2 }, { model: 'x/b', weight: 1 }, 'x/c']);
  t.equal(shownTargets(targets), 'x/z, then x/a (weight 2) or x/b (weight 1), then x/c');
});
