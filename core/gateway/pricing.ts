// What a call costs and how much a model can read, from the price data set that is installed with the package. The data is loaded on first use, and
// nothing is ever fetched. A model that the data does not name has no price: null, never a guess.
import type { MatchLogic, PriceCalculation } from '@pydantic/genai-prices';
import type { Usage } from '../schemas/chat.ts';

type PriceData = Pick<typeof import('@pydantic/genai-prices'), 'calcPrice'>;

/** The provider of calls that cost nothing. */
export const FREE = 'free';

/** What is to be priced. */
export interface Priced {
  /** The `pricesAs` of the adapter. */
  readonly provider: string;
  readonly model: string;
  readonly usage: Usage;
  /** When the call was made, since prices change; now when it is absent. */
  readonly at?: Date;
}

/** USD for a usage; null when the price is not known or the counts can't be true. */
export type Pricer = (usage: Usage) => number | null;

/** The price data. */
export class Prices {
  readonly #load: () => Promise<PriceData>;
  readonly #now: () => number;
  readonly #rates = new Map<string, KnownPricer>();
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
    if (priced.provider === FREE) return 0;
    this.#data ??= this.#load();
    return priceOf(await this.#data, priced);
  }

  /** The price of a call of now, as `price` computes it. */
  async priceNow({ provider, model, usage }: Omit<Priced, 'at'>): Promise<number | null> {
    return (await this.pricer(provider, model))(usage);
  }

  /** Prices calls of a model that end soon. Most models cost so much a token, which is worked out once a minute: a search takes as long as a small request. */
  async pricer(provider: string, model: string): Promise<Pricer> {
    if (provider === FREE) return () => 0;
    const key = `${provider}\n${model}`;
    const known = this.#rates.get(key);
    if (known !== undefined && known.until > this.#now()) return known.pricer;
    this.#data ??= this.#load();
    const pricer = this.#pricerOf(await this.#data, provider, model);
    if (this.#rates.size >= MAX_RATES) this.#rates.clear();
    this.#rates.set(key, { pricer, until: this.#now() + KEEP_RATES_MS });
    return pricer;
  }

  #pricerOf(data: PriceData, provider: string, model: string): Pricer {
    const found = find(data, { provider, model });
    if (found === undefined) return () => null;
    const rates = flatRates(found.model_price);
    return rates === 'other' ? (usage) => priceOf(data, { provider, model, usage }) : (usage) => flatPrice(rates, usage);
  }

  /** Tokens that fit into one request; null when that is not known. */
  async contextWindow(provider: string, model: string): Promise<number | null> {
    this.#data ??= this.#load();
    return find(await this.#data, { provider, model })?.model.context_window ?? null;
  }
}

/** USD; null when the price is not known or the counts can't be true. */
function priceOf(data: PriceData, { provider, model, usage, at }: Priced): number | null {
  const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
  // The data set counts in the same way: cached tokens are part of the input.
  const counts = { input_tokens: inputTokens, output_tokens: outputTokens, cache_read_tokens: cacheReadTokens, cache_write_tokens: cacheWriteTokens };
  if (!Object.values(counts).every(isCount) || cacheReadTokens + cacheWriteTokens > inputTokens) return null;
  const total = find(data, { provider, model, counts, at })?.total_price;
  return total !== undefined && Number.isFinite(total) && total >= 0 ? total : null;
}

interface Sought {
  readonly provider: string;
  readonly model: string;
  readonly counts?: Record<string, number>;
  readonly at?: Date | undefined;
}

/** Only an exact find of this provider counts: the data set also finds similar names, and other providers of the same model. */
function find({ calcPrice }: PriceData, { provider, model, counts = {}, at }: Sought): PriceCalculation | undefined {
  let found: PriceCalculation | null;
  try {
    found = calcPrice(counts, model, { providerId: provider, ...(at !== undefined && { timestamp: at }) });
  } catch {
    return undefined; // an entry that contradicts itself: the call is shown as unpriced, and its answer is not lost
  }
  return found !== null && found.provider.id === provider && names(found.model.match, model.trim().toLowerCase()) ? found : undefined;
}

const KEEP_RATES_MS = 60_000;
/** Requests may name any model. */
const MAX_RATES = 1000;

/** USD for a million tokens. */
interface FlatRates {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

interface KnownPricer {
  readonly pricer: Pricer;
  readonly until: number;
}

/** Prices of other things than tokens of text don't count in a usage, except a price for each request. */
function flatRates({ input_mtok, output_mtok, cache_read_mtok, cache_write_mtok, requests_kcount }: PriceCalculation['model_price']): FlatRates | 'other' {
  if (requests_kcount !== undefined || typeof input_mtok !== 'number' || typeof output_mtok !== 'number') return 'other';
  const [cacheRead, cacheWrite] = [cache_read_mtok ?? input_mtok, cache_write_mtok ?? input_mtok];
  if (typeof cacheRead !== 'number' || typeof cacheWrite !== 'number') return 'other';
  return { input: input_mtok, output: output_mtok, cacheRead, cacheWrite };
}

function flatPrice({ input, output, cacheRead, cacheWrite }: FlatRates, usage: Usage): number | null {
  const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
  const plain = inputTokens - cacheReadTokens - cacheWriteTokens;
  if (![inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens].every(isCount) || plain < 0) return null;
  return (plain * input + cacheReadTokens * cacheRead + cacheWriteTokens * cacheWrite + outputTokens * output) / 1e6;
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** One or two digits after the name: `-5` is the version of another model; `-20260514`, `-001` and `-09-2025` are releases of this model. */
const FURTHER_VERSION = /^(?!-\d{2}-\d{4}$)[-.]\d{1,2}(?!\d)/;

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
