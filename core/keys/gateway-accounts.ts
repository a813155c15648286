// The accounts of clients' calls: what each key may do and has spent, and the ledger of gateway calls.
//
// whatever-failed: a call that failed has its line too, with what is known of its usage.
// caps-hold: a call of a key with limits is sent only while what the key has spent, and what its calls under way use, is below every limit of the key and of
//   its group. So a cap is passed by the calls under way at most, and by the last one only if they are made one after the other.
// still-allowed: a call that has waited for its place is sent only if its key is the same one, and may still ask that model.
// taken-on-arrival: limits by the minute are looked at when a request comes, so that it is not kept waiting for a refusal; what it took is settled at its end. A question
//   to a block takes what its calls use when they end.
// once-in-all: a call of a block that counts for a key has a line in both ledgers. Reports leave the one of the gateway out, except where they sum by key.
// held-until-counted: a call counts as under way until its line counts.
import { isoTime } from '../base/iso-time.ts';
import { reportCosts } from '../block/costs/report.ts';
import type { CoreBus, CoreEvents } from '../bus.ts';
import { type BlockhouseError, toBlockhouseError } from '../errors.ts';
import type { AccountedCall, Asking, CallToCount, ClientAccounts, Hold } from '../gateway/account.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { assertPriceRead } from '../gateway/known-price.ts';
import type { PlaceLimit } from '../gateway/place-limit.ts';
import { NO_PRICE, type PricedModel, type Pricer, type Prices } from '../gateway/pricing.ts';
import type { CallOfKey, CostsFilter, GatewayBook, GatewayCall, KeySpend, NotedCall, OpenCall, PeriodSpend } from '../store/port.ts';
import type { CostsReport } from '../types.ts';
import { finalCost, outputOf } from './call-note.ts';
import { assertPriced, isBounded, NO_USAGE } from './call-price.ts';
import { CapReports } from './cap-reports.ts';
import type { KeySums } from './call-sums.ts';
import { HeldCalls, KeyHold, type KeyTerms, NOTHING_UNDER_WAY } from './key-hold.ts';
import { FailedLines } from './failed-lines.ts';
import { KeyPlaces } from './key-places.ts';
import { type KeyRates, type RateCost, RateLimits, type TakenTokens } from './key-rates.ts';
import type { KeyStore } from './key-store.ts';
import { assertMayAskFor, countedFact, type GatewayCostsBy, isHeld, type KeyLevels, type NamedKey, noSuchKey, type SharedAccounts } from './named-key.ts';
import { PricedNames } from './priced-names.ts';
import { UnbilledModels } from './unbilled-models.ts';

/** What accounts work with. */
export interface GatewayAccountsOptions {
  readonly bus: CoreBus;
  readonly gateway: Pick<Gateway, 'pricedAs'>;
  readonly prices: Pick<Prices, 'pricer' | 'known'>;
  readonly keys: Pick<KeyStore, 'named' | 'lastKnown'>;
  readonly ledger: GatewayBook;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Milliseconds that no change of the clock touches. */
  readonly monotonic: () => number;
}

type Finished = CoreEvents['call.finished'];

/** How the request ids of such lines begin; those of clients have no slash. */
const OF_BLOCK = 'block/';
const OF_UNKNOWN_LENGTH: RateCost = { tokens: 0 };
/** The cost of a call of which nothing is known. */
const NO_COST: Pick<OpenCall, 'costUsd' | 'leastUsd'> = { costUsd: null };

/** The accounts of a workspace, from its start to its end. */
export class GatewayAccounts implements SharedAccounts, ClientAccounts {
  readonly #options: GatewayAccountsOptions;
  /** Calls that have ended and whose price is being looked up. */
  readonly #pricing = new Set<Promise<void>>();
  readonly #names: PricedNames;
  readonly #held: HeldCalls;
  readonly #rates: RateLimits;
  readonly #places = new KeyPlaces();
  readonly #unbilled = new UnbilledModels();
  readonly #failed: FailedLines;
  readonly #caps: CapReports;

