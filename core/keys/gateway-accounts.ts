// The accounts of clients' calls: what each key may do and has spent, and the ledger of gateway calls.
//
// whatever-failed: a call that failed has its line too, with what is known of its usage.
// caps-hold: a call of a key with limits is sent only while what the key has spent, and what its calls under way use, is below every limit. So a cap is
//   passed by the calls under way at most, and by the last one only if they are made one after the other.
// still-allowed: a call that has waited for its place is sent only if its key is the same one, and may still ask that model.
// held-until-counted: a call counts as under way until its line counts.
import { reachesUsd } from '../block/costs/budget.ts';
import { reportCosts } from '../block/costs/report.ts';
import type { CoreBus, CoreEvents } from '../bus.ts';
import { BlockhouseError, toBlockhouseError } from '../errors.ts';
import type { AccountedCall, Asking, ClientAccounts, Hold } from '../gateway/account.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { NO_PRICE, type PricedModel, type Pricer, type Prices } from '../gateway/pricing.ts';
import type { GatewayBook, KeySpend, OpenCall } from '../store/port.ts';
import type { CostsReport, Usage } from '../types.ts';
import { costOf, HeldCalls, KeyHold } from './key-hold.ts';
import type { KeyStore } from './key-store.ts';
import { type Accounts, assertMayUse, hasLimits, type NamedKey, namesOf, noSuchKey } from './named-key.ts';
import { PricedNames } from './priced-names.ts';

/** What accounts work with. */
export interface GatewayAccountsOptions {
  readonly bus: CoreBus;
  readonly gateway: Pick<Gateway, 'pricedAs'>;
  readonly prices: Pick<Prices, 'pricer'>;
  readonly keys: Pick<KeyStore, 'named'>;
  readonly ledger: GatewayBook;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

type Finished = CoreEvents['call.finished'];

/** Calls under way end within moments, and then there may be room again. */
const UNDER_WAY_RETRY_MS = 1000;
const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
/** A token that stays in the cache for an hour. */
const HOUR_IN_CACHE: Usage = { inputTokens: 1, outputTokens: 0, totalTokens: 1, cacheWriteTokens: 1, cacheWrite1hTokens: 1 };
/** The cost of a call of which nothing is known. */
const NO_COST = { costUsd: null };

/** The accounts of a workspace, from its start to its end. */
export class GatewayAccounts implements Accounts, ClientAccounts {
  readonly #options: GatewayAccountsOptions;
  /** Calls that have ended and whose price is being looked up. */
  readonly #pricing = new Set<Promise<void>>();
  readonly #names: PricedNames;
  readonly #held: HeldCalls;

  constructor(options: GatewayAccountsOptions) {
    this.#options = options;
    this.#names = new PricedNames(options.gateway, options.now);
    this.#held = new HeldCalls(
      (call) => options.ledger.note(call),
      (error) => this.#tell(error),
    );
  }

  check(asking: Asking): void {
    this.#checked(asking);
  }

