// How many tokens a model takes: what its provider says, or else the price data.
import type { CallOptions } from './call-options.ts';
import type { Gateway } from './gateway.ts';
import type { Prices } from './pricing.ts';

type Knows = Pick<Gateway, 'adapter' | 'statedWindow' | 'contextTokens' | 'pricedAs'>;

/** Two answers: one for which a provider may be asked, and one from what is known already. */
export function contextWindows(gateway: Knows, prices: () => Pick<Prices, 'contextWindow'> | undefined) {
  const inPrices = async (provider: string, model: string): Promise<number | undefined> => (await prices()?.contextWindow(provider, model)) ?? undefined;
  return {
    contextLength: async (id: string, model: string, call: CallOptions = {}): Promise<number | undefined> => {
      const { pricesAs } = gateway.adapter(id);
      const known = gateway.statedWindow(id, model) ?? (await gateway.contextTokens(id, model, call));
      const name = gateway.pricedAs({ provider: id, model })?.model ?? model;
      return known ?? (pricesAs === undefined ? undefined : inPrices(pricesAs, name));
    },
    windowOf: async (id: string, model: string): Promise<number | undefined> => {
      const stated = gateway.statedWindow(id, model);
      const priced = stated === undefined ? gateway.pricedAs({ provider: id, model }) : undefined;
      return stated ?? (priced === undefined ? undefined : inPrices(priced.provider, priced.model));
    },
  };
}
