// The calls under way of keys with limits, and what each of them counts until it has ended.
//
// as-expected: a call counts with what it has surely used, and its output with the mean of its key at least, since its first word says nothing of its length.
//   It never counts with the largest output that could be: else a small cap would let no call through.
// summed-up: what the calls of a key or a group count is summed up ten times a second and when one begins or ends. Only where that sum is not far below a cap,
//   each call is looked at.
// noted-ahead: the journal holds more than a call has used, by the mean output of its key at least, and at its end just that. So a process that is killed
//   leaves no less.
import { randomUUID } from 'node:crypto';
import { LinkedList, type Place } from '../base/linked-list.ts';
import type { AccountedCall, Hold } from '../gateway/account.ts';
import type { PlaceLimit } from '../gateway/place-limit.ts';
import { NO_PRICE, type Pricer } from '../gateway/pricing.ts';
import type { OpenCall, Used } from '../store/port.ts';
import type { Usage } from '../types.ts';
import type { Bound } from './key-limits.ts';
import type { TakenTokens } from './key-rates.ts';
import type { NamedKey } from './named-key.ts';

/** Until a key has an answer. */
const USUAL_OUTPUT_TOKENS = 1000;
const NOTHING: Used = { usd: 0, tokens: 0 };
const LOOK_EVERY_MS = 100;
/** What no answer grows by between two looks: five thousand tokens a second. */
const MIN_HEADROOM_TOKENS = 500;

/** What a call is accepted with. */
export interface KeyTerms {
  readonly key: NamedKey;
  readonly places: readonly PlaceLimit[];
  /** From limits by the minute that count tokens. */
  readonly taken: TakenTokens | undefined;
}

/** The room of one call of a key with limits. */
export class KeyHold implements Hold {
  readonly call: AccountedCall;
  readonly readsOn = true;
  /** With the limits that it had when the call was looked at last. */
  key: NamedKey;
  /** In the journal; undefined for a call that was never admitted. */
  id: string | undefined;
  /** Fixed when the call is admitted. */
  pricer: Pricer = NO_PRICE;
  /** What it counts with while nothing is known of it, and its output at least. */
  expected: Usage | undefined;
  /** What the journal says of it; undefined for a call that was never admitted. */
  noted: Usage | undefined;
  /** Among the calls under way of its key, and of its group. */
  underWay: readonly HeldPlace[] = [];
  /** What it counts in the sums of its accounts: summed-up. */
  counted: Used = NOTHING;
  hasEnded = false;
  readonly places: readonly PlaceLimit[];
  readonly taken: TakenTokens | undefined;
  readonly #reserve: (hold: KeyHold) => Promise<void>;

  constructor(call: AccountedCall, { key, places, taken }: KeyTerms, reserve: (hold: KeyHold) => Promise<void>) {
    this.call = call;
    this.key = key;
    this.places = places;
    this.taken = taken;
    this.#reserve = reserve;
  }

  reserve(): Promise<void> {
    return this.#reserve(this);
  }

  /** as-expected. */
  get usage(): Usage | undefined {
    const used = this.call.usageSoFar();
    return used === undefined ? this.expected : this.#withExpectedOutput(used);
  }

  #withExpectedOutput(used: Usage): Usage {
    const least = this.expected?.outputTokens ?? 0;
    return used.outputTokens >= least ? used : { ...used, outputTokens: least, totalTokens: used.inputTokens + least };
  }
}

/** The calls under way of a key or a group. */
interface Account {
  readonly calls: LinkedList<KeyHold>;
  usd: number;
  tokens: number;
}

interface HeldPlace {
  readonly name: string;
  readonly account: Account;
  readonly place: Place<KeyHold>;
}

