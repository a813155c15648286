import t from 'tap';
import { ByHour } from '../../../core/base/by-hour.ts';

t.test('what came an hour ago counts no longer, and names do not meet', async (t) => {
  const taken = new ByHour();
  taken.add('a', 0);
  taken.add('a', 1000);
  t.equal(taken.of('a', 3_599_999), 2);
  t.equal(taken.of('b', 1000), 0);
  t.equal(taken.of('a', 3_600_000), 1);
  t.equal(taken.waitOf('a', 3_600_000), 1000);
  t.equal(taken.waitOf('b', 0), 3_600_000);
});
