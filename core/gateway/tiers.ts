// Processing tiers. The price data has the price of each provider's standard tier alone. Pure: no I/O.

/** The providers' words for what costs as much as the standard tier, or less. */
const NOT_DEARER: ReadonlySet<string> = new Set(['auto', 'default', 'standard', 'standard_only', 'on_demand', 'unspecified', 'flex', 'batch']);

/** True for a tier that costs more than the standard one, or may do so because the word is new. */
export function mayCostMore(tier: unknown): tier is string {
  return typeof tier === 'string' && tier !== '' && !NOT_DEARER.has(tier.toLowerCase().replace(/^service_tier_/, ''));
}