/** What a call takes from limits by the minute until it is known. */
export function expectedTokens(call: AccountedCall, meanOutput = USUAL_OUTPUT_TOKENS): number {
  return call.inputTokens() + (call.hasOutput ? Math.round(meanOutput * call.choices) : 0);
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

/** All calls under way of keys with limits. */
export class HeldCalls {
  readonly #note: (call: OpenCall) => Promise<void>;
  readonly #onFault: (error: unknown) => void;
  /** By key and by group. */
  readonly #byAccount = new Map<string, Account>();
  readonly #idStart = randomUUID();
  #ids = 0;
  #timer: NodeJS.Timeout | undefined;

  /** `note` writes a call into the journal; `onFault` is told when that fails for a call that has been sent already. */
  constructor(note: (call: OpenCall) => Promise<void>, onFault: (error: unknown) => void) {
    this.#note = note;
    this.#onFault = onFault;
  }

  /** About what the calls under way of a key or a group count, as of a tenth of a second ago: summed-up. */
  sumOf({ kind, name }: Pick<Bound, 'kind' | 'name'>): Used {
    return this.#byAccount.get(accountOf(kind, name)) ?? NOTHING;
  }

  /** What the other calls under way of a key or a group count. */
  underWay({ kind, name }: Pick<Bound, 'kind' | 'name'>, own: KeyHold): Used {
    const sum = { usd: 0, tokens: 0 };
    for (const hold of this.#byAccount.get(accountOf(kind, name))?.calls ?? []) {
      const { usage } = hold;
      if (hold === own || usage === undefined) continue;
      sum.tokens += usage.totalTokens;
      sum.usd += hold.pricer.least(usage) ?? 0;
    }
    return sum;
  }

  /** The call counts as under way from now on. Resolves when it may be sent. Once more for a further attempt. */
  take(hold: KeyHold, { pricer, meanOutput = USUAL_OUTPUT_TOKENS, at }: HoldTerms): Promise<void> {
    if (hold.hasEnded) return Promise.resolve(); // its caller has left, and it will not be sent
    const inputTokens = hold.call.inputTokens();
    const outputTokens = hold.call.hasOutput ? Math.round(meanOutput * hold.call.choices) : 0;
    hold.pricer = pricer;
    hold.expected = { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens, estimated: true };
    if (hold.underWay.length === 0) hold.underWay = hold.key.bounds.map(({ kind, name }) => this.#join(accountOf(kind, name), hold));
    this.#ids += 1;
    this.#recount(hold);
    hold.id ??= `${this.#idStart}-${this.#ids}`;
    this.#timer ??= setInterval(() => this.#look(), LOOK_EVERY_MS).unref();
    return this.#noteAhead(hold, hold.call.usageSoFar() ?? { ...hold.expected, outputTokens: 0 }, at);
  }

  /** The call has ended. */
  leave(hold: KeyHold): void {
    hold.hasEnded = true;
    for (const { name, account, place } of hold.underWay) {
      account.calls.leave(place);
      account.usd -= hold.counted.usd;
      account.tokens -= hold.counted.tokens;
      if (account.calls.size === 0) this.#byAccount.delete(name);
    }
    hold.underWay = [];
    if (this.#byAccount.size === 0) this.close();
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #join(name: string, hold: KeyHold): HeldPlace {
    const account = this.#byAccount.get(name) ?? { calls: new LinkedList<KeyHold>(), usd: 0, tokens: 0 };
    this.#byAccount.set(name, account);
    return { name, account, place: account.calls.add(hold) };
  }

  /** summed-up. */
  #recount(hold: KeyHold): void {
    const { usage, counted } = hold;
    if (usage === undefined) return;
    hold.counted = { tokens: usage.totalTokens, usd: hold.pricer.least(usage) ?? 0 };
    for (const { account } of hold.underWay) {
      account.usd += hold.counted.usd - counted.usd;
      account.tokens += hold.counted.tokens - counted.tokens;
    }
  }

  /** noted-ahead. */
  #look(): void {
    for (const account of this.#byAccount.values()) {
      for (const hold of account.calls) {
        if (account !== hold.underWay[0]?.account) continue; // seen with its key
        this.#recount(hold);
        const usage = hold.call.usageSoFar();
        if (usage === undefined || !hold.call.hasOutput || (hold.noted?.outputTokens ?? 0) - usage.outputTokens > MIN_HEADROOM_TOKENS) continue;
        this.#noteAhead(hold, usage, new Date().toISOString()).catch(this.#onFault);
      }
    }
  }

  #noteAhead(hold: KeyHold, usage: Usage, at: string): Promise<void> {
    const { call, id = '', pricer } = hold;
    const { name: key, group } = hold.key;
    const outputTokens = call.hasOutput ? usage.outputTokens + Math.max(usage.outputTokens, hold.expected?.outputTokens ?? 0, USUAL_OUTPUT_TOKENS) : 0;
    const ahead: Usage = { ...usage, outputTokens, totalTokens: usage.inputTokens + outputTokens, estimated: true };
    hold.noted = ahead;
    const { requestId, adapterId: provider, model } = call;
    return this.#note({ id, at, requestId, key, group: group ?? undefined, provider, model, usage: ahead, ...costOf(ahead, pricer), error: 'SHUTTING_DOWN' });
  }
}

/** No key has a name with a blank. */
function accountOf(kind: Bound['kind'], name: string): string {
  return kind === 'key' ? name : `group ${name}`;
}
