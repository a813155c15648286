import t from 'tap';
import { newCallNumber, newRequestId } from '../../../core/base/request-id.ts';

t.test('no two calls have one number, and each is exact', async (t) => {
  const numbers = Array.from({ length: 1000 }, newCallNumber);
  t.equal(new Set(numbers).size, 1000);
  t.ok(numbers.every(Number.isSafeInteger));
});

t.test('ids of requests have 96 random bits each, also those beyond the random bytes that are kept ready', async (t) => {
  const ids = Array.from({ length: 1000 }, newRequestId);
  t.equal(new Set(ids).size, 1000);
  t.ok(ids.every((id) => /^req_[0-9a-f]{24}$/.test(id)));
});
