import t from 'tap';
import { newCallNumber } from '../../../core/base/request-id.ts';

t.test('no two calls have one number, and each is exact', async (t) => {
  const numbers = Array.from({ length: 1000 }, newCallNumber);
  t.equal(new Set(numbers).size, 1000);
  t.ok(numbers.every(Number.isSafeInteger));
});
