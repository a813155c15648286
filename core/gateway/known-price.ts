// Whether the price of a model's calls is known. A call without a known price does not count towards a cap in USD.
import { toBlockhouseError } from '../errors.ts';
import type { ChatConfig } from '../schemas/chat.ts';
import type { Gateway } from './gateway.ts';
import { FREE, type Prices } from './pricing.ts';

const NO_USAGE = { inputTokens: 0, outputTokens: 0, totalTokens: 0 } as const;

/** What the question needs. */
export interface PriceKnowledge {
  readonly gateway: Pick<Gateway, 'readiness' | 'adapter'>;
  readonly prices: Pick<Prices, 'priceNow'>;
}

/** The provider's name in the price data; undefined for a provider without prices, and for another server under its adapter. */
export function pricesAs({ gateway }: Pick<PriceKnowledge, 'gateway'>, provider: string, config?: ChatConfig): string | undefined {
  try {
    if (!gateway.readiness(provider, config, 'adapter').isOwnHost) return undefined;
    const { standsIn, pricesAs: name } = gateway.adapter(provider);
    return standsIn === true ? FREE : name;
  } catch (error) {
    // A file names a provider that does not exist: the call itself fails and says so.
    if (toBlockhouseError(error).code === 'INVALID_REQUEST') return undefined;
    throw error;
  }
}

/** Of calls that are made now. */
export async function isPriceKnown(
  knowledge: PriceKnowledge,
  { provider, model, config }: { readonly provider: string; readonly model: string; readonly config?: ChatConfig },
): Promise<boolean> {
  const name = pricesAs(knowledge, provider, config);
  return name !== undefined && (await knowledge.prices.priceNow({ provider: name, model, usage: NO_USAGE })) !== null;
}
