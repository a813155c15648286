// The calls under way of keys with limits, and what each of them counts until it has ended.
//
// as-expected: a call counts with what it has surely used, and its output with the mean of its key at least, since its first word says nothing of its length.
//   It never counts with the largest output that could be: else a small cap would let no call through.
// noted-ahead: the journal holds more than a call has used, by the mean output of its key at least, and at its end just that. So a process that is killed
//   leaves no less.
import { randomUUID } from 'node:crypto';
import { LinkedList, type Place } from '../base/linked-list.ts';
import type { AccountedCall, Hold } from '../gateway/account.ts';
import { NO_PRICE, type Pricer } from '../gateway/pricing.ts';
import type { KeySpend, OpenCall } from '../store/port.ts';
import type { Usage } from '../types.ts';

/** Until a key has an answer. */
const USUAL_OUTPUT_TOKENS = 1000;
const LOOK_EVERY_MS = 100;
/** What no answer grows by between two looks: five thousand tokens a second. */
const MIN_HEADROOM_TOKENS = 500;

/** The room of one call of a key with limits. */
export class KeyHold implements Hold {
  readonly call: AccountedCall;
  readonly readsOn = true;
  /** The name of the key. */
  readonly key: string;
  /** In the journal; undefined for a call that was never admitted. */
  id: string | undefined;
  /** Fixed when the call is admitted. */
  pricer: Pricer = NO_PRICE;
  /** What it counts with while nothing is known of it, and its output at least. */
  expected: Usage | undefined;
  /** What the journal says of it; undefined for a call that was never admitted. */
  noted: Usage | undefined;
  place: Place<KeyHold> | undefined;
  hasEnded = false;
  readonly #reserve: (hold: KeyHold) => Promise<void>;

  constructor(call: AccountedCall, key: string, reserve: (hold: KeyHold) => Promise<void>) {
    this.call = call;
    this.key = key;
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

/** What a line of the ledger says of the cost of a call. */
export function costOf(usage: Usage, pricer: Pricer): Pick<OpenCall, 'costUsd' | 'leastUsd'> {
  const costUsd = pricer.exact(usage);
  return costUsd === null ? { costUsd, leastUsd: pricer.least(usage) } : { costUsd };
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
  readonly #byKey = new Map<string, LinkedList<KeyHold>>();
  readonly #idStart = randomUUID();
  #ids = 0;
  #timer: NodeJS.Timeout | undefined;

  /** `note` writes a call into the journal; `onFault` is told when that fails for a call that has been sent already. */
  constructor(note: (call: OpenCall) => Promise<void>, onFault: (error: unknown) => void) {
    this.#note = note;
    this.#onFault = onFault;
  }

  /** What the key's other calls under way count. */
  underWay(own: KeyHold): Pick<KeySpend, 'usd' | 'tokens'> {
    const sum = { usd: 0, tokens: 0 };
    for (const hold of this.#byKey.get(own.key) ?? []) {
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
    hold.place ??= this.#callsOf(hold.key).add(hold);
    this.#ids += 1;
    hold.id ??= `${this.#idStart}-${this.#ids}`;
    this.#timer ??= setInterval(() => this.#look(), LOOK_EVERY_MS).unref();
    return this.#noteAhead(hold, hold.call.usageSoFar() ?? { ...hold.expected, outputTokens: 0 }, at);
  }

  /** The call has ended. */
  leave(hold: KeyHold): void {
    hold.hasEnded = true;
    const calls = this.#byKey.get(hold.key);
    if (hold.place === undefined || calls === undefined) return;
    calls.leave(hold.place);
    if (calls.size > 0) return;
    this.#byKey.delete(hold.key);
    if (this.#byKey.size === 0) this.close();
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #callsOf(key: string): LinkedList<KeyHold> {
    const calls = this.#byKey.get(key) ?? new LinkedList<KeyHold>();
    this.#byKey.set(key, calls);
    return calls;
  }

  /** noted-ahead. */
  #look(): void {
    for (const calls of this.#byKey.values()) {
      for (const hold of calls) {
        const usage = hold.call.usageSoFar();
        if (usage === undefined || !hold.call.hasOutput || (hold.noted?.outputTokens ?? 0) - usage.outputTokens > MIN_HEADROOM_TOKENS) continue;
        this.#noteAhead(hold, usage, new Date().toISOString()).catch(this.#onFault);
      }
    }
  }

  #noteAhead(hold: KeyHold, usage: Usage, at: string): Promise<void> {
    const { call, id = '', key, pricer } = hold;
    const outputTokens = call.hasOutput ? usage.outputTokens + Math.max(usage.outputTokens, hold.expected?.outputTokens ?? 0, USUAL_OUTPUT_TOKENS) : 0;
    const ahead: Usage = { ...usage, outputTokens, totalTokens: usage.inputTokens + outputTokens, estimated: true };
    hold.noted = ahead;
    const { requestId, adapterId: provider, model } = call;
    return this.#note({ id, at, requestId, key, provider, model, usage: ahead, ...costOf(ahead, pricer), error: 'SHUTTING_DOWN' });
  }
}
