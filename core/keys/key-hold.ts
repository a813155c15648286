// The calls under way of keys with limits, and what each of them counts until it has ended.
//
// as-expected: a call counts with what it has surely used, and its output with the mean of its key at least, since its first word says nothing of its length.
//   It never counts with the largest output that could be: else a small cap would let no call through. Texts for embeddings go out in batches, so all of them
//   count until the last batch has come.
// all-or-none: how long texts are is known before they are sent. Beside other calls, they are let through only if all of them fit.
// within-its-batches: a call that was admitted and asks between its batches ends only if the cap is surely reached, and not for what others are expected to use.
// summed-up: what is noted of the calls of a key or a group, which is never less than what they count, is summed up when one begins, is noted again or ends. Only where
//   that sum is not far below a cap, each call is looked at.
// usual-note: most calls of a key share one note, which stays in the caches of the processor. A note for each call would have left them when the call ends, hundreds of calls
//   after it began; to fetch it would cost as much as all sums.
// as-much-again: a further attempt sends its input again, and the next batch of texts for embeddings may be longer than was expected. So each is noted with as much input
//   as the largest one before it, on top of what was used.
// noted-ahead: the journal holds more than a call has used, by the mean output of its key at least, and at its end just that. So a process that is killed
//   leaves no less.
// no-context: what each call runs through makes no function, not even on a way that it hardly ever takes. Else V8 makes room for the variables of that function at each call.
// as-itself: the book gets the call itself, whose figures are those of its note. Most books keep only a few of them, and an object for each call would have to be made and collected.
import { isoTime } from '../base/iso-time.ts';
import type { AccountedCall, Hold } from '../gateway/account.ts';
import type { PlaceLimit } from '../gateway/place-limit.ts';
import { NO_PRICE, type Pricer } from '../gateway/pricing.ts';
import type { GatewayBook, OpenCall, UnderWay, Used } from '../store/port.ts';
import type { Usage } from '../types.ts';
import { estimated, expectedUsage, HeldNote, newId, outputOf, USUAL_OUTPUT_TOKENS } from './call-note.ts';
import { CallSums, type KeySums } from './call-sums.ts';
import type { Bound } from './key-limits.ts';
import type { TakenTokens } from './key-rates.ts';
import type { NamedKey } from './named-key.ts';

const NOTHING: Used = { usd: 0, tokens: 0 };
export const NOTHING_UNDER_WAY: UnderWay = { roughly: () => NOTHING, exactly: () => NOTHING };
const NOT_COUNTED = -1;
const LOOK_EVERY_MS = 100;
/** A call that was seen so often is no short one, and counts by itself if the process is killed. */
const LOOKS_OF_SHORT = 2;
/** What no answer grows by between two looks: five thousand tokens a second. */
const MIN_HEADROOM_TOKENS = 500;

/** How much longer the input of the usual note may be than that of a call. */
const MORE_INPUT_TOKENS = 64;
const FIRST_CALLS = 64;
/** Of a call that was not noted yet. */
const NO_NOTE = new HeldNote({ inputTokens: 0, outputTokens: 0, totalTokens: 0 }, NO_PRICE);

/** What a call is accepted with. */
export interface KeyTerms {
  readonly key: NamedKey;
  readonly places: readonly PlaceLimit[];
  /** From limits by the minute that count tokens. */
  readonly taken: TakenTokens | undefined;
  /** When the call was accepted, its caps left room beside the calls under way. */
  readonly hasRoom: boolean;
  /** When that was, in epoch milliseconds. */
  readonly at: number;
  /** The tokens of its input by estimate, if they were counted already: to count them costs as much as to note the call. */
  readonly input?: number | undefined;
  /** What is kept for calls of the key, if that was looked up already. */
  readonly sums?: KeySums | undefined;
}

type Reserve = (hold: KeyHold, atOnce: boolean) => Promise<void> | undefined;