  constructor(options: GatewayAccountsOptions) {
    this.#options = options;
    this.#names = new PricedNames(options.gateway, options.monotonic);
    this.#rates = new RateLimits(options.monotonic);
    this.#held = new HeldCalls(options.ledger, { onFault: this.#tell, now: options.now });
    this.#caps = new CapReports(options);
    this.#failed = new FailedLines((call) => options.ledger.record(call), options.monotonic);
  }

  check(asking: Asking, isRequest: boolean): readonly PlaceLimit[] | undefined {
    const key = this.#allowed(asking);
    if (key === undefined) return undefined;
    if (isHeld(key)) this.#hasRoom(this.#held.sumsOf(key), this.#options.now());
    if (isRequest && key.hasRates) this.#rates.take(key, {});
    return this.#places.of(key);
  }

  async checkForBlock(asking: Asking): Promise<BlockhouseError | undefined> {
    const key = this.#allowed(asking);
    if (key === undefined) return undefined;
    const capped = isHeld(key) ? await this.#capOf(this.#held.sumsOf(key)) : undefined;
    if (key.hasRates) this.#rates.take(key, OF_UNKNOWN_LENGTH);
    return capped;
  }

  accept(call: AccountedCall): Hold | undefined {
    const key = this.#allowed(call);
    if (key === undefined) return undefined;
    const { ledger, now } = this.#options;
    const sums = isHeld(key) ? this.#held.sumsOf(key) : undefined;
    const heldAt = sums === undefined ? 0 : now();
    // A call without output must find room for all of it (all-or-none, key-hold.ts), and one that is refused without a known price is looked at before it is sent.
    const isUsual = call.hasOutput && !key.refusesUnpriced && ledger.isShared !== true;
    const hasRoom = sums !== undefined && this.#hasRoom(sums, heldAt) && isUsual;
    const input = key.hasRates && key.countsTokens ? call.inputTokens() : undefined;
    const taken = key.hasRates ? this.#takeRates(call, key, input) : undefined;
    if (sums === undefined) return new KeyPass(call, { key, taken, places: this.#places.of(key) }, this.#admit);
    sums.places ??= this.#places.of(key);
    return new KeyHold(call, { key, taken, places: sums.places, hasRoom, at: heldAt, input, sums }, this.#reserve);
  }

  /** `input` is left out where no limit counts tokens, since to estimate a prompt takes time. */
  #takeRates(call: AccountedCall, key: NamedKey, input: number | undefined): TakenTokens | undefined {
    const tokens = input === undefined ? 0 : input + outputOf(call, this.#options.ledger.meanOutput(key.name));
    return this.#rates.take(key, { request: call.request, tokens }, call.startedAt);
  }

  rates(key: NamedKey): KeyRates | undefined {
    return this.#rates.state(key);
  }

  levels(name: string): KeyLevels | undefined {
    const key = this.#options.keys.named(name);
    return key && { used: this.#rates.levels(key), meanOutput: this.#options.ledger.meanOutput(name) };
  }

  #allowed(asking: Asking): NamedKey | undefined {
    const { key: name } = asking;
    if (name === undefined) return undefined;
    const key = this.#keyOf(name);
    assertMayAskFor(key, asking);
    return key;
  }

  /** What a key has spent already is looked at before its calls have their places, so that they don't take them in vain. True if one that has its place at once has room. */
  #hasRoom(sums: KeySums, now: number): boolean {
    const room = this.#options.ledger.room(sums, sums, now);
    if (room === true) return true;
    if (room instanceof Promise)
      room.catch(() => undefined); // who reserves asks again, and gets the failure
    else if (!room.isUnderWay) this.#caps.assertRoom(sums, room);
    return false;
  }

  /** whatever-failed. A call without a price, or with a known one, is recorded at once, since a promise costs more than the rest. */
  settle(end: Finished, call: AccountedCall, hold: Hold | undefined): void {
    const at = isoTime(this.#options.now());
    if (hold instanceof KeyHold) {
      this.#settleRates(end, call, hold.taken);
      this.#settleHeld(end, at, hold);
      return;
    }
    if (hold instanceof KeyPass) this.#settleRates(end, call, hold.taken);
    const { prices } = this.#options;
    const { usage } = end;
    const pricedAs = usage === undefined ? undefined : this.#pricedAs(call);
    if (pricedAs === undefined || usage === undefined) {
      this.#record(end, at, NO_COST, groupOf(hold, call));
      return;
    }
    const known = prices.known(pricedAs);
    if (known === undefined) this.#recordOncePriced(end, at, prices.pricer(pricedAs), groupOf(hold, call));
    else this.#record(end, at, finalCost(usage, known), groupOf(hold, call));
  }

  #recordOncePriced(end: Finished, at: string, pricer: Promise<Pricer>, group: string | undefined): void {
    const priced = pricer.then((known) => this.#record(end, at, finalCost(end.usage ?? NO_USAGE, known), group), this.#tell);
    this.#pricing.add(priced);
    void priced.finally(() => this.#pricing.delete(priced));
  }

  #settleRates(end: Finished, { startedAt }: AccountedCall, taken: TakenTokens | undefined): void {
    if (taken !== undefined) this.#rates.settle(taken, end, startedAt === undefined ? undefined : startedAt + end.durationMs);
  }

  #noteUnbilled({ call, note }: KeyHold): void {
    if (note.pricer.exact(NO_USAGE) !== null) this.#unbilled.note(call); // a key that refuses unknown prices never asks for others
  }

  #settleHeld(end: Finished, at: string, hold: KeyHold): void {
    const { usage } = end;
    const { pricer } = hold.note;
    const cost = usage === undefined || pricer === NO_PRICE ? NO_COST : finalCost(usage, pricer);
    if (usage !== undefined && cost.costUsd === null && cost.leastUsd === null && (end.code === undefined || usage.outputTokens > 0)) this.#noteUnbilled(hold);
    this.#record(end, at, cost, hold.group, hold.slot < 0 ? undefined : hold);
    this.#held.leave(hold); // held-until-counted
    this.#unbilled.end(hold.call, hold);
  }

  async costs(by: GatewayCostsBy, filter?: Omit<CostsFilter, 'block'>): Promise<CostsReport> {
    await Promise.all(this.#pricing);
    this.#failed.flush();
    const lines = this.#options.ledger.lines();
    return reportCosts(by === 'key' || by === 'day-key' ? lines : withoutBlocks(lines), by, filter); // once-in-all
  }

  /** A call of a block whose message was sent with a key counts for both, whatever has become of the key. once-in-all. Where the key has a cap, its line is written when this resolves. */
  async countForKey({ at, block, messageId, key, provider, credential, model, usage, costUsd, leastUsd, latencyMs, ttftMs, failed }: CallOfKey): Promise<void> {
    const known = this.#options.keys.lastKnown(key);
    const group = known?.group ?? undefined;
    const requestId = `${OF_BLOCK}${block}/${messageId ?? ''}`;
    const rest = { firstTextMs: ttftMs, durationMs: latencyMs, error: failed === true ? 'UPSTREAM_FAILED' : null } as const;
    this.#options.ledger.record({ at, requestId, key, group, provider, credential, model, usage, costUsd, leastUsd, ...rest });
    if (known?.hasRates === true) this.#rates.use(known, usage?.totalTokens ?? 0);
    const isUncounted = costUsd === null && leastUsd == null && usage !== null;
    if (isUncounted && (failed !== true || usage.outputTokens > 0)) this.#unbilled.note({ key, adapterId: provider, model });
    if (known !== undefined && isHeld(known)) await this.#options.ledger.flush().catch(() => undefined); // it waits on
  }

  /**
   * Rejects with KEY_CAP_REACHED for the first call of a message to a block whose key has reached a cap by now, and with PRICE_UNKNOWN for a call that the key would refuse
   * if it made the call itself. A key that was revoked or can't be read refuses what it refused before; one that is forgotten refuses nothing.
   */
  async assertForKey({ key: name, provider, model, pricedAs, isFirst }: CallToCount): Promise<void> {
    const key = this.#options.keys.lastKnown(name);
    if (key === undefined || !isHeld(key)) return;
    const capped = isFirst && (await this.#capOf(this.#held.sumsOf(key)));
    if (capped) throw capped;
    if (countsUnpriced(key)) assertPriceRead(pricedAs);
    if (!key.refusesUnpriced) return;
    const pricer = pricedAs === undefined ? NO_PRICE : await this.#options.prices.pricer(pricedAs);
    const call = { key: name, adapterId: provider, model, hasOutput: true, asksForHourInCache: () => false };
    assertPriced(key, call, pricer, this.#unbilled.isRefused(call));
  }

  /** The error for a key that has spent what a cap allows; what its calls under way may use does not count. */
  async #capOf(sums: KeySums): Promise<BlockhouseError | undefined> {
    const room = await this.#options.ledger.room(sums, sums, this.#options.now());
    return room === true || room.isUnderWay ? undefined : this.#caps.refusal(sums, room);
  }

  async spentToday(key: string): Promise<KeySpend> {
    const { usd, tokens, calls, unpricedCalls } = (await this.spent('key', key)).day;
    return { usd, tokens, calls, unpricedCalls };
  }

  spent(kind: 'key' | 'group', name: string): Promise<PeriodSpend> {
    return this.#options.ledger.spent(kind, name);
  }

  /** Calls that end later are not recorded. Resolves when the ledger is written. */
  async close(): Promise<void> {
    this.#held.close();
    await Promise.all(this.#pricing);
    this.#failed.flush();
    await this.#options.ledger.close();
  }

  /** Undefined, or a promise that resolves, lets the call be sent. What was looked at in this turn of the event loop, when the call was accepted, still holds. */
  readonly #reserve = (hold: KeyHold, atOnce: boolean): Promise<void> | undefined => {
    const { prices, ledger } = this.#options;
    const pricedAs = this.#pricedAs(hold.call);
    if (countsUnpriced(hold.owner)) assertPriceRead(pricedAs);
    const pricer = pricedAs === undefined ? NO_PRICE : prices.known(pricedAs);
    if (pricer === undefined && pricedAs !== undefined) return this.#reserveWith(hold, prices.pricer(pricedAs));
    if (atOnce && hold.hasRoom) return this.#held.take(hold, pricer ?? NO_PRICE, ledger.meanOutput(hold.owner.name));
    return this.#reserveAt(hold, pricer ?? NO_PRICE);
  };

  async #reserveWith(hold: KeyHold, pricer: Promise<Pricer>): Promise<void> {
    await this.#reserveAt(hold, await pricer);
  }

  /** caps-hold. There is no turn between the answer and the hold, so of two calls the second one sees the first. */
  #reserveAt(hold: KeyHold, pricer: Pricer): Promise<void> | undefined {
    const { ledger, now } = this.#options;
    const key = this.#stillAllowed(hold);
    hold.owner = key;
    if (key.refusesUnpriced) {
      assertPriced(key, hold.call, pricer, this.#unbilled.isRefused(hold.call));
      const isFirst = !isBounded(hold.call, pricer) && !hold.hasEnded; // one that has ended will not be sent
      const first = isFirst ? this.#unbilled.firstBefore(hold.call, hold) : undefined;
      if (first !== undefined) return first.then(() => this.#reserveAt(hold, pricer));
    }
    const meanOutput = ledger.meanOutput(key.name);
    const room = ledger.room(this.#held.sumsOf(key), this.#held.beside(hold, pricer, meanOutput));
    if (room instanceof Promise) {
      return room.then((answer) => {
        this.#caps.assertRoom(key, answer);
        return this.#reserveAt(hold, pricer);
      });
    }
    this.#caps.assertRoom(key, room);
    hold.notedAt = now();
    return this.#held.take(hold, pricer, meanOutput);
  }

  /** A call whose key had no limits when it came, and may have some since. */
  readonly #admit = (pass: KeyPass): Promise<void> | undefined => (isHeld(this.#stillAllowed(pass)) ? this.#admitHeld(pass) : this.#admitNow(pass));

  /** What is spent by now decides, also by calls that have ended and wait for the price data; and its price, as for any other call of the key. */
  async #admitHeld(pass: KeyPass): Promise<void> {
    const pricedAs = this.#pricedAs(pass.call);
    const pricer = pricedAs === undefined ? NO_PRICE : await this.#options.prices.pricer(pricedAs);
    await Promise.all(this.#pricing);
    const key = this.#stillAllowed(pass);
    if (countsUnpriced(key)) assertPriceRead(pricedAs);
    if (key.refusesUnpriced) assertPriced(key, pass.call, pricer, this.#unbilled.isRefused(pass.call));
    await this.#admitNow(pass);
  }

  #admitNow(pass: KeyPass): Promise<void> | undefined {
    const key = this.#stillAllowed(pass);
    pass.owner = key; // it may be in another group since
    const room = isHeld(key) ? this.#options.ledger.room(this.#held.sumsOf(key), NOTHING_UNDER_WAY) : true;
    if (room instanceof Promise) return room.then((answer) => this.#caps.assertRoom(key, answer));
    this.#caps.assertRoom(key, room);
    return undefined;
  }

  /** still-allowed. Another key may have been made under the name since. */
  #stillAllowed({ call, owner: before }: KeyHold | KeyPass): NamedKey {
    const key = this.#keyOf(before.name);
    if (key === before) return key; // each change of the keys makes new objects
    if (key.hash !== before.hash) throw noSuchKey(key.name);
    this.#places.of(key); // it may have another limit since
    assertMayAskFor(key, call);
    return key;
  }

  #keyOf(name: string): NamedKey {
    const key = this.#options.keys.named(name);
    if (key === undefined) throw noSuchKey(name);
    return key;
  }

  #record(end: Finished, at: string, { costUsd, leastUsd }: Pick<OpenCall, 'costUsd' | 'leastUsd'>, group?: string, noted?: NotedCall): void {
    const { requestId, key = null, adapter, credential, model, usage = null, durationMs, firstTextMs, code = null } = end;
    const call: GatewayCall = {
      at,
      requestId,
      key,
      group,
      provider: adapter,
      credential,
      model,
      usage,
      costUsd,
      leastUsd,
      firstTextMs: firstTextMs === undefined ? null : Math.round(firstTextMs),
      durationMs: Math.round(durationMs),
      error: code,
    };
    const isAlone = this.#failed.linesOf(call) === 1; // others-stay (failed-lines.ts)
    this.#options.ledger.record(isAlone ? call : { ...call, calls: 0 }, noted);
    this.#options.bus.emit('call.counted', countedFact(end, costUsd));
  }

  #pricedAs(call: AccountedCall): PricedModel | undefined {
    return call.priced === undefined ? this.#names.of(call) : call.priced.as;
  }

  readonly #tell = (error: unknown): void => {
    this.#options.bus.emit('workspace.fault', { what: 'gateway-ledger.jsonl', error: toBlockhouseError(error).message });
  };
}

