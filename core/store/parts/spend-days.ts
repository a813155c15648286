// What each key and each group of keys has spent, by UTC day. Pure: no I/O.
//
// never-less: a call counts at least nothing. One that counted less would give its key more to spend than its cap.
// days-stay: a day keeps its sums when the clock leaves it and comes back. Only the days that were counted longest ago are dropped.
// others-apart: of a week and a month, the sums of their other days are kept, since a call changes the day alone.
// far-at-once: an account knows what may still be used before one of its caps is half used up, and each call that is counted lowers that. So two comparisons tell whether a cap is near.
// as-members: a call counts for the group in which its key was, also after the key has left the group or was revoked.

import { prefixed } from '../../base/kept-text.ts';
import { monthOf, weekOf } from '../../base/utc-periods.ts';
import { areSameCaps, leftOfHalf } from '../../block/costs/caps.ts';
import type { Usage } from '../../types.ts';
import type { Caps, KeySpend, PeriodSpend, Used } from '../port.ts';

/** A month, and more days than a clock that is set right again and again visits. */
const MAX_DAYS = 64;

/** The sums of one key on one day. */
export interface KeyDay extends KeySpend {
  /** Tokens of output as the provider reported them, and of how many calls: the estimate for a call that its client left says little about the next one. */
  readonly output: number;
  readonly answers: number;
}

type Sums = { -readonly [K in keyof KeyDay]: KeyDay[K] };

/** A call, as far as it is counted. */
export interface CountedCall {
  /** When it ended: ISO 8601, UTC. */
  readonly at: string;
  readonly key: string | null;
  /** In which its key was. */
  readonly group?: string | undefined;
  readonly usage: Usage | null;
  readonly costUsd: number | null;
  /** USD that it costs at least, where the price is not known but that of its model is. */
  readonly leastUsd?: number | null | undefined;
}

/** The sums of one key or group that are asked for again and again. */
export interface SpendAccount {
  readonly name: string;
  /** The day for which these sums are; empty if they must be summed again. */
  for: string;
  /** Those that are kept of that day; NOTHING if none are. */
  day: Sums;
  /** Of the other days of its week, and of its month (others-apart). */
  otherWeek: Sums;
  otherMonth: Sums;
  /** The caps that were asked for last, and what is left of their halves on that day (far-at-once). */
  caps: Caps | undefined;
  leftUsd: number;
  leftTokens: number;
  lastDay: string | null;
  /** Of all days. */
  output: number;
  answers: number;
}

const NOTHING: Sums = { usd: 0, tokens: 0, calls: 0, unpricedCalls: 0, output: 0, answers: 0 };
/** No time begins with it. */
const NEVER = 'never';
const DAY_CHARACTERS = '2026-11-22'.length;

/** never-less: nothing that a call or a line says lowers a sum. */
export function countable(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0;
}

/** The name under which the sums of a group are kept. No key has such a name. */
export const groupAccount = prefixed('group:');

/** The name under which the sums of a key or of a group are kept. */
export function accountOf({ kind, name }: Pick<Caps, 'kind' | 'name'>): string {
  return kind === 'key' ? name : groupAccount(name);
}

/** A day as the text that stands for it everywhere: each call compares days several times, and what is the same object is compared at once. */
export const dayText = prefixed('');

/** The sums of keys and groups by day. */
export class DaySums {
  /** By day, the one that was counted last at the end; in it by key. */
  protected readonly days = new Map<string, Map<string, Sums>>();
  /** The JSON of days, of which only that of the present day changes. */
  readonly #texts = new Map<string, string>();
  #newest = NEVER;
  /** When the last call that was counted has ended, and its day. Of many calls, several end in one millisecond. */
  #last = { at: '', day: NEVER };
  #accountsOfNewest = new Map<string, Sums>();

  /** Counts a call on the day of its end, and also in `other`. */
  count(call: CountedCall, other?: DaySums): void {
    const { at, key, group, usage } = call;
    if (key === null || usage === null) return;
    const sums = sumsOf(call, usage);
    if (this.#last.at !== at) this.#last = { at, day: at.startsWith(this.#newest) ? this.#newest : at.slice(0, DAY_CHARACTERS) };
    const { day } = this.#last;
    this.add(day, key, sums);
    other?.add(day, key, sums);
    if (group === undefined) return;
    const account = groupAccount(group); // as-members
    this.add(day, account, sums);
    other?.add(day, account, sums);
  }

  add(day: string, account: string, more: KeyDay): void {
    this.begin(day);
    this.addToNewest(account, more);
  }

  protected addToNewest(account: string, more: KeyDay): void {
    const known = this.#accountsOfNewest.get(account);
    if (known === undefined) this.#accountsOfNewest.set(account, { ...more });
    else addUp(known, more);
  }

  addAll(others: DaySums): void {
    for (const row of others.rows()) this.add(...row);
  }

  /** All sums, those of the day that was counted last at the end. */
  *rows(): Generator<[day: string, account: string, sums: KeyDay]> {
    for (const [day, accounts] of this.days) for (const [account, sums] of accounts) yield [day, account, sums];
  }

  /** All sums as JSON: by day, and in it by key or group. */
  text(): string {
    const days = [...this.days].map(([day, accounts]) => `${JSON.stringify(day)}:${this.#textOf(day, accounts)}`);
    return `{${days.join(',\n')}}`;
  }

  #textOf(day: string, accounts: ReadonlyMap<string, Sums>): string {
    const known = this.#texts.get(day) ?? JSON.stringify(Object.fromEntries(accounts));
    this.#texts.set(day, known);
    return known;
  }

