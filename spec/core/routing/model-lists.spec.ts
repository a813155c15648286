import t from 'tap';
import { ModelLists } from '../../../core/routing/model-lists.ts';
import { until } from '../../support/until.ts';

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

t.test('in-time: a provider that does not answer is waited for once, and then its last list is used while it is asked again', async (t) => {
  const clock = { ms: 0 };
  let answer: (() => Promise<string[]>) | undefined;
  let asked = 0;
  let given = 0;
  const lists = new ModelLists({
    load: (_adapter, signal) => {
      asked += 1;
      signal.addEventListener('abort', () => {
        given += 1;
      });
      return answer?.() ?? new Promise(() => undefined);
    },
    now: () => clock.ms,
    maxWaitMs: 1,
  });
  t.same(await lists.of('a'), [], 'not longer than the limit');
  t.equal(given, 1, 'the question is given up');
  clock.ms += 5000;
  answer = async () => ['m'];
  t.same(await lists.of('a'), [], 'nobody waits for the next question');
  t.equal(asked, 2);
  await until('its answer serves the next request', () => lists.fresh('a')?.[0] === 'm');
  clock.ms += 30_000;
  answer = undefined;
  t.same(await lists.of('a'), ['m'], 'what was known is used while the provider is silent');
});
