// What a call costs and how much a model can read, from the price data set that is installed with the package. The data is loaded on first use, and
// nothing is ever fetched.
//
// never-a-guess: a model that the data does not name has no price, and neither has a call whose tier or parts it does not know, nor one of a model that
//   charges for searches besides its tokens: null. An entry without a price of tokens, such as one by the hour of audio, or without any, says nothing of a call; only
//   a name that says so is free.
// at-least: a call without a price, of a model that has one, costs at least what it would cost as a usual one: in the standard tier, an hour in the cache as
//   five minutes, audio like the dearest text, without searches. A cap counts that, so that no tier and no part makes a call free.
// told-first: where a connection reads the bill from the answer, that is the cost. Of a usage that is partly estimated, the bill is only a part.
// not-told: a call whose bill did not come, because its answer broke off, costs what the bills for its model so far say (told-bills.ts), in whatever letters that is written.
// never-cheaper: a report that contradicts itself does not make a call cheaper. Of its parts, only those that raise the price are believed.
import type { MatchLogic, PriceCalculation } from '@pydantic/genai-prices';
import { plainModel } from '../auth/endpoint.ts';
import { isCount } from '../base/tokens.ts';
import type { Usage } from '../schemas/chat.ts';
import type { OwnRates } from '../types.ts';
import type { PricedModel } from './account.ts';
import { ToldBills } from './told-bills.ts';

export { plainModel } from '../auth/endpoint.ts';
export type { PricedModel } from './account.ts';

type PriceData = Pick<typeof import('@pydantic/genai-prices'), 'calcPrice'>;

/** The provider of calls that cost nothing. */
export const FREE = 'free';

/** What is to be priced. */
export interface Priced extends PricedModel {
  readonly usage: Usage;
  /** When the call was made, since prices change; now when it is absent. */
  readonly at?: Date;
}

/** Prices the calls of one model. */
export interface Pricer {
  /** USD; null when the price is not known or the counts can't be true. */
  exact(usage: Usage): number | null;
  /** The same where the price is known, and otherwise USD that the call costs at least (at-least); null for a model without a known price. */
  least(usage: Usage): number | null;
  /** Takes what a call has used that has ended (not-told). */
  readonly learn?: (usage: Usage) => void;
}

/** The price data. */
export class Prices {
  readonly #load: () => Promise<PriceData>;
  readonly #now: () => number;
  /** not-told. */
  readonly #told = new ToldBills();
  readonly #pricers = new Map<string, { readonly pricer: Pricer; readonly until: number }>();
  #data: Promise<PriceData> | undefined;

  /** `now` in monotonic milliseconds. */
  constructor(load: () => Promise<PriceData> = () => import('@pydantic/genai-prices'), now: () => number = () => performance.now()) {
    this.#load = load;
    this.#now = now;
  }

  /** Loads the data: a tenth of a second of work in one piece, better done before anybody streams. */
  async prepare(): Promise<void> {
    this.#data ??= this.#load();
    await this.#data;
  }

