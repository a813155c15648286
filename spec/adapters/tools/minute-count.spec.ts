import t from 'tap';
import { MinuteCount } from '../../../adapters/tools/minute-count.ts';

t.test('what happens within a minute is counted, and what is taken back is never less than nothing', async (t) => {
  let now = 100_000;
  const { now: real } = performance;
  t.teardown(() => (performance.now = real));
  performance.now = () => now;
  const count = new MinuteCount();
  t.strictSame([count.add(2), count.add(3), count.add(-1)], [2, 5, 4]);
  now += 60_000;
  t.equal(count.add(1), 5);
  now += 1;
  t.strictSame([count.add(-5), count.add(1)], [0, 1], 'it was counted in the minute before');
});
