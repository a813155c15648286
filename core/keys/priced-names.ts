// Under which names the calls of clients have their prices.
import type { AccountedCall } from '../gateway/account.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { PricedModel } from '../gateway/pricing.ts';

/** How long it is taken for granted that an adapter calls its provider's own host, which decides whether prices hold. */
const KEEP_NAME_MS = 1000;
/** Requests may name any model. */
const MAX_NAMES = 1000;

/** Remembers the names of calls without settings of their own for a moment. */
export class PricedNames {
  readonly #gateway: Pick<Gateway, 'pricedAs'>;
  readonly #now: () => number;
  readonly #names = new Map<string, { readonly pricedAs: PricedModel | undefined; readonly until: number }>();

  /** `now` in milliseconds that no change of the clock touches. */
  constructor(gateway: Pick<Gateway, 'pricedAs'>, now: () => number) {
    this.#gateway = gateway;
    this.#now = now;
  }

  /** Undefined if the price of the call can't be known. */
  of({
    adapterId: provider,
    model,
    address,
    config,
    tier,
  }: Pick<AccountedCall, 'adapterId' | 'model' | 'address' | 'config' | 'tier'>): PricedModel | undefined {
    if (address !== undefined || tier !== undefined) return this.#gateway.pricedAs({ provider, model, config, tier });
    const key = `${provider}\n${model}`;
    let known = this.#names.get(key);
    if (known === undefined || known.until <= this.#now()) {
      known = { pricedAs: this.#gateway.pricedAs({ provider, model }), until: this.#now() + KEEP_NAME_MS };
      if (this.#names.size >= MAX_NAMES) this.#names.clear();
      this.#names.set(key, known);
    }
    return known.pricedAs;
  }
}
