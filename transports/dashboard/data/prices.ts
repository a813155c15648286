// What models cost, and where that comes from; and the models that were called without a known price.
import type { CostsReport, OwnRates, PriceList, ShownPrice } from '../../../core/types.ts';
import { call, get } from './http.ts';

/** Every model that auth.json or prices.json names. Rejects with an ApiError. */
export async function readPrices(): Promise<PriceList> {
  return get<PriceList>('/api/prices');
}

/** 0, rates, or the model of the price data that costs as much. */
export type Price = number | string | OwnRates;

/** Writes the price into the entry of its connection. Rejects with an ApiError. */
export async function setPrice(model: string, price: Price): Promise<void> {
  await call('PUT', `/api/prices/${encodeURIComponent(model)}`, { body: { price } });
}

/** Takes it out of the entry. Rejects with an ApiError. */
export async function removePrice(model: string): Promise<void> {
  await call('DELETE', `/api/prices/${encodeURIComponent(model)}`);
}

/** A model with what is known of its price, and its calls that no sum counts. */
export interface PricedRow {
  readonly model: string;
  readonly price: ShownPrice | undefined;
  readonly uncounted: number;
}

/** The models whose calls are not counted, those with the most calls first, and then the others by name. `called` is a report by model. */
export function priceRows({ prices }: PriceList, called: CostsReport): readonly PricedRow[] {
  const known = new Map(prices.map((price) => [price.model, price]));
  const uncounted = called.rows
    .filter(({ unpricedCalls }) => unpricedCalls > 0)
    .sort((one, other) => other.unpricedCalls - one.unpricedCalls)
    .map(({ key, unpricedCalls }) => ({ model: key, price: known.get(key), uncounted: unpricedCalls }));
  const first = new Set(uncounted.map(({ model }) => model));
  return [...uncounted, ...prices.flatMap((price) => (first.has(price.model) ? [] : [{ model: price.model, price, uncounted: 0 }]))];
}

export const KINDS = ['rates', 'free', 'like'] as const;

/** What a person types of a price. */
export interface TypedPrice {
  readonly model: string;
  readonly kind: (typeof KINDS)[number];
  readonly input: string;
  readonly output: string;
  readonly cacheRead: string;
  readonly cacheWrite: string;
  readonly like: string;
}

const AMOUNT = /^\d+([.,]\d+)?$/;

/** A price as a person would type it: that of an entry, or an empty one. */
export function typedPrice(model: string, shown: ShownPrice | undefined): TypedPrice {
  const { price = null, like = null, from = null } = shown ?? {};
  const text = (rate: number | undefined): string => (rate === undefined ? '' : String(rate));
  const isFree = from === 'own' && price !== null && price.input === 0 && price.output === 0;
  const likeOrRates = like === null ? 'rates' : 'like';
  return {
    model,
    kind: isFree ? 'free' : likeOrRates,
    input: text(price?.input),
    output: text(price?.output),
    cacheRead: text(price?.cacheRead),
    cacheWrite: text(price?.cacheWrite),
    like: like ?? '',
  };
}

/** The price, or the fields of which something is wrong. An empty rate of the cache is as dear as input. */
export function priceOf({ model, kind, like, ...rates }: TypedPrice): Price | ReadonlySet<string> {
  const wrong = new Set<string>();
  if (!/^[^/\s]+\/\S+$/.test(model)) wrong.add('model');
  if (kind === 'like' && !/^[^/\s]+\/\S+$/.test(like)) wrong.add('like');
  if (kind === 'rates') for (const [name, text] of Object.entries(rates)) if (!AMOUNT.test(text) && !(text === '' && name.startsWith('cache'))) wrong.add(name);
  if (wrong.size > 0) return wrong;
  if (kind === 'free') return 0;
  if (kind === 'like') return like;
  return Object.fromEntries(
    Object.entries(rates).flatMap(([name, text]) => (text === '' ? [] : [[name, Number(text.replace(',', '.'))]])),
  ) as unknown as OwnRates;
}
