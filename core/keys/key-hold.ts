// The calls under way of keys with limits, and what each of them counts until it has ended.
//
// as-expected: a call counts with what it has surely used, and its output with the mean of its key at least, since its first word says nothing of its length.
//   It never counts with the largest output that could be: else a small cap would let no call through. Texts for embeddings go out in batches, so all of them
//   count until the last batch has come.
// all-or-none: how long texts are is known before they are sent. Beside other calls, they are let through only if all of them fit.
// within-its-batches: a call that was admitted and asks between its batches ends only if the cap is surely reached, and not for what others are expected to use.
// summed-up: what the calls of a key or a group count is summed up ten times a second and when one begins or ends. Only where that sum is not far below a cap,
//   each call is looked at.
// noted-ahead: the journal holds more than a call has used, by the mean output of its key at least, and at its end just that. So a process that is killed
//   leaves no less.
import { randomUUID } from 'node:crypto';
import { isoTime } from '../base/iso-time.ts';
import { LinkedList, type Place } from '../base/linked-list.ts';
import type { AccountedCall, Hold } from '../gateway/account.ts';
import type { PlaceLimit } from '../gateway/place-limit.ts';
import { NO_PRICE, type Pricer } from '../gateway/pricing.ts';
import type { GatewayBook, OpenCall, UnderWay, Used } from '../store/port.ts';
import type { Usage } from '../types.ts';
import type { Bound } from './key-limits.ts';
import type { TakenTokens } from './key-rates.ts';
import type { NamedKey } from './named-key.ts';

/** Until a key has an answer. */
const USUAL_OUTPUT_TOKENS = 1000;
const NOTHING: Used = { usd: 0, tokens: 0 };
export const NOTHING_UNDER_WAY: UnderWay = { roughly: () => NOTHING, exactly: () => NOTHING };
const LOOK_EVERY_MS = 100;
/** A call that was seen so often is no short one, and counts by itself if the process is killed. */
const LOOKS_OF_SHORT = 2;
/** What no answer grows by between two looks: five thousand tokens a second. */
const MIN_HEADROOM_TOKENS = 500;

const NOWHERE: readonly Place<KeyHold>[] = [];

/** What a call is accepted with. */
export interface KeyTerms {
  readonly key: NamedKey;
  readonly places: readonly PlaceLimit[];
  /** From limits by the minute that count tokens. */
  readonly taken: TakenTokens | undefined;
  /** When the call was accepted, its caps left room beside the calls under way. */
  readonly hasRoom: boolean;
}

type Reserve = (hold: KeyHold, atOnce: boolean) => Promise<void> | undefined;

/** The room of one call of a key with limits. */
export class KeyHold implements Hold {
  readonly call: AccountedCall;
  readonly readsOn = true;
  /** With the limits that it had when the call was looked at last. */
  key: NamedKey;
  /** As it was noted last; undefined for a call that was never admitted. */
  open: OpenCall | undefined;
  /** Fixed when the call is admitted. */
  pricer: Pricer = NO_PRICE;
  /** What it counts with while nothing is known of it, and its output at least. */
  expected: Usage | undefined;
  /** So often it was seen under way by a look of all calls. */
  looks = 0;
  /** Among the calls under way of its key, and of its group. */
  underWay: readonly Place<KeyHold>[] = NOWHERE;
  /** What it counts in the sums of its accounts: summed-up. */
  countedUsd = 0;
  countedTokens = 0;
  hasEnded = false;
  readonly places: readonly PlaceLimit[];
  readonly taken: TakenTokens | undefined;
  readonly hasRoom: boolean;
  readonly #reserve: Reserve;

  constructor(call: AccountedCall, { key, places, taken, hasRoom }: KeyTerms, reserve: Reserve) {
    this.call = call;
    this.key = key;
    this.places = places;
    this.taken = taken;
    this.hasRoom = hasRoom;
    this.#reserve = reserve;
  }

  reserve(atOnce = false): Promise<void> | undefined {
    return this.#reserve(this, atOnce);
  }

  /** What it counts with if the process is killed; undefined for a call that was never admitted. */
  get noted(): Usage | undefined {
    return this.open?.usage;
  }

  /** as-expected. */
  get usage(): Usage | undefined {
    return this.usageWith(this.call.usageSoFar());
  }

  /** The same of a call that has surely used this. */
  usageWith(used: Usage | undefined): Usage | undefined {
    if (used === undefined) return this.expected;
    return this.call.hasOutput ? this.#withExpectedOutput(used) : this.#withExpectedInput(used);
  }

