// Processing tiers and the prices of calls. The price data has the price of each provider's standard tier alone. Pure: no I/O.
import type { PricedCall } from '../../core/index.ts';

/** The providers' words for what costs as much as the standard tier, or less. */
const NOT_DEARER: ReadonlySet<string> = new Set(['auto', 'default', 'standard', 'standard_only', 'on_demand', 'unspecified', 'flex', 'batch']);

/** True for a tier that costs more than the standard one, or may do so because the word is new. */
export function mayCostMore(tier: unknown): tier is string {
  return typeof tier === 'string' && tier !== '' && !NOT_DEARER.has(tier.toLowerCase().replace(/^service_tier_/, ''));
}

/** `Adapter.pricedModel` for a provider that calls models by the names in requests. */
export function pricedModel({ model, tier }: PricedCall): string | undefined {
  return mayCostMore(tier) ? undefined : model;
}