/** The room of one call of a key with limits, and the call as the book gets it (as-itself). */
export class KeyHold implements Hold, OpenCall {
  // Those first that are needed when the call ends: they lie together, and have left the caches of the processor by then.
  readonly call: AccountedCall;
  /** Its key, with the limits that it had when the call was looked at last. */
  owner: NamedKey;
  readonly taken: TakenTokens | undefined;
  /** The sums of its key and its group, which have it once it is admitted. */
  sums: KeySums | undefined;
  /** Its place among the calls under way; -1 for none. */
  slot = -1;
  /** What was noted of it last, with the price that was fixed when it was admitted; NO_NOTE before. */
  note: HeldNote = NO_NOTE;
  /** Where the book has it. */
  place: unknown;
  hasEnded = false;
  readonly places: readonly PlaceLimit[];
  readonly hasRoom: boolean;
  readonly #reserve: Reserve;
  /** What it counts with while nothing is known of it, and its output at least. The input is NOT_COUNTED until somebody asks. */
  expectedInput: number;
  expectedOutput = 0;
  /** When it was accepted, or noted last, in epoch milliseconds. */
  notedAt: number;
  #id = '';
  /** So often it was seen under way by a look of all calls. */
  looks = 0;
  /** The input that it had used when it asked for its present attempt or batch, and the most of one before that (as-much-again). */
  usedBefore = 0;
  mostOfOne = 0;

  constructor(call: AccountedCall, { key, places, taken, hasRoom, at, input, sums }: KeyTerms, reserve: Reserve) {
    this.call = call;
    this.owner = key;
    this.notedAt = at;
    this.expectedInput = input ?? NOT_COUNTED;
    this.places = places;
    this.taken = taken;
    this.hasRoom = hasRoom;
    this.sums = sums;
    this.#reserve = reserve;
  }

  get readsOn(): boolean {
    return true;
  }

  reserve(atOnce = false): Promise<void> | undefined {
    return this.#reserve(this, atOnce);
  }

  /** Its id in the book, made when it is asked for: most calls end without one. */
  get id(): string {
    if (this.#id === '') this.#id = newId();
    return this.#id;
  }

  /** Made when it is asked for. */
  get at(): string {
    return isoTime(this.notedAt);
  }

  get requestId(): string {
    return this.call.requestId;
  }

  get key(): string {
    return this.owner.name;
  }

  get group(): string | undefined {
    return this.owner.group ?? undefined;
  }

  get provider(): string {
    return this.call.adapterId;
  }

  get model(): string {
    return this.call.model;
  }

  get usage(): Usage {
    return this.note.usage;
  }

  get costUsd(): number | null {
    return this.note.costUsd;
  }

  get leastUsd(): number | null {
    return this.note.leastUsd;
  }

  get error(): 'SHUTTING_DOWN' {
    return 'SHUTTING_DOWN';
  }

  /** What it counts with if the process is killed; undefined for a call that was never admitted. */
  get noted(): Usage | undefined {
    return this.slot < 0 ? undefined : aheadOf(this, this.call.usageSoFar());
  }

  /** as-expected. */
  get expected(): Usage | undefined {
    return this.usageWith(this.call.usageSoFar());
  }

  /** The same of a call that has surely used this. */
  usageWith(used: Usage): Usage;
  usageWith(used: Usage | undefined): Usage | undefined;
  usageWith(used: Usage | undefined): Usage | undefined {
    if (used === undefined) return this.note !== NO_NOTE ? estimated(this.expectedInput, this.expectedOutput) : undefined;
    return this.call.hasOutput ? this.#withExpectedOutput(used) : this.#withExpectedInput(used);
  }

  #withExpectedInput(used: Usage): Usage {
    return used.inputTokens >= this.expectedInput ? used : { ...used, ...estimated(this.expectedInput, used.outputTokens) };
  }

  #withExpectedOutput(used: Usage): Usage {
    const least = this.expectedOutput;
    return used.outputTokens >= least ? used : { ...used, outputTokens: least, totalTokens: used.inputTokens + least };
  }
}

