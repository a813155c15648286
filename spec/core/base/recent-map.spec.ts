import t from 'tap';
import { RecentMap } from '../../../core/base/recent-map.ts';

t.test('the 256 entries that were set last are kept', async (t) => {
  const map = new RecentMap<number>();
  for (let n = 0; n < 256; n += 1) map.set(`k${n}`, n);
  map.set('k0', 1000);
  map.set('new', 1);
  t.equal(map.get('k0'), 1000, 'an entry that is set anew is recent again');
  t.equal(map.get('k1'), undefined);
  t.equal(map.get('k2'), 2);
  map.delete('k2');
  t.equal(map.get('k2'), undefined);
});
