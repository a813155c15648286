// The account of calls in a worker: it asks the primary for room, and tells it what has ended.
//
// asked-first: a call of a key with limits is sent only after the primary has admitted it.
// ended-first: the end of such a call is on its way to the primary before its client can know of it. Other ends are sent twenty times a second.
// closed-until-reset: while a key has spent what it may, its calls are refused here, until the cap's period ends or the key is changed.
// levels-told: limits by the minute are those of the primary, which says with each answer what is used of them. So a request too many is mostly refused when
//   it comes, and always before it is sent.
// both-or-none: between two attempts a call has no place of its key, neither here nor at the primary. Else it would wait for the place of another call here, and that for its
//   place there.
import type { CoreBus, CoreEvents } from '../bus.ts';
import { BlockhouseError } from '../errors.ts';
import type { AccountedCall, Asking, ClientAccounts, Hold } from '../gateway/account.ts';
import type { PlaceLimit } from '../gateway/place-limit.ts';
import { expectedTokens } from '../keys/call-note.ts';
import type { KeyTerms } from '../keys/key-hold.ts';
import { KeyPlaces } from '../keys/key-places.ts';
import { type KeyRates, RateLimits, type TakenTokens } from '../keys/key-rates.ts';
import type { KeyStore } from '../keys/key-store.ts';
import { type Accounts, assertMayAskFor, countedFact, type GatewayCostsBy, isHeld, type NamedKey, noSuchKey } from '../keys/named-key.ts';
import type { PricedNames } from '../keys/priced-names.ts';
import type { CostsFilter, KeySpend, PeriodSpend } from '../store/port.ts';
import type { CostsReport, Usage } from '../types.ts';
import type { WorkerFacts } from './facts.ts';
import type { Link } from './link.ts';
import type { PrimarySays, WorkerSays } from './says.ts';

/** What the accounts of a worker work with. */
export interface WorkerAccountsOptions {
  readonly link: Link<WorkerSays, PrimarySays>;
  readonly facts: WorkerFacts;
  readonly bus: CoreBus;
  readonly keys: Pick<KeyStore, 'named'>;
  readonly names: PricedNames;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Milliseconds that no change of the clock touches. */
  readonly monotonic: () => number;
}

const LOOK_EVERY_MS = 100;
/** As many ends wait to be counted as a busy worker has in some seconds. */
const MAX_UNCOUNTED = 10_000;
/** A refusal for longer is one until the cap's period ends. */
const UNDER_WAY_MS = 1000;

/** The room of a call that asks the primary. */
class AskedHold implements Hold {
  readonly call: AccountedCall;
  readonly readsOn: boolean;
  /** The number under which the primary knows the call; undefined before it is asked. */
  number: number | undefined;
  /** What the primary knows of it. */
  told: Usage | undefined;
  /** With the limits that it had when the call came. */
  readonly key: NamedKey;
  readonly places: readonly PlaceLimit[];
  readonly taken: TakenTokens | undefined;
  readonly #reserve: (hold: AskedHold) => Promise<void> | undefined;
  readonly #pause: (hold: AskedHold) => void;

  constructor(
    call: AccountedCall,
    { key, places, taken }: Omit<KeyTerms, 'hasRoom' | 'at'>,
    { reserve, pause }: { reserve(hold: AskedHold): Promise<void> | undefined; pause(hold: AskedHold): void },
  ) {
    this.call = call;
    this.readsOn = isHeld(key);
    this.key = key;
    this.places = places;
    this.taken = taken;
    this.#reserve = reserve;
    this.#pause = pause;
  }

  reserve(): Promise<void> | undefined {
    return this.#reserve(this);
  }

  pause(): void {
    this.#pause(this);
  }
}

/** The accounts of a worker. */
export class WorkerAccounts implements Accounts, ClientAccounts {
  readonly #options: WorkerAccountsOptions;
  readonly #held = new Map<number, AskedHold>();
  /** closed-until-reset. */
  readonly #refused = new WeakMap<NamedKey, { readonly error: BlockhouseError; readonly until: number }>();
  /** levels-told. */
  readonly #rates: RateLimits;
  readonly #meanOutputs = new WeakMap<NamedKey, number>();
  readonly #places = new KeyPlaces();
  /** Calls that have ended, until the primary says what they cost. */
  readonly #ended = new Map<number, CoreEvents['call.finished']>();
  /** Requests that the primary has counted. */
  readonly #counted = new WeakSet<object>();
  readonly #looking: NodeJS.Timeout;
  readonly #facts: WorkerFacts;
  #numbers = 0;

  constructor(options: WorkerAccountsOptions) {
    this.#options = options;
    this.#rates = new RateLimits(options.monotonic);
    this.#looking = setInterval(() => this.#tellUsed(), LOOK_EVERY_MS).unref();
    this.#facts = options.facts;
  }

  check(asking: Asking, isRequest: boolean): readonly PlaceLimit[] | undefined {
    const key = this.#checked(asking);
    if (key === undefined) return undefined;
    if (isRequest && key.hasRates) {
      this.#rates.take(key, {});
      this.#options.link.tell('requested', { key: key.name, adapterId: asking.adapterId });
    }
    return this.#places.of(key);
  }

  /** A worker has no blocks, so its callers are refused after this. */
  async checkForBlock(asking: Asking): Promise<undefined> {
    this.check(asking, true);
  }

