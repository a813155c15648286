// Under which name a call has its price, and whether that price is known. A call without a known price does not count towards a cap in USD.
import { type Endpoint, mayCostMore } from '../auth/endpoint.ts';
import type { FiledPrices } from '../auth/price-file.ts';
import { originOf, type ResolvedSettings } from '../auth/settings.ts';
import { urlOf } from '../base/url.ts';
import { BlockhouseError } from '../errors.ts';
import type { Adapter } from '../ports.ts';
import type { ChatConfig } from '../schemas/chat.ts';
import type { ShownPrice } from '../types.ts';
import { isLoopbackHost, isPrivateHost } from './egress.ts';
import { FREE, type PricedModel, type Prices } from './pricing.ts';

const NO_USAGE = { inputTokens: 0, outputTokens: 0, totalTokens: 0 } as const;

/** What the question needs. */
export interface PriceKnowledge {
  readonly gateway: { pricedAs(call: CallToPrice): PricedModel | undefined };
  readonly prices: Pick<Prices, 'priceNow'>;
}

/** What decides which price a call has, besides its tokens. */
export interface CallToPrice {
  readonly provider: string;
  readonly model: string;
  /** The settings of the request. */
  readonly config?: ChatConfig | undefined;
  /** The processing tier that the request asks for, where `config` does not say it. */
  readonly tier?: string | undefined;
}

/** Where a price comes from. */
export type PriceSource = NonNullable<ShownPrice['from']>;

/** The names in the price data of the model that a call reaches, or its own rates, and which of the ways to know a price that is. */
export interface KnownPrice {
  readonly from: PriceSource;
  readonly priced: PricedModel;
}

/** The price of a call; undefined without a known one, and for another server under the adapter. */
export function priceOf(adapter: Adapter, settings: ResolvedSettings, call: CallToPrice, filed: FiledPrices | undefined): KnownPrice | undefined {
  const { model, config, tier = config?.serviceTier } = call;
  if (adapter.standsIn === true) return { from: 'own', priced: { provider: FREE, model } };
  if (settings.sources['baseURL'] === 'request') return dataPrice(adapter, settings, model, tier);
  const known = stated(adapter, settings, model, tier, filed);
  if (!tellsCost(adapter, settings)) return known;
  return { from: 'provider', priced: { ...(known?.priced ?? { provider: '', model }), toldBy: adapter.id } };
}

/** The price that the operator has given, that of a server of the operator's own, or that of the price data. */
function stated(adapter: Adapter, settings: ResolvedSettings, model: string, tier: string | undefined, filed: FiledPrices | undefined): KnownPrice | undefined {
  const { endpoint } = settings;
  const own = endpoint?.factsOf(model)?.price;
  if (own === 0) return { from: 'own', priced: { provider: FREE, model } };
  const name = adapter.pricedModel === undefined ? model : adapter.pricedModel({ model, settings, tier });
  const isDearer = name === undefined && mayCostMore(tier); // without a name for other reasons, the model still has the price that a person has given it
  if (typeof own === 'string')
    return isDearer ? undefined : { from: 'own', priced: { provider: own.slice(0, own.indexOf('/')), model: own.slice(own.indexOf('/') + 1) } };
  if (own !== undefined) return isDearer ? undefined : { from: 'own', priced: { provider: adapter.id, model, rates: own } };
  const rates = filed?.ratesOf(adapter.id, model) ?? (name === undefined ? undefined : filed?.ratesOf(adapter.id, name));
  if (rates === 'unknown') return tellsCost(adapter, settings) ? undefined : { from: 'file', priced: { provider: '', model, isUnread: true } };
  if (rates !== undefined) return isDearer ? undefined : { from: 'file', priced: { provider: adapter.id, model, rates } };
  if (isOwnServer(adapter, endpoint, settings) && adapter.passedOn?.test(model) !== true) return { from: 'own', priced: { provider: FREE, model } };
  if (endpoint === undefined) return dataPrice(adapter, settings, model, tier);
  if (endpoint.pricesAs === undefined) return dataPrice(adapter, settings, model, tier);
  if (adapter.isOwnAddress?.(settings) === false) return undefined;
  return name === undefined ? undefined : { from: 'data', priced: { provider: endpoint.pricesAs, model: name, address: settings.values['baseURL'] } };
}

/** True if answers tell what they cost. */
function tellsCost(adapter: Adapter, { endpoint }: ResolvedSettings): boolean {
  return endpoint?.quirks.costField !== undefined && adapter.readsCost === true;
}

/**
 * A server on this machine, or one on a private address of a local preset or of an adapter whose servers need no key: it costs nothing for each call, unless its answers
 * tell that they cost something. Another adapter's own entry may lead to a proxy.
 */
function isOwnServer(adapter: Adapter, endpoint: Endpoint | undefined, settings: ResolvedSettings): boolean {
  const { isConnection = false, isLocal = false, pricesAs } = endpoint ?? {};
  if (!(isConnection || !adapter.authRequired) || pricesAs !== undefined || tellsCost(adapter, settings)) return false;
  const host = urlOf(settings.values['baseURL'] ?? '')?.hostname ?? '';
  return isLoopbackHost(host) || ((isLocal || !adapter.authRequired) && isPrivateHost(host));
}

function dataPrice(adapter: Adapter, settings: ResolvedSettings, model: string, tier: string | undefined): KnownPrice | undefined {
  if (adapter.pricesAs === undefined || !isOwnHost(adapter, settings)) return undefined;
  const name = adapter.pricedModel === undefined ? model : adapter.pricedModel({ model, settings, tier });
  return name === undefined ? undefined : { from: 'data', priced: { provider: adapter.pricesAs, model: name } };
}

/** Throws WORKSPACE_DAMAGED for a call whose price may stand in a prices.json that could never be read: a cap in USD would not count it. */
export function assertPriceRead(priced: PricedModel | undefined): void {
  if (priced?.isUnread !== true) return;
  const message =
    "prices.json of the workspace can't be used, and may have the price of this model. Until it is repaired or removed, no call of it is made under a cap in USD.";
  throw new BlockhouseError('WORKSPACE_DAMAGED', message);
}

/** Of calls that are made now. */
export async function isPriceKnown({ gateway, prices }: PriceKnowledge, call: CallToPrice): Promise<boolean> {
  const priced = gateway.pricedAs(call);
  return priced !== undefined && (await prices.priceNow({ ...priced, usage: NO_USAGE })) !== null;
}

/** True if calls go to the provider's own host, no matter where its address was configured. */
function isOwnHost(adapter: Adapter, settings: ResolvedSettings): boolean {
  if (adapter.isOwnAddress?.(settings) === false) return false;
  const { values, sources } = settings;
  const own = adapter.settings['baseURL']?.default;
  return (sources['baseURL'] ?? 'default') === 'default' || (own !== undefined && originOf(values['baseURL']) === originOf(own));
}
