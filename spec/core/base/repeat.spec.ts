import t from 'tap';
import { Repeat } from '../../../core/base/repeat.ts';
import { fakeTimers } from '../../support/fake-timers.ts';

t.test('work that fails is tried again until it is done, once at a time', async (t) => {
  const pass = fakeTimers(t);
  let tries = 0;
  const repeat = new Repeat(async () => {
    tries += 1;
    if (tries < 3) throw new Error('not yet');
  });
  repeat.begin();
  repeat.begin();
  for (const expected of [1, 2, 3, 3]) {
    await pass(1000);
    t.equal(tries, expected);
  }
  repeat.begin();
  await pass(1000);
  t.equal(tries, 4, 'it can begin again');
  repeat.begin();
  repeat.end();
  await pass(1000);
  repeat.begin();
  await pass(1000);
  t.equal(tries, 4, 'after its end, nothing begins');
});
