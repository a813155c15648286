// Processing tiers and the names that models have in the price data. Pure: no I/O.
import { mayCostMore, type PricedCall } from '../../core/index.ts';

export { mayCostMore } from '../../core/index.ts';

/** `Adapter.pricedModel` for a provider that calls models by the names in requests. */
export function pricedModel({ model, tier }: PricedCall): string | undefined {
  return mayCostMore(tier) ? undefined : model;
}