/** True for a cap in USD that lets calls without a price through. */
function countsUnpriced({ capsUsd, refusesUnpriced }: NamedKey): boolean {
  return capsUsd && !refusesUnpriced;
}

/** once-in-all. */
async function* withoutBlocks(lines: AsyncIterable<GatewayCall>): AsyncGenerator<GatewayCall> {
  for await (const line of lines) if (!line.requestId.startsWith(OF_BLOCK)) yield line;
}

/** A call of a key without a cap. */
class KeyPass implements Hold {
  readonly call: AccountedCall;
  readonly readsOn = false;
  /** Its key, as it was when the call was sent last. */
  owner: NamedKey;
  readonly places: readonly PlaceLimit[];
  readonly taken: TakenTokens | undefined;
  readonly #admit: (pass: KeyPass) => Promise<void> | undefined;

  constructor(call: AccountedCall, { key, places, taken }: Omit<KeyTerms, 'hasRoom' | 'at' | 'input'>, admit: (pass: KeyPass) => Promise<void> | undefined) {
    this.call = call;
    this.owner = key;
    this.places = places;
    this.taken = taken;
    this.#admit = admit;
  }

  reserve(atOnce = false): Promise<void> | undefined {
    return atOnce ? undefined : this.#admit(this);
  }
}

/** In which its key was when the call was sent last. */
function groupOf(hold: Hold | undefined, { group }: AccountedCall): string | undefined {
  return hold instanceof KeyHold || hold instanceof KeyPass ? (hold.owner.group ?? undefined) : group;
}
