import t from 'tap';
import { tokens, usd } from '../../../../../core/store/postgres/sql/largest.ts';

t.test('a sum stays at the largest that its column can hold; one that is null has no limit', async (t) => {
  t.equal(usd('a + b'), 'least(a + b, 999999999)');
  t.equal(tokens('sum(a)'), 'least(sum(a), 9000000000000000000)');
  t.equal(usd('a', 'b'), 'least(a, b)');
});