  accept(call: AccountedCall): Hold | undefined {
    const key = this.#checked(call);
    if (key === undefined) return undefined;
    const { hash } = key;
    if (hasLimits(key)) return new KeyHold(call, key.name, (hold) => this.#reserve(hold, hash));
    return { readsOn: false, reserve: () => this.#admit(call, hash) };
  }

  /** What a key has spent already is looked at before its calls have their places, so that they don't take them in vain. */
  #checked(asking: Asking): NamedKey | undefined {
    const { key: name } = asking;
    if (name === undefined) return undefined;
    const key = this.#keyOf(name);
    if (asking.model !== undefined) assertMayUse(key, namesOf(asking));
    const { ledger } = this.#options;
    if (hasLimits(key) && ledger.isRead) this.#assertBelow(key, ledger.spentToday(name));
    return key;
  }

  /** whatever-failed. A call without a price is recorded at once, since a promise costs more than the rest. */
  settle(end: Finished, call: AccountedCall, hold: Hold | undefined): void {
    const at = new Date(this.#options.now()).toISOString();
    if (hold instanceof KeyHold) {
      this.#settleHeld(end, at, hold);
      return;
    }
    const pricedAs = end.usage === undefined ? undefined : this.#pricedAs(call);
    const { usage } = end;
    if (pricedAs === undefined || usage === undefined) {
      this.#record(end, at, NO_COST);
      return;
    }
    const priced = this.#options.prices.pricer(pricedAs).then(
      (pricer) => this.#record(end, at, costOf(usage, pricer)),
      (error: unknown) => this.#tell(error),
    );
    this.#pricing.add(priced);
    void priced.finally(() => this.#pricing.delete(priced));
  }

  /** The journal has the end at once, and the ledger has it some moments later. */
  #settleHeld(end: Finished, at: string, hold: KeyHold): void {
    const { requestId, adapter: provider, model, usage, code: error = null } = end;
    const { id, key } = hold;
    const cost = usage === undefined ? NO_COST : costOf(usage, hold.pricer);
    try {
      if (id !== undefined) this.#options.ledger.noteEnd({ id, at, requestId, key, provider, model, usage: usage ?? NO_USAGE, ...cost, error });
    } catch (fault) {
      this.#tell(fault); // the line of the ledger waits and is tried again
    }
    this.#record(end, at, cost, id);
    this.#held.leave(hold); // held-until-counted
  }

  async costs(by: 'key' | 'model' | 'day'): Promise<CostsReport> {
    await Promise.all(this.#pricing);
    return reportCosts(this.#options.ledger.lines(), by);
  }

  async spentToday(key: string): Promise<KeySpend> {
    const { ledger } = this.#options;
    await ledger.read();
    return ledger.spentToday(key);
  }

  /** Calls that end later are not recorded. Resolves when the ledger is written. */
  async close(): Promise<void> {
    this.#held.close();
    await Promise.all(this.#pricing);
    await this.#options.ledger.close();
  }

  /** caps-hold. Resolves when the call may be sent. */
  async #reserve(hold: KeyHold, hash: string): Promise<void> {
    const { ledger, prices } = this.#options;
    const { call } = hold;
    await ledger.read();
    const pricedAs = this.#pricedAs(call);
    const pricer = pricedAs === undefined ? NO_PRICE : await prices.pricer(pricedAs);
    // There is no `await` between the sums and the hold, so of two calls the second one sees the first.
    const key = this.#stillAllowed(call, hash);
    if (key.unpriced === 'refuse') assertPriced(key, call, pricer);
    this.#assertBelow(key, ledger.spentToday(key.name), this.#held.underWay(hold));
    await this.#held.take(hold, { pricer, meanOutput: ledger.meanOutput(key.name), at: new Date(this.#options.now()).toISOString() });
  }

  /** A call whose key had no limits when it came. It may have some since, and then what is spent by now decides. */
  #admit(call: AccountedCall, hash: string): Promise<void> | undefined {
    const key = this.#stillAllowed(call, hash);
    return hasLimits(key) ? this.spentToday(key.name).then((spent) => this.#assertBelow(key, spent)) : undefined;
  }

  /** still-allowed. Another key may have been made under the name since. */
  #stillAllowed(call: AccountedCall, hash: string): NamedKey {
    const { key: name = '' } = call;
    const key = this.#keyOf(name);
    if (key.hash !== hash) throw noSuchKey(name);
    assertMayUse(key, namesOf(call));
    return key;
  }

  #keyOf(name: string): NamedKey {
    const key = this.#options.keys.named(name);
    if (key === undefined) throw noSuchKey(name);
    return key;
  }

  #assertBelow(key: NamedKey, spent: Spend, underWay: Spend = NOTHING): void {
    const now = this.#options.now();
    const cap = capReached(key, spent);
    if (cap !== undefined)
      throw new BlockhouseError('KEY_CAP_REACHED', `The key ${key.name} has reached its cap of ${cap} a day. It may be used again at 00:00 UTC.`, {
        retryAfterMs: nextUtcDay(now) - now,
      });
    const close = capReached(key, { usd: spent.usd + underWay.usd, tokens: spent.tokens + underWay.tokens });
    if (close === undefined) return;
    const message = `The calls of the key ${key.name} that are under way may use up its cap of ${close} a day. Try again when one of them has ended.`;
    throw new BlockhouseError('KEY_CAP_REACHED', message, { retryAfterMs: UNDER_WAY_RETRY_MS });
  }

  #record(end: Finished, at: string, { costUsd, leastUsd }: Pick<OpenCall, 'costUsd' | 'leastUsd'>, id?: OpenCall['id']): void {
    const { requestId, key = null, adapter, model, usage = null, durationMs, firstTextMs, code = null } = end;
    this.#options.ledger.record({
      at,
      requestId,
      key,
      provider: adapter,
      model,
      usage,
      costUsd,
      leastUsd,
      firstTextMs: firstTextMs === undefined ? null : Math.round(firstTextMs),
      durationMs: Math.round(durationMs),
      error: code,
      id,
    });
  }

  #pricedAs(call: AccountedCall): PricedModel | undefined {
    return call.priced === undefined ? this.#names.of(call) : call.priced.as;
  }

  #tell(error: unknown): void {
    this.#options.bus.emit('workspace.fault', { what: 'gateway-ledger.jsonl', error: toBlockhouseError(error).message });
  }
}

type Spend = Pick<KeySpend, 'usd' | 'tokens'>;
const NOTHING: Spend = { usd: 0, tokens: 0 };

function capReached({ usdPerDay, tokensPerDay }: NamedKey, { usd, tokens }: Spend): string | undefined {
  if (usdPerDay !== null && reachesUsd(usd, usdPerDay)) return `${usdPerDay} USD`;
  return tokensPerDay !== null && tokens >= tokensPerDay ? `${tokensPerDay} tokens` : undefined;
}

/** Throws PRICE_UNKNOWN for a call that surely has no price. One whose answer turns out to have none counts with what it costs at least. */
function assertPriced(key: NamedKey, call: AccountedCall, { exact }: Pricer): void {
  if (exact(NO_USAGE) === null) throw priceUnknown(key, call, '');
  if (exact(HOUR_IN_CACHE) === null && call.asksForHourInCache()) throw priceUnknown(key, call, ' with an hour in its cache');
}

function priceUnknown(key: NamedKey, { adapterId, model }: AccountedCall, what: string): BlockhouseError {
  const message = `The price of ${adapterId}/${model}${what} is not known, and the key ${key.name} refuses calls that its cap would not count. Ask a model with a known price, or set "unpriced": "allow" for the key in keys.json.`;
  return new BlockhouseError('PRICE_UNKNOWN', message);
}

function nextUtcDay(now: number): number {
  const day = 86_400_000;
  return (Math.floor(now / day) + 1) * day;
}