  #withExpectedInput(used: Usage): Usage {
    const least = this.expected?.inputTokens ?? 0;
    return used.inputTokens >= least ? used : { ...used, ...estimated(least, used.outputTokens) };
  }

  #withExpectedOutput(used: Usage): Usage {
    const least = this.expected?.outputTokens ?? 0;
    return used.outputTokens >= least ? used : { ...used, outputTokens: least, totalTokens: used.inputTokens + least };
  }
}

/** The calls under way of a key or a group, and what they count. */
class Account extends LinkedList<KeyHold> {
  readonly kind: Bound['kind'];
  readonly name: string;
  usd = 0;
  tokens = 0;

  constructor({ kind, name }: Bound) {
    super();
    this.kind = kind;
    this.name = name;
  }
}

/** What a call takes from limits by the minute until it is known. */
export function expectedTokens(call: AccountedCall, meanOutput?: number): number {
  return expectedUsage(call, meanOutput).totalTokens;
}

function expectedUsage(call: AccountedCall, meanOutput = USUAL_OUTPUT_TOKENS): Usage {
  return estimated(call.inputTokens(), call.hasOutput ? Math.round(meanOutput * call.choices) : 0);
}

function estimated(inputTokens: number, outputTokens: number): Usage {
  return { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens, estimated: true };
}

/** What a line of the ledger says of the cost of a call. */
export function costOf(usage: Usage, pricer: Pricer): Pick<OpenCall, 'costUsd' | 'leastUsd'> {
  const costUsd = pricer.exact(usage);
  return costUsd === null ? { costUsd, leastUsd: pricer.least(usage) } : { costUsd };
}

/** The same of a call that has ended. */
export function finalCost(usage: Usage, pricer: Pricer): Pick<OpenCall, 'costUsd' | 'leastUsd'> {
  pricer.learn?.(usage);
  return costOf(usage, pricer);
}

/** What a call is admitted with. */
export interface HoldTerms {
  readonly pricer: Pricer;
  readonly meanOutput: number | undefined;
  /** ISO 8601. */
  readonly at: string;
}

/** noted-ahead. The provider may tell more input than was expected, or what it costs, long before the answer ends. */
function isNotedAhead({ call, open, noted, countedUsd }: KeyHold, { inputTokens, outputTokens }: Usage): boolean {
  if (open === undefined || noted === undefined || noted.inputTokens < inputTokens || (open.costUsd ?? open.leastUsd ?? 0) < countedUsd) return false;
  return !call.hasOutput || noted.outputTokens - outputTokens > MIN_HEADROOM_TOKENS;
}

function sumOf(one: Used, other: Used): Used {
  return { usd: one.usd + other.usd, tokens: one.tokens + other.tokens };
}

/** All calls under way of keys with limits. */
export class HeldCalls {
  readonly #book: Pick<GatewayBook, 'note' | 'noteAlone'>;
  readonly #onFault: (error: unknown) => void;
  readonly #byAccount: Readonly<Record<Bound['kind'], Map<string, Account>>> = { key: new Map(), group: new Map() };
  readonly #idStart = randomUUID();
  #ids = 0;
  #timer: NodeJS.Timeout | undefined;

  /** `onFault` gets the error of the book for a call that has been sent already. */
  constructor(book: Pick<GatewayBook, 'note' | 'noteAlone'>, onFault: (error: unknown) => void) {
    this.#book = book;
    this.#onFault = onFault;
  }

  /** About what the calls under way of a key or a group count, as of a tenth of a second ago: summed-up. */
  sumOf({ kind, name }: Pick<Bound, 'kind' | 'name'>): Used {
    return this.#byAccount[kind].get(name) ?? NOTHING;
  }

  /** What the other calls under way of a key or a group count; with `surely`, only what they have used for sure. */
  underWay({ kind, name }: Pick<Bound, 'kind' | 'name'>, own?: KeyHold, surely = false): Used {
    const sum = { usd: 0, tokens: 0 };
    for (const hold of this.#byAccount[kind].get(name) ?? []) {
      const usage = surely ? hold.call.usageSoFar() : hold.usage;
      if (hold === own || usage === undefined) continue;
      sum.tokens += usage.totalTokens;
      sum.usd += hold.pricer.least(usage) ?? 0;
    }
    return sum;
  }

  /** All calls under way. */
  readonly all: UnderWay = { roughly: (bound) => this.sumOf(bound), exactly: (bound) => this.underWay(bound) };

