import t from 'tap';
import { expandIPv6 } from '../../../core/base/ipv6.ts';

t.test('every spelling of an address has the same eight groups', async (t) => {
  t.strictSame(expandIPv6('::1'), [0, 0, 0, 0, 0, 0, 0, 1]);
  t.strictSame(expandIPv6('::'), [0, 0, 0, 0, 0, 0, 0, 0]);
  t.strictSame(expandIPv6('fe80::A'), [0xfe80, 0, 0, 0, 0, 0, 0, 10]);
  t.strictSame(expandIPv6('1:2:3:4:5:6:7:8'), [1, 2, 3, 4, 5, 6, 7, 8]);
  t.strictSame(expandIPv6('::ffff:127.0.0.1'), [0, 0, 0, 0, 0, 0xffff, 0x7f00, 1], 'a dotted tail');
});
