import t from 'tap';
import { mayCostMore, pricedModel } from '../../../adapters/shared/tiers.ts';

t.test('a tier may cost more unless it is known not to', async (t) => {
  for (const tier of ['priority', 'fast', 'ultrafast', 'scale', 'reserved', 'PRIORITY', 'SERVICE_TIER_PRIORITY', 'a-new-one']) t.ok(mayCostMore(tier), tier);
  for (const tier of ['auto', 'default', 'standard', 'standard_only', 'flex', 'batch', 'Flex', 'SERVICE_TIER_STANDARD', 'SERVICE_TIER_UNSPECIFIED'])
    t.notOk(mayCostMore(tier), tier);
  for (const none of [undefined, null, '', 7, {}]) t.notOk(mayCostMore(none), String(none));
});

t.test('a model has its own name in the price data, and none in a dearer tier', async (t) => {
  const call = { model: 'm', settings: { values: {}, sources: {} } };
  t.equal(pricedModel({ ...call, tier: undefined }), 'm');
  t.equal(pricedModel({ ...call, tier: 'flex' }), 'm');
  t.equal(pricedModel({ ...call, tier: 'priority' }), undefined);
});