/** noted-ahead: what the book is to have of a call that has surely used this. */
function aheadOf(hold: KeyHold, used: Usage | undefined): Usage {
  return used === undefined ? estimated(hold.expectedInput, outputAhead(hold)) : aheadOfUsed(hold, used);
}

function outputAhead({ call, expectedOutput }: KeyHold): number {
  return call.hasOutput ? Math.max(expectedOutput, USUAL_OUTPUT_TOKENS) : 0;
}

function aheadOfUsed({ call, expectedInput, expectedOutput }: KeyHold, used: Usage): Usage {
  const output = used.outputTokens;
  const outputTokens = call.hasOutput ? output + Math.max(output, expectedOutput, USUAL_OUTPUT_TOKENS) : 0;
  return { ...used, ...estimated(Math.max(used.inputTokens, expectedInput), outputTokens) };
}

function expectAsMuchAgain(hold: KeyHold, used: number): void {
  hold.mostOfOne = Math.max(hold.mostOfOne, used - hold.usedBefore);
  hold.usedBefore = used;
  hold.expectedInput = Math.max(hold.expectedInput, used + hold.mostOfOne);
}

function sumOf(one: Used, other: Used): Used {
  return { usd: one.usd + other.usd, tokens: one.tokens + other.tokens };
}

/** All calls under way of keys with limits. */
export class HeldCalls {
  readonly #book: Pick<GatewayBook, 'note' | 'noteAlone'>;
  readonly #onFault: (error: unknown) => void;
  readonly #now: () => number;
  readonly #sums = new CallSums((bound) => this.underWay(bound));
  /** By slot. */
  readonly #holds: (KeyHold | undefined)[] = [];
  /** Slots of calls that have ended; the last one is taken first, since it was used a moment ago. */
  #free = new Int32Array(FIRST_CALLS);
  #freeSlots = 0;
  #timer: NodeJS.Timeout | undefined;

  /** `onFault` gets the error of the book for a call that has been sent already; `now` is the time of the store, in epoch milliseconds. */
  constructor(book: Pick<GatewayBook, 'note' | 'noteAlone'>, { onFault, now }: { onFault(error: unknown): void; now(): number }) {
    this.#book = book;
    this.#onFault = onFault;
    this.#now = now;
  }

  /** About what the calls under way of a key or a group count, and no less: summed-up. */
  sumOf({ kind, name }: Pick<Bound, 'kind' | 'name'>): Used {
    return this.#sums.known(kind, name) ?? NOTHING;
  }

  /** What is kept for calls of a key: its sums, as what is under way for all of them. */
  sumsOf(key: NamedKey): KeySums {
    return this.#sums.of(key);
  }

  /** What the other calls under way of a key or a group count; with `surely`, only what they have used for sure. */
  underWay({ kind, name }: Pick<Bound, 'kind' | 'name'>, own?: KeyHold, surely = false): Used {
    const sum = { usd: 0, tokens: 0 };
    const account = this.#sums.known(kind, name);
    if (account === undefined || account.calls === 0) return sum;
    for (const hold of this.#holds) {
      if (hold?.sums === undefined || hold === own || (hold.sums.ofKey !== account && hold.sums.ofGroup !== account)) continue;
      const usage = surely ? hold.call.usageSoFar() : hold.expected;
      if (usage === undefined) continue;
      sum.tokens += usage.totalTokens;
      sum.usd += hold.note.pricer.least(usage) ?? 0;
    }
    return sum;
  }

  /** Those beside one that asks for room, together with what that one has used already or will surely use, and what it may use from now on. */
  beside(asking: KeyHold, pricer: Pricer, meanOutput: number | undefined): UnderWay {
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
    return { roughly: (bound) => this.sumOf(bound), exactly, own };
  }