  accept(call: AccountedCall): Hold | undefined {
    const key = this.#checked(call);
    if (key === undefined) return undefined;
    const { hash } = key;
    const tokens = key.hasRates && key.countsTokens ? expectedTokens(call, this.#meanOutputs.get(key)) : 0;
    const taken = key.hasRates ? this.#rates.take(key, { request: call.request, tokens }) : undefined;
    return new AskedHold(call, { key, taken, places: this.#places.of(key) }, { reserve: (held) => this.#reserve(held, hash), pause: this.#pause });
  }

  rates(key: NamedKey): KeyRates | undefined {
    return this.#rates.state(key);
  }

  settle(end: CoreEvents['call.finished'], call: AccountedCall, hold: Hold | undefined): void {
    const { number, taken, key } = hold instanceof AskedHold ? hold : {};
    if (taken !== undefined) this.#rates.settle(taken, end);
    if (number !== undefined) this.#held.delete(number);
    const pricedAs = end.usage === undefined ? undefined : this.#options.names.of(call);
    this.#facts.tell({ name: 'call.finished', data: end, call: number, pricedAs, group: key?.group ?? undefined });
    if (number !== undefined) this.#facts.flush(true); // ended-first
    this.#ended.set(end.call, end);
    const [oldest] = this.#ended.keys();
    if (this.#ended.size > MAX_UNCOUNTED && oldest !== undefined) this.#ended.delete(oldest);
  }

  /** The lines of these calls stand in the ledger of the primary. */
  counted(costs: PrimarySays['tells']['counted']): void {
    for (const [call, costUsd] of costs) {
      const end = this.#ended.get(call);
      this.#ended.delete(call);
      if (end !== undefined) this.#options.bus.emit('call.counted', countedFact(end, costUsd));
    }
  }

  costs(by: GatewayCostsBy, filter?: Omit<CostsFilter, 'block'>): Promise<CostsReport> {
    return this.#options.link.ask('costs', { by, filter });
  }

  async spentToday(key: string): Promise<KeySpend> {
    return (await this.spent('key', key)).day;
  }

  spent(kind: 'key' | 'group', name: string): Promise<PeriodSpend> {
    return this.#options.link.ask('spent', { kind, name });
  }

  /** Resolves when the primary has all ends, or is gone. */
  async close(): Promise<void> {
    clearInterval(this.#looking);
    this.#facts.flush();
    await this.#options.link.ask('sync', undefined).catch(() => undefined); // what a primary had that has ended, its journal has
  }

  #checked(asking: Asking): NamedKey | undefined {
    const { key: name } = asking;
    if (name === undefined) return undefined;
    const key = this.#keyOf(name);
    assertMayAskFor(key, asking);
    const refused = this.#refused.get(key);
    const now = this.#options.now();
    if (refused !== undefined && refused.until > now) {
      throw new BlockhouseError('KEY_CAP_REACHED', refused.error.message, { retryAfterMs: refused.until - now });
    }
    return key;
  }

  /** asked-first. A key without limits when its call came may have some since. */
  #reserve(hold: AskedHold, hash: string): Promise<void> | undefined {
    const { call } = hold;
    const key = this.#keyOf(call.key ?? '');
    if (key.hash !== hash) throw noSuchKey(key.name);
    assertMayAskFor(key, call);
    this.#places.of(key); // it may have another limit since
    return isAsked(key) ? this.#ask(hold, key) : undefined;
  }

  /** both-or-none. */
  readonly #pause = ({ number }: AskedHold): void => {
    if (number !== undefined) this.#options.link.tell('paused', { call: number });
  };

  async #ask(hold: AskedHold, key: NamedKey): Promise<void> {
    const { call } = hold;
    const { request } = call;
    this.#numbers += 1;
    hold.number ??= this.#numbers;
    this.#held.set(hold.number, hold);
    hold.told = call.usageSoFar();
    this.#facts.flush(); // what has ended counts first
    try {
      const levels = await this.#options.link.ask('reserve', {
        call: hold.number,
        requestId: call.requestId,
        key: key.name,
        adapterId: call.adapterId,
        model: call.model,
        askedAs: call.askedAs,
        hasOutput: call.hasOutput,
        choices: call.choices,
        inputTokens: call.inputTokens(),
        hourInCache: call.asksForHourInCache(),
        isCounted: request !== undefined && this.#counted.has(request),
        pricedAs: this.#options.names.of(call),
        usage: hold.told,
      });
      if (request !== undefined) this.#counted.add(request);
      if (levels?.meanOutput !== undefined) this.#meanOutputs.set(key, levels.meanOutput);
      if (levels !== undefined) this.#rates.setLevels(key, levels.used);
    } catch (error) {
      this.#noteRefusal(key, error);
      throw error;
    }
  }

  /** closed-until-reset. */
  #noteRefusal(key: NamedKey, error: unknown): void {
    if (!(error instanceof BlockhouseError) || error.code !== 'KEY_CAP_REACHED' || (error.retryAfterMs ?? 0) <= UNDER_WAY_MS) return;
    this.#refused.set(key, { error, until: this.#options.now() + (error.retryAfterMs ?? 0) });
  }

  #keyOf(name: string): NamedKey {
    const key = this.#options.keys.named(name);
    if (key === undefined) throw noSuchKey(name);
    return key;
  }

  #tellUsed(): void {
    const used: { call: number; usage: Usage }[] = [];
    for (const [number, hold] of this.#held) {
      const usage = hold.call.usageSoFar();
      if (usage === undefined || usage.totalTokens === hold.told?.totalTokens) continue;
      hold.told = usage;
      used.push({ call: number, usage });
    }
    if (used.length > 0) this.#options.link.tell('used', used);
  }
}

/** True if anything but the list of models limits the calls of a key. asked-first. */
function isAsked(key: NamedKey): boolean {
  return isHeld(key) || key.hasRates || key.bounds.some(({ inFlight }) => inFlight !== null);
}
