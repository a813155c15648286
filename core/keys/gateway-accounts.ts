// Accounts for the calls of clients: what each key may do and has spent, and the ledger of gateway calls.
//
// whatever-failed: a call that failed has its line too, with what is known of its usage.
// caps-hold: a call is admitted only while its key is below its caps. So a cap is passed by the calls under way at most.
import type { CoreBus, CoreEvents } from '../bus.ts';
import { BlockhouseError, toBlockhouseError } from '../errors.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { CallToPrice } from '../gateway/known-price.ts';
import type { PricedModel, Prices } from '../gateway/pricing.ts';
import { reachesUsd } from '../monitor/budget.ts';
import { reportCosts } from '../monitor/costs-report.ts';
import type { CostsReport } from '../types.ts';
import type { GatewayLedger } from '../workspace/gateway-ledger.ts';
import { type Accounts, type KeySpend, mayUse, type NamedKey } from './named-key.ts';

/** What accounts work with. */
export interface GatewayAccountsOptions {
  readonly bus: CoreBus;
  readonly gateway: Pick<Gateway, 'pricedAs'>;
  readonly prices: Pick<Prices, 'priceNow'>;
  readonly ledger: GatewayLedger;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** How long it is taken for granted that an adapter calls its provider's own host, which decides whether prices hold. */
const KEEP_NAME_MS = 1000;
/** Requests may name any model. */
const MAX_NAMES = 1000;

/** The accounts of a workspace, from its start to its end. */
export class GatewayAccounts implements Accounts {
  readonly #options: GatewayAccountsOptions;
  /** Calls that have ended and whose price is being looked up. */
  readonly #pricing = new Set<Promise<void>>();
  /** Of calls without settings of their own. */
  readonly #names = new Map<string, { readonly pricedAs: PricedModel | undefined; readonly until: number }>();
  #last = { second: Number.NaN, iso: '' };
  readonly #listener: (fact: CoreEvents['chat.finished']) => void;

  constructor(options: GatewayAccountsOptions) {
    this.#options = options;
    this.#listener = (fact) => this.#take(fact);
    options.bus.on('chat.finished', this.#listener);
  }

  /** caps-hold. */
  async admit(key: NamedKey, models: readonly string[]): Promise<void> {
    const now = this.#options.now();
    if (!models.some((model) => mayUse(key, model))) {
      throw new BlockhouseError(
        'KEY_FORBIDDEN',
        `The key ${key.name} may not use the model ${JSON.stringify(models[0])}; it may use ${key.models?.join(', ')}.`,
      );
    }
    if (key.usdPerDay === null && key.tokensPerDay === null) return;
    const cap = capReached(key, await this.#options.ledger.spentToday(key.name));
    if (cap === undefined) return;
    throw new BlockhouseError('KEY_CAP_REACHED', `The key ${key.name} has reached its cap of ${cap} a day. It may be used again at 00:00 UTC.`, {
      retryAfterMs: nextUtcDay(now) - now,
    });
  }

  async costs(by: 'key' | 'model' | 'day'): Promise<CostsReport> {
    await Promise.all(this.#pricing);
    return reportCosts(this.#options.ledger.lines(), by);
  }

  spentToday(key: string): Promise<KeySpend> {
    return this.#options.ledger.spentToday(key);
  }

  /** Calls that end later are not recorded. Resolves when the ledger is written. */
  async close(): Promise<void> {
    this.#options.bus.off('chat.finished', this.#listener);
    await Promise.all(this.#pricing);
    await this.#options.ledger.close();
  }

  /** whatever-failed. A call without a price is recorded at once, since a promise costs more than the rest. */
  #take(fact: CoreEvents['chat.finished']): void {
    if (fact.isBilled === true) return;
    const { usage } = fact;
    const at = this.#isoNow();
    const pricedAs = usage === undefined ? undefined : this.#pricedAs(fact);
    if (pricedAs === undefined || usage === undefined) {
      this.#record(fact, at, null);
      return;
    }
    const priced = this.#options.prices.priceNow({ ...pricedAs, usage }).then(
      (costUsd) => this.#record(fact, at, costUsd),
      (error: unknown) => this.#tell(error),
    );
    this.#pricing.add(priced);
    void priced.finally(() => this.#pricing.delete(priced));
  }

  #record(fact: CoreEvents['chat.finished'], at: string, costUsd: number | null): void {
    const { requestId, key = null, adapter, model, usage = null, durationMs, firstTextMs, code = null } = fact;
    this.#options.ledger.record({
      at,
      requestId,
      key,
      provider: adapter,
      model,
      usage,
      costUsd,
      firstTextMs: firstTextMs === undefined ? null : Math.round(firstTextMs),
      durationMs: Math.round(durationMs),
      error: code,
    });
  }

  /** ISO 8601. Only the milliseconds are written anew for each call, because a busy gateway ends thousands in a second. */
  #isoNow(): string {
    const now = this.#options.now();
    const second = Math.floor(now / 1000);
    if (second !== this.#last.second) this.#last = { second, iso: new Date(second * 1000).toISOString().slice(0, -'000Z'.length) };
    return `${this.#last.iso}${String(now - second * 1000).padStart(3, '0')}Z`;
  }

  #pricedAs({ adapter: provider, model, address, tier }: CoreEvents['chat.finished']): PricedModel | undefined {
    const { gateway, now } = this.#options;
    if (address !== undefined || tier !== undefined) return gateway.pricedAs({ provider, model, config: configOf(address), tier });
    const key = `${provider}\n${model}`;
    let known = this.#names.get(key);
    if (known === undefined || known.until <= now()) {
      known = { pricedAs: gateway.pricedAs({ provider, model }), until: now() + KEEP_NAME_MS };
      if (this.#names.size >= MAX_NAMES) this.#names.clear();
      this.#names.set(key, known);
    }
    return known.pricedAs;
  }

  #tell(error: unknown): void {
    this.#options.bus.emit('workspace.fault', { what: 'gateway-ledger.jsonl', error: toBlockhouseError(error).message });
  }
}

/** The setting of a request that named this origin or region. */
function configOf(address: string | undefined): CallToPrice['config'] {
  if (address === undefined) return undefined;
  return address.includes('://') ? { baseURL: address } : { region: address };
}

function capReached({ usdPerDay, tokensPerDay }: NamedKey, { usd, tokens }: KeySpend): string | undefined {
  if (usdPerDay !== null && reachesUsd(usd, usdPerDay)) return `${usdPerDay} USD`;
  return tokensPerDay !== null && tokens >= tokensPerDay ? `${tokensPerDay} tokens` : undefined;
}

function nextUtcDay(now: number): number {
  const day = 86_400_000;
  return (Math.floor(now / day) + 1) * day;
}