  /** A call is counted on this day. days-stay. */
  protected begin(day: string): void {
    if (this.#texts.size > 0) this.#texts.delete(day);
    if (day === this.#newest) return;
    this.#newest = dayText(day);
    this.#accountsOfNewest = this.days.get(day) ?? new Map<string, Sums>();
    this.days.delete(day);
    this.days.set(day, this.#accountsOfNewest);
    if (this.days.size <= MAX_DAYS) return;
    const [oldest = ''] = this.days.keys();
    this.dropped(this.days.get(oldest) ?? new Map<string, Sums>());
    this.days.delete(oldest);
    this.#texts.delete(oldest);
  }

  /** A day is no longer kept. */
  protected dropped(_accounts: ReadonlyMap<string, KeyDay>): void {
    // Nothing else was made of its sums.
  }
}

/** The same, with what each key and group has spent in the present periods. */
export class SpendDays extends DaySums {
  readonly #running = new Map<string, SpendAccount>();

  override add(day: string, account: string, more: KeyDay): void {
    this.begin(day);
    const running = this.account(account);
    if (running.for === day && running.day !== NOTHING) {
      addUp(running.day, more);
      running.leftUsd -= more.usd;
      running.leftTokens -= more.tokens;
    } else {
      this.addToNewest(account, more);
      running.for = '';
    }
    if (day !== running.lastDay && (running.lastDay === null || day > running.lastDay)) running.lastDay = day;
    running.output += more.output;
    running.answers += more.answers;
  }

  /** On this UTC day, in its week and in its month. */
  spent(day: string, account: string): PeriodSpend {
    return this.spentBy(this.account(account), day);
  }

  /** The same by what `account` has found. */
  spentBy(account: SpendAccount, day: string): PeriodSpend {
    if (account.for !== day) this.#sum(account, day);
    const { day: ofDay, otherWeek, otherMonth, lastDay } = account;
    return { day: { ...ofDay }, week: bothOf(ofDay, otherWeek), month: bothOf(ofDay, otherMonth), lastDay };
  }

  /** True if no cap is near: on this day, none is half used up with what was spent and twice what calls under way use (far-at-once). */
  isFar(account: SpendAccount, caps: Caps, day: string, underWay: Used): boolean {
    if (account.for !== day || account.caps !== caps) this.#look(account, caps, day);
    return 2 * underWay.usd < account.leftUsd && 2 * underWay.tokens < account.leftTokens;
  }

  /** One object for the same caps, which each key of a group has for itself: `isFar` would look again for each other object. */
  sharedCaps(account: SpendAccount, caps: Caps): Caps {
    return account.caps !== undefined && areSameCaps(account.caps, caps) ? account.caps : caps;
  }

  #look(account: SpendAccount, caps: Caps, day: string): void {
    const { usd, tokens } = leftOfHalf(caps, this.spentBy(account, day));
    account.caps = caps;
    account.leftUsd = usd;
    account.leftTokens = tokens;
  }

  #sum(running: SpendAccount, day: string): void {
    running.for = day;
    running.caps = undefined;
    running.day = NOTHING;
    running.otherWeek = { ...NOTHING };
    running.otherMonth = { ...NOTHING };
    const [week, month] = [weekOf(day), monthOf(day)];
    for (const [each, accounts] of this.days) {
      const sums = accounts.get(running.name);
      if (sums === undefined) continue;
      if (each === day) {
        running.day = sums;
        continue;
      }
      if (monthOf(each) === month) addUp(running.otherMonth, sums);
      if (weekOf(each) === week) addUp(running.otherWeek, sums);
    }
  }

  /** The mean output of a key's answers, in tokens; undefined without an answer. */
  meanOutput(account: string): number | undefined {
    const { output, answers } = this.#running.get(account) ?? NOTHING;
    return answers === 0 ? undefined : output / answers;
  }

  /** What is summed up of a key or a group: the same object for as long as there are these sums. */
  account(account: string): SpendAccount {
    let running = this.#running.get(account);
    if (running === undefined) {
      const others = { otherWeek: { ...NOTHING }, otherMonth: { ...NOTHING } };
      running = { name: account, for: '', day: NOTHING, ...others, caps: undefined, leftUsd: 0, leftTokens: 0, lastDay: null, output: 0, answers: 0 };
      this.#running.set(account, running);
    }
    return running;
  }

  protected override dropped(accounts: ReadonlyMap<string, KeyDay>): void {
    for (const [account, { output, answers }] of accounts) {
      const running = this.account(account);
      running.for = '';
      running.output -= output;
      running.answers -= answers;
    }
  }
}

function sumsOf({ costUsd, leastUsd = null }: CountedCall, usage: Usage): KeyDay {
  const isAnswer = countable(usage.outputTokens) > 0 && usage.estimated !== true;
  return {
    usd: countable(costUsd ?? leastUsd),
    tokens: countable(usage.totalTokens),
    calls: 1,
    unpricedCalls: costUsd === null && leastUsd === null ? 1 : 0,
    output: isAnswer ? usage.outputTokens : 0,
    answers: isAnswer ? 1 : 0,
  };
}

function bothOf(one: Sums, other: Sums): Sums {
  const both = { ...one };
  addUp(both, other);
  return both;
}

function addUp(sums: Sums, more: KeyDay): void {
  sums.usd += more.usd;
  sums.tokens += more.tokens;
  sums.calls += more.calls;
  sums.unpricedCalls += more.unpricedCalls;
  sums.output += more.output;
  sums.answers += more.answers;
}