  /** Those beside one that asks for room, together with what that one has used already or will surely use, and what it may use from now on. */
  beside(asking: KeyHold, terms: Pick<HoldTerms, 'pricer' | 'meanOutput'>): UnderWay {
    const { pricer, meanOutput } = terms;
    const usage = asking.call.usageSoFar();
    const used = usage === undefined ? NOTHING : { usd: pricer.least(usage) ?? 0, tokens: usage.totalTokens };
    const own = (): Used => {
      const all = asking.usageWith(usage) ?? expectedUsage(asking.call, meanOutput);
      return { usd: Math.max(0, (pricer.least(all) ?? 0) - used.usd), tokens: all.totalTokens - used.tokens };
    };
    const isWithin = usage !== undefined && !asking.call.hasOutput; // within-its-batches
    const exactly = (bound: Pick<Bound, 'kind' | 'name'>): Used => {
      const others = this.underWay(bound, asking, isWithin);
      const isBeside = !asking.call.hasOutput && !isWithin && others.tokens > 0; // all-or-none
      return sumOf(others, isBeside ? own() : used);
    };
    return { roughly: this.all.roughly, exactly, own };
  }

  /** The call counts as under way from now on. Undefined, or a promise that resolves, lets it be sent. Once more for a further attempt. */
  take(hold: KeyHold, { pricer, meanOutput, at }: HoldTerms): Promise<void> | undefined {
    if (hold.hasEnded) return undefined; // its caller has left, and it will not be sent
    hold.pricer = pricer;
    hold.expected = expectedUsage(hold.call, meanOutput);
    if (hold.underWay.length === 0) hold.underWay = this.#joined(hold);
    const used = hold.call.usageSoFar();
    this.#recount(hold, used);
    this.#timer ??= setInterval(() => this.#look(), LOOK_EVERY_MS).unref();
    return this.#noteAhead(hold, used, at);
  }

  /** The call has ended. */
  leave(hold: KeyHold): void {
    hold.hasEnded = true;
    for (const place of hold.underWay) {
      const account = place.list as Account;
      account.leave(place);
      account.usd -= hold.countedUsd;
      account.tokens -= hold.countedTokens;
      if (account.size === 0) this.#byAccount[account.kind].delete(account.name);
    }
    hold.underWay = NOWHERE;
    if (this.#byAccount.key.size === 0) this.close(); // each call has a key
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #joined(hold: KeyHold): Place<KeyHold>[] {
    const places: Place<KeyHold>[] = [];
    for (const bound of hold.key.bounds) {
      const accounts = this.#byAccount[bound.kind];
      const account = accounts.get(bound.name) ?? new Account(bound);
      if (account.size === 0) accounts.set(bound.name, account);
      places.push(account.add(hold));
    }
    return places;
  }

  /** summed-up. `used` is what the call has surely used. */
  #recount(hold: KeyHold, used: Usage | undefined): void {
    const usage = hold.usageWith(used);
    if (usage === undefined) return;
    const usd = hold.pricer.least(usage) ?? 0;
    for (const place of hold.underWay) {
      const account = place.list as Account;
      account.usd += usd - hold.countedUsd;
      account.tokens += usage.totalTokens - hold.countedTokens;
    }
    hold.countedUsd = usd;
    hold.countedTokens = usage.totalTokens;
  }

  /** noted-ahead. */
  #look(): void {
    for (const account of this.#byAccount.key.values()) {
      for (const hold of account) {
        const usage = hold.call.usageSoFar();
        this.#recount(hold, usage);
        hold.looks += 1;
        if (hold.looks === LOOKS_OF_SHORT && hold.open !== undefined) this.#book.noteAlone(hold.open);
        if (usage === undefined || isNotedAhead(hold, usage)) continue;
        this.#noteAhead(hold, usage, isoTime(Date.now()))?.catch(this.#onFault);
      }
    }
  }

  #noteAhead(hold: KeyHold, used: Usage | undefined, at: string): Promise<void> | undefined {
    const { call, open, pricer } = hold;
    const { name: key, group } = hold.key;
    const output = used?.outputTokens ?? 0;
    const inputTokens = Math.max(used?.inputTokens ?? 0, call.inputTokens());
    const outputTokens = call.hasOutput ? output + Math.max(output, hold.expected?.outputTokens ?? 0, USUAL_OUTPUT_TOKENS) : 0;
    const ahead = used === undefined ? estimated(inputTokens, outputTokens) : { ...used, ...estimated(inputTokens, outputTokens) };
    const { requestId, adapterId: provider, model } = call;
    const { costUsd, leastUsd } = costOf(ahead, pricer);
    const id = open?.id ?? this.#newId();
    const place = open?.place;
    hold.open = { id, at, requestId, key, group: group ?? undefined, provider, model, usage: ahead, costUsd, leastUsd, error: 'SHUTTING_DOWN', place };
    return this.#book.note(hold.open);
  }

  #newId(): string {
    this.#ids += 1;
    return `${this.#idStart}-${this.#ids}`;
  }
}