  /** USD; null when the price is not known or the counts can't be true. */
  async price(priced: Priced): Promise<number | null> {
    if (priced.provider === FREE && priced.toldBy === undefined) return 0;
    if (priced.toldBy !== undefined || priced.rates !== undefined || priced.address !== undefined) return (await this.pricer(priced)).exact(priced.usage);
    this.#data ??= this.#load();
    return priceOf(await this.#data, priced);
  }

  /** The price of a call of now, as `price` computes it. */
  async priceNow({ usage, ...model }: Omit<Priced, 'at'>): Promise<number | null> {
    return (await this.pricer(model)).exact(usage);
  }

  /** Prices calls of a model that end soon. Most models cost so much a token, which is worked out once a minute: a search takes as long as a small request. */
  async pricer(priced: PricedModel): Promise<Pricer> {
    const known = this.known(priced);
    if (known !== undefined) return known;
    const { toldBy } = priced;
    if (toldBy !== undefined) return this.#toldPricer(await this.pricer({ ...priced, toldBy: undefined }), `${toldBy}\n${plainModel(priced.model)}`);
    this.#data ??= this.#load();
    const pricer = pricerOf(await this.#data, priced);
    if (this.#pricers.size >= MAX_PRICERS) this.#pricers.clear();
    this.#pricers.set(nameOf(priced), { pricer, until: this.#now() + KEEP_RATES_MS });
    return pricer;
  }

  /** told-first: before the answer, the price that is known. A call of nothing costs nothing. */
  #toldPricer({ exact, least }: Pricer, name: string): Pricer {
    const byBills = (usage: Usage): number | null => this.#told.costOf(name, usage);
    const told = (usage: Usage): number | undefined => {
      const { costUsd, totalTokens, estimated } = usage;
      if (costUsd === undefined) return totalTokens === 0 ? 0 : undefined;
      return estimated === true ? Math.max(costUsd, least(usage) ?? byBills(usage) ?? 0) : costUsd;
    };
    return {
      exact: (usage) => told(usage) ?? exact(usage),
      least: (usage) => told(usage) ?? least(usage) ?? byBills(usage),
      learn: (usage) => this.#told.learn(name, usage),
    };
  }

  /** The same at once, if it was worked out in the last minute; else undefined. */
  known(priced: PricedModel): Pricer | undefined {
    if (priced.toldBy !== undefined) return undefined;
    if (priced.provider === FREE) return NO_COSTS;
    if (priced.rates !== undefined) return ownPricer(priced.rates);
    const known = this.#pricers.get(nameOf(priced));
    return known !== undefined && known.until > this.#now() ? known.pricer : undefined;
  }

  /** USD for a million tokens; null for a price that is not known, or is not the same for all calls. */
  async rates({ provider, model, rates, address }: PricedModel): Promise<OwnRates | null> {
    if (provider === FREE) return { input: 0, output: 0 };
    if (rates !== undefined) return rates;
    this.#data ??= this.#load();
    const found = findPriced(await this.#data, { provider, model });
    if (found === undefined || !isAt(found, address) || SEARCHES.test(model)) return null;
    const flat = flatRates(found.model_price);
    return flat === 'other' ? null : flat;
  }

  /** True if the price data have a price of this model. */
  async knows(provider: string, model: string): Promise<boolean> {
    this.#data ??= this.#load();
    return findPriced(await this.#data, { provider, model }) !== undefined;
  }

  /** Tokens that fit into one request; null when that is not known. */
  async contextWindow(provider: string, model: string): Promise<number | null> {
    this.#data ??= this.#load();
    return find(await this.#data, { provider, model })?.model.context_window ?? null;
  }
}

function nameOf({ provider, model, address = '' }: PricedModel): string {
  return `${provider}\n${model}\n${address}`;
}

const NO_COSTS: Pricer = { exact: () => 0, least: () => 0 };
/** Of a model without a known price. */
export const NO_PRICE: Pricer = { exact: () => null, least: () => null };

/** An own price is that of text in the standard tier, and everything but an hour in the cache is counted as that. */
function ownPricer({ input, output, cacheRead = input, cacheWrite = input, cacheWrite1h = cacheWrite }: OwnRates): Pricer {
  const rates = { input, output, cacheRead, cacheWrite, cacheWrite1h };
  const priceFor = (usage: Usage): number | null => {
    const counts = countsOf(usage);
    return counts === undefined ? null : flatPrice(rates, counts);
  };
  return { exact: priceFor, least: ({ unpricedTier: _tier, ...usual }) => priceFor(usual) };
}

function pricerOf(data: PriceData, { provider, model, address }: PricedModel): Pricer {
  const found = findPriced(data, { provider, model });
  if (found === undefined || !isAt(found, address)) return NO_PRICE;
  const rates = SEARCHES.test(model) ? 'other' : flatRates(found.model_price);
  const exact = (usage: Usage): number | null => {
    const counts = countsOf(usage);
    if (counts === undefined) return null;
    return rates === 'other' || counts.hasParts ? priceOf(data, { provider, model, usage }) : flatPrice(rates, counts);
  };
  return { exact, least: (usage) => exact(usage) ?? leastOf(data, { provider, model, usage }) };
}

/** USD; null when the price is not known or the counts can't be true. */
function priceOf(data: PriceData, { provider, model, usage, at }: Priced): number | null {
  const counts = countsOf(usage);
  if (counts === undefined || SEARCHES.test(model)) return null;
  const found = findPriced(data, { provider, model }, withParts(counts), at);
  if (
    found === undefined ||
    !hasPriceOfOutput(found, counts) ||
    !hasPriceOfHours(found.model_price, counts) ||
    !hasPriceOfAudio(found.model_price, counts, model)
  )
    return null;
  return trueTotal(found.total_price);
}

/** at-least. */
function leastOf(data: PriceData, { provider, model, usage }: Priced): number | null {
  const { unpricedTier: _tier, cacheWrite1hTokens: _hours, ...usual } = usage;
  const counts = countsOf(usual);
  const found = counts && findPriced(data, { provider, model }, withParts(counts));
  if (counts === undefined || found === undefined) return null;
  const total = trueTotal(found.total_price);
  return total === null || hasPriceOfAudio(found.model_price, counts, model) ? total : total + audioAsDearest(found, counts);
}

/** What audio without a price of its own, which the data count as text, costs more at the dearest rate of the model. */
function audioAsDearest({ model_price: price, input_price, output_price }: PriceCalculation, { input, output, audioIn, audioOut }: Counts): number {
  const [inRate, outRate] = [input === 0 ? 0 : input_price / input, output === 0 ? 0 : output_price / output];
  const known = [price.input_mtok, price.output_mtok].filter((rate) => typeof rate === 'number').map((rate) => rate / 1e6);
  const dearest = Math.max(inRate, outRate, ...known);
  return (
    (dearest - inRate) * (price.input_audio_mtok === undefined ? audioIn : 0) + (dearest - outRate) * (price.output_audio_mtok === undefined ? audioOut : 0)
  );
}

function trueTotal(total: number): number | null {
  return Number.isFinite(total) && total >= 0 ? total : null;
}

/** False for an address that is not one of the provider's. */
function isAt({ provider }: PriceCalculation, address: string | undefined): boolean {
  return address === undefined || new RegExp(`^(?:${provider.api_pattern})`).test(address);
}

/** Only an exact find of this provider counts: the data set also finds similar names, and other providers of the same model. */
function find({ calcPrice }: PriceData, { provider, model }: PricedModel, counts: Record<string, number> = {}, at?: Date): PriceCalculation | undefined {
  let found: PriceCalculation | null;
  try {
    found = calcPrice(counts, model, { providerId: provider, ...(at !== undefined && { timestamp: at }) });
  } catch {
    return undefined; // an entry that contradicts itself: the call is shown as unpriced, and its answer is not lost
  }
  return found !== null && found.provider.id === provider && names(found.model.match, ownName(model)) ? found : undefined;
}

/** The same for its price: never-a-guess. */
function findPriced(...which: Parameters<typeof find>): PriceCalculation | undefined {
  const found = find(...which);
  return found !== undefined && (found.model_price.input_mtok !== undefined || isFree(found)) ? found : undefined;
}

/** Entries without any price stand for free models, and for paid ones whose price nobody has written down. */
const FREE_NAMES = /:free$|^gemma-|^moderation$/;

function isFree({ model_price: price, model }: PriceCalculation): boolean {
  return Object.keys(price).length === 0 && FREE_NAMES.test(model.id);
}

/** False for an answer of a model that has a price of input alone. */
function hasPriceOfOutput(found: PriceCalculation, { output }: Counts): boolean {
  return output === 0 || found.model_price.output_mtok !== undefined || isFree(found);
}

const KEEP_RATES_MS = 60_000;
/** Requests may name any model. */
const MAX_PRICERS = 1000;

/** USD for a million tokens. */
interface FlatRates {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** Where it is missing, an hour costs as much as five minutes. */
  readonly cacheWrite1h?: number;
}

/** Prices of other things than tokens of text don't count in a usage, except a price for each request. */
function flatRates({ input_mtok, output_mtok, cache_read_mtok, cache_write_mtok, requests_kcount }: PriceCalculation['model_price']): FlatRates | 'other' {
  if (requests_kcount !== undefined || typeof input_mtok !== 'number' || typeof output_mtok !== 'number') return 'other';
  const [cacheRead, cacheWrite] = [cache_read_mtok ?? input_mtok, cache_write_mtok ?? input_mtok];
  if (typeof cacheRead !== 'number' || typeof cacheWrite !== 'number') return 'other';
  return { input: input_mtok, output: output_mtok, cacheRead, cacheWrite };
}

/** Counts that agree with each other. */
interface Counts {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** Of cacheWrite. */
  readonly hours: number;
  /** Of input. */
  readonly audioIn: number;
  /** Of output. */
  readonly audioOut: number;
  /** Of output, besides audio. */
  readonly imageOut: number;
  /** True if some of the tokens may have a price of their own besides those in FlatRates. */
  readonly hasParts: boolean;
}

/** Undefined for a usage that has no price, whatever the model. */
function countsOf(usage: Usage): Counts | undefined {
  const { inputTokens: input, outputTokens: output } = usage;
  if (usage.unpricedTier === true || !isCount(input) || !isCount(output)) return undefined;
  const written = countOf(usage.cacheWriteTokens);
  const read = countOf(usage.cacheReadTokens);
  const cacheWrite = Math.min(written, input);
  const cacheRead = read + written > input ? 0 : read; // never-cheaper
  const hours = Math.min(countOf(usage.cacheWrite1hTokens), cacheWrite);
  const audioIn = Math.min(countOf(usage.inputAudioTokens), input);
  const audioOut = Math.min(countOf(usage.outputAudioTokens), output);
  const imageOut = Math.min(countOf(usage.outputImageTokens), output - audioOut);
  return { input, output, cacheRead, cacheWrite, hours, audioIn, audioOut, imageOut, hasParts: hours + audioIn + audioOut + imageOut > 0 };
}

/** In the words of the data, which counts in the same way: parts are included in the whole. Cached tokens are taken for text as far as they can be. */
function withParts({ input, output, cacheRead, cacheWrite, hours, audioIn, audioOut, imageOut, hasParts }: Counts): Record<string, number> {
  const counts = { input_tokens: input, output_tokens: output, cache_read_tokens: cacheRead, cache_write_tokens: cacheWrite };
  if (!hasParts) return counts;
  const audioRead = Math.max(0, cacheRead - (input - audioIn)); // never-cheaper: cached audio saves more than cached text
  const audio = { input_audio_tokens: audioIn, cache_audio_read_tokens: audioRead, output_audio_tokens: audioOut };
  return { ...counts, ...audio, output_image_tokens: imageOut, cache_write_1h_tokens: hours };
}

/** False if an hour in the cache has a price that the data does not know: it is never that of five minutes. */
function hasPriceOfHours({ cache_write_mtok, cache_write_1h_mtok }: PriceCalculation['model_price'], { hours }: Counts): boolean {
  return hours === 0 || cache_write_1h_mtok !== undefined || cache_write_mtok === undefined;
}

/** Models that search the web for their answers, and are billed for each search as well. */
export const SEARCHES = /search-(?:preview|api)|deep-research|-(?:search|online)$/i;

/** A model for audio is named so. Elsewhere audio without a price of its own costs what text costs, as on some models of Google. */
const FOR_AUDIO = /audio|realtime/i;

/** False if a model for audio has prices of text only. */
function hasPriceOfAudio({ input_audio_mtok, output_audio_mtok }: PriceCalculation['model_price'], { audioIn, audioOut }: Counts, model: string): boolean {
  if (!FOR_AUDIO.test(model)) return true;
  return (audioIn === 0 || input_audio_mtok !== undefined) && (audioOut === 0 || output_audio_mtok !== undefined);
}

function flatPrice(rates: FlatRates, { input, output, cacheRead, cacheWrite, hours }: Counts): number {
  const plain = input - cacheRead - cacheWrite;
  const written = (cacheWrite - hours) * rates.cacheWrite + hours * (rates.cacheWrite1h ?? rates.cacheWrite);
  return (plain * rates.input + cacheRead * rates.cacheRead + written + output * rates.output) / 1e6;
}

/** 0 if the value is not a count: whether there is a price depends on the total alone. */
function countOf(value: number | undefined): number {
  return isCount(value) ? value : 0;
}

/** One or two digits after the name: `-5` is the version of another model; `-20260514`, `-001` and `-09-2025` are releases of this model. */
const FURTHER_VERSION = /^(?!-\d{2}-\d{4}$)[-.]\d{1,2}(?!\d)/;

/** Of a tuned model, only the name of what was tuned: the rest is chosen by its owner, and an entry may match any part of an id. */
function ownName(model: string): string {
  const name = model.trim().toLowerCase();
  return name.startsWith('ft:') ? name.split(':', 2).join(':') : name;
}

/** Entries match by the beginning of an id, which would also price a successor that is not in the data yet. */
function names(match: MatchLogic, model: string): boolean {
  if ('or' in match) return match.or.some((part) => names(part, model));
  if ('and' in match) return match.and.every((part) => names(part, model));
  if ('equals' in match) return model === match.equals.toLowerCase();
  if ('regex' in match) return new RegExp(match.regex, 'i').test(model);
  if ('ends_with' in match) return model.endsWith(match.ends_with.toLowerCase());
  const name = ('starts_with' in match ? match.starts_with : match.contains).toLowerCase();
  const at = model.indexOf(name);
  return at !== -1 && !FURTHER_VERSION.test(model.slice(at + name.length));
}
