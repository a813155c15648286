import t from 'tap';
import { UnbilledModels } from '../../../core/keys/unbilled-models.ts';

const call = (model: string, key = 'app', adapterId = 'gpu') => ({ key, adapterId, model });

t.test('a model without a bill is refused in every spelling, for its key and connection alone', (t) => {
  const models = new UnbilledModels();
  models.note(call('m'));
  for (const model of ['m', ' M ', 'models/m']) t.equal(models.isRefused(call(model)), true, model);
  for (const other of [call('n'), call('m', 'other'), call('m', 'app', 'second')]) t.equal(models.isRefused(other), false);
  for (const model of ['n', 'o', 'p']) models.note(call(model));
  t.equal(models.isRefused(call('never-asked')), true);
  t.equal(models.isRefused(call('never-asked', 'other')), false);
  t.end();
});

t.test('the first call of a model is alone, and of first calls four are under way', async (t) => {
  const models = new UnbilledModels();
  const holds = Array.from({ length: 6 }, () => ({}));
  const before = (model: string, index: number) => models.firstBefore(call(model), holds[index] ?? {});
  t.equal(before('a', 0), undefined);
  t.equal(before('a', 0), undefined, 'the same call asks once more, for a further attempt');
  const second = before('a', 1);
  for (const [index, model] of ['b', 'c', 'd'].entries()) t.equal(before(model, index + 2), undefined);
  const fifth = before('e', 5);
  t.ok(second !== undefined && fifth !== undefined);
  models.end(call('a'), holds[1] ?? {});
  models.note(call('a'));
  models.end(call('a'), holds[0] ?? {});
  await Promise.all([second, fifth]);
  t.ok(before('e', 5), 'one of four had no bill, and three are under way');
  models.end(call('b'), holds[2] ?? {});
  t.equal(before('e', 5), undefined);
});
