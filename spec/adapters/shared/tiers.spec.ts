import t from 'tap';
import { pricedModel } from '../../../adapters/shared/tiers.ts';

t.test('a model has its own name in the price data, and none in a dearer tier', async (t) => {
  const call = { model: 'm', settings: { values: {}, sources: {} } };
  t.equal(pricedModel({ ...call, tier: undefined }), 'm');
  t.equal(pricedModel({ ...call, tier: 'flex' }), 'm');
  t.equal(pricedModel({ ...call, tier: 'priority' }), undefined);
});
