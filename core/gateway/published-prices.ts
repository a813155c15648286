// Reads the files that `prices update` takes: a list of prices of our own form, or the published JSON of the price data. Pure: no I/O.
//
// no-guess: a price of the data that is not the same for all calls (by the length of the prompt, the time of the day, other prices for audio or pictures) is not taken, and
//   counted as such; the installed data know how to compute it. Neither is one of a model that charges for searches. Only names that the data spell out are taken, not their rules for similar names.
import { checkPrices } from '../auth/price-file.ts';
import { isObject } from '../base/json.ts';
import { parseBytes } from '../base/strict-json.ts';
import type { OwnRates, PriceDocument } from '../types.ts';
import { SEARCHES } from './pricing.ts';

/** The published data have some 60,000 fields. */
const MAX_VALUES = 2_000_000;

/** What a file says. */
export interface PublishedPrices {
  readonly models: PriceDocument['models'];
  /** How many models of the price data have no single price, or none that says which. */
  readonly skipped: number;
}

/** `namesOf` has the connections whose prices a provider of the price data has. Throws an Error that says what is wrong, and names the field. */
export function readPublished(bytes: Uint8Array, namesOf: (provider: string) => readonly string[], now: Date): PublishedPrices {
  const json = parseBytes(bytes, MAX_VALUES);
  const providers = Array.isArray(json) ? json : isObject(json) && Array.isArray(json['providers']) ? json['providers'] : undefined;
  if (providers !== undefined) return fromData(providers, namesOf, now);
  if (!isObject(json)) throw new Error('it holds neither {"models": {"<connection>/<model>": {"input": …, "output": …}}} nor the published price data');
  const { source: _other, ...document } = json;
  checkPrices(document);
  return { models: document.models, skipped: 0 };
}

/** What is used of a model of the data. */
interface DataModel {
  readonly id: string;
  readonly match?: unknown;
  readonly prices?: unknown;
}

function fromData(providers: readonly unknown[], namesOf: (provider: string) => readonly string[], now: Date): PublishedPrices {
  const models: Record<string, OwnRates> = {};
  let skipped = 0;
  for (const [index, provider] of providers.entries()) {
    if (!isObject(provider) || typeof provider['id'] !== 'string' || !Array.isArray(provider['models']))
      throw new Error(`[${index}] has no id and models, so it is no provider of the price data`);
    const names = namesOf(provider['id']);
    if (names.length === 0) continue;
    for (const model of provider['models'] as readonly unknown[]) {
      if (!isModel(model)) throw new Error(`[${index}].models has an entry without an id`);
      const rates = SEARCHES.test(model.id) ? undefined : ratesOf(model.prices, now);
      if (rates === undefined) skipped += 1;
      else for (const name of names) for (const id of idsOf(model).filter((one) => !SEARCHES.test(one))) models[`${name}/${id}`] ??= rates;
    }
  }
  if (Object.keys(models).length === 0) throw new Error('it has no price of any model that a provider or a connection of this workspace has');
  checkPrices({ models });
  return { models, skipped };
}

function isModel(value: unknown): value is DataModel {
  return isObject(value) && typeof value['id'] === 'string' && value['id'] !== '';
}

/** no-guess. */
function idsOf({ id, match }: DataModel): string[] {
  const named = (part: unknown): string[] => {
    if (!isObject(part)) return [];
    if (typeof part['equals'] === 'string') return [part['equals']];
    return Array.isArray(part['or']) ? part['or'].flatMap(named) : [];
  };
  return [...new Set([id, ...named(match)])];
}

/** Undefined for a price that depends on the call (no-guess). Of several that begin on a day, the newest that has begun. */
function ratesOf(prices: unknown, now: Date): OwnRates | undefined {
  if (!Array.isArray(prices)) return isObject(prices) ? flat(prices) : undefined;
  const begun = prices.filter((one) => isObject(one) && hasBegun(one['constraint'], now));
  if (begun.some((one) => isObject(one['constraint']) && one['constraint']['type'] !== 'start_date' && 'start_time' in one['constraint'])) return undefined;
  const newest = begun.at(-1);
  return isObject(newest) && isObject(newest['prices']) ? flat(newest['prices']) : undefined;
}

function hasBegun(constraint: unknown, now: Date): boolean {
  if (!isObject(constraint) || typeof constraint['start_date'] !== 'string') return true;
  return Date.parse(constraint['start_date']) <= now.getTime();
}

const RATES = [
  ['input_mtok', 'input'],
  ['output_mtok', 'output'],
  ['cache_read_mtok', 'cacheRead'],
  ['cache_write_mtok', 'cacheWrite'],
  ['cache_write_1h_mtok', 'cacheWrite1h'],
] as const;
/** Prices of tools, besides those of tokens: a key with limits can't ask for any. */
const OF_TOOLS: ReadonlySet<string> = new Set(['web_searches_kcount', 'storage_searches_kcount']);

function flat(price: Readonly<Record<string, unknown>>): OwnRates | undefined {
  const rates: Record<string, number> = {};
  const isKnown = (name: string): boolean => RATES.some(([theirs]) => theirs === name) || OF_TOOLS.has(name);
  if (Object.keys(price).some((name) => price[name] != null && !isKnown(name))) return undefined; // no-guess
  for (const [theirs, ours] of RATES) {
    const value = price[theirs];
    if (value === undefined || value === null) continue;
    if (typeof value !== 'number') return undefined;
    rates[ours] = value;
  }
  const { input, output } = rates;
  return input === undefined || output === undefined ? undefined : { ...rates, input, output };
}