  /** The call counts as under way from now on. Undefined, or a promise that resolves, lets it be sent. Once more for a further attempt. */
  take(hold: KeyHold, pricer: Pricer, meanOutput = USUAL_OUTPUT_TOKENS): Promise<void> | undefined {
    if (hold.hasEnded) return undefined; // its caller has left, and it will not be sent
    const { call } = hold;
    if (hold.expectedInput === NOT_COUNTED) hold.expectedInput = call.inputTokens();
    hold.expectedOutput = outputOf(call, meanOutput);
    if (hold.slot < 0) this.#join(hold);
    this.#timer ??= this.#looking();
    const used = call.usageSoFar();
    if (used !== undefined) expectAsMuchAgain(hold, used.inputTokens);
    return this.#noteAhead(hold, pricer, used);
  }

  /** The call has ended. */
  leave(hold: KeyHold): void {
    hold.hasEnded = true;
    const { slot, sums, note } = hold;
    if (slot < 0) return;
    sums?.takeOff(note.usd, note.usage.totalTokens);
    hold.slot = -1;
    this.#holds[slot] = undefined;
    this.#free[this.#freeSlots] = slot;
    this.#freeSlots += 1;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** no-context. */
  #looking(): NodeJS.Timeout {
    return setInterval(() => this.#look(), LOOK_EVERY_MS).unref();
  }

  /** No call is under way. */
  #rest(): void {
    this.close();
    this.#holds.length = 0;
    this.#freeSlots = 0;
  }

  #join(hold: KeyHold): void {
    hold.sums = this.#sums.join(hold.sums, hold.owner);
    let slot = this.#holds.length;
    if (this.#freeSlots > 0) {
      this.#freeSlots -= 1;
      slot = this.#free[this.#freeSlots] ?? 0;
      this.#holds[slot] = hold;
    } else this.#holds.push(hold);
    hold.slot = slot;
    if (slot === this.#free.length) this.#free = new Int32Array(2 * slot); // no slot is free
  }

  /** noted-ahead. */
  #look(): void {
    this.#sums.forgetUnused();
    if (this.#holds.length === this.#freeSlots) this.#rest();
    for (const hold of this.#holds) {
      if (hold === undefined) continue;
      const usage = hold.call.usageSoFar();
      hold.looks += 1;
      const isLong = hold.looks === LOOKS_OF_SHORT;
      const isAhead = usage === undefined || this.#isNotedAhead(hold, usage);
      if (!isLong && isAhead) continue;
      hold.notedAt = this.#now();
      if (!isAhead) this.#noteAhead(hold, hold.note.pricer, usage)?.catch(this.#onFault);
      if (isLong) this.#book.noteAlone(hold);
    }
  }

  /** The provider may tell more input than was expected, or what it costs, long before the answer ends. */
  #isNotedAhead(hold: KeyHold, used: Usage): boolean {
    const { usage, usd, pricer } = hold.note;
    if (usage.inputTokens < used.inputTokens || usd < (pricer.least(hold.usageWith(used)) ?? 0)) return false;
    return !hold.call.hasOutput || usage.outputTokens - used.outputTokens > MIN_HEADROOM_TOKENS;
  }

  #noteAhead(hold: KeyHold, pricer: Pricer, used: Usage | undefined): Promise<void> | undefined {
    const before = hold.note;
    const note = used === undefined ? usualNote(hold, pricer) : new HeldNote(aheadOfUsed(hold, used), pricer);
    hold.note = note;
    hold.sums?.add(note.usd - before.usd, note.usage.totalTokens - before.usage.totalTokens); // summed-up
    return this.#book.note(hold, before);
  }
}

/** usual-note: that of an earlier call of its key if it says enough of this one, and hardly more; else one that serves the next calls. */
function usualNote(hold: KeyHold, pricer: Pricer): HeldNote {
  const { sums, expectedInput } = hold;
  const output = outputAhead(hold);
  const usual = sums?.usual;
  if (usual?.pricer === pricer && usual.usage.outputTokens === output) {
    const more = usual.usage.inputTokens - expectedInput;
    if (more >= 0 && more <= MORE_INPUT_TOKENS) return usual;
  }
  const note = new HeldNote(estimated(expectedInput, output), pricer);
  if (sums !== undefined) sums.usual = note;
  return note;
}
