import t from 'tap';
import { cachePoint } from '../../../adapters/bedrock/content.ts';

t.test('a cache point says its time only if it is an hour', async (t) => {
  t.same(cachePoint('5m'), { cachePoint: { type: 'default' } });
  t.same(cachePoint('1h'), { cachePoint: { type: 'default', ttl: '1h' } });
});
