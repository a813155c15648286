import t from 'tap';
import { ModelLists } from '../../../core/routing/model-lists.ts';

t.test('a list is asked for once at a time, kept for half a minute, and asked for sooner after a failure', async (t) => {
  const clock = { ms: 0 };
  let loads = 0;
  let isDown = false;
  const lists = new ModelLists({
    load: async () => {
      loads += 1;
      if (isDown) throw new Error('down');
      return ['m'];
    },
    now: () => clock.ms,
  });
  t.equal(lists.fresh('a'), undefined);
  t.same(await Promise.all([lists.of('a'), lists.of('a')]), [['m'], ['m']]);
  t.equal(loads, 1);
  t.same(lists.fresh('a'), ['m']);
  clock.ms = 30_000;
  t.equal(lists.fresh('a'), undefined);
  isDown = true;
  t.same(await lists.of('a'), []);
  clock.ms += 4000;
  t.same(await lists.of('a'), []);
  t.equal(loads, 2);
  clock.ms += 1000;
  await lists.of('a');
  t.equal(loads, 3);
});
