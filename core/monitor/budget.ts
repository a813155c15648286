// Spend caps: when a day and a month begin in the block's timezone, and whether the next call may be made. Pure: no I/O.
//
// B1 What was spent comes from the ledger, so that neither a reset nor an archive lifts a cap.
// B2 The next call counts with the worst that it may cost. Where its price is unknown, it counts as nothing towards a cap in money.
// B3 A cap that is reached stays so until the period ends or the cap is raised.
import { type BlockhouseError, invalidRequest } from '../errors.ts';
import type { BlockConfig, BudgetStand } from '../schemas/block.ts';

export interface Spend {
  readonly usd: number;
  readonly tokens: number;
}

type Budget = BlockConfig['budget'];
export type BudgetCap = 'dailyUsd' | 'monthlyUsd' | 'dailyTokens';

export type BudgetVerdict =
  | { readonly kind: 'ok'; readonly stand: BudgetStand }
  | {
      readonly kind: 'exceeded';
      readonly stand: BudgetStand;
      /** Of several, the one that holds longest. */
      readonly cap: BudgetCap;
      /** Epoch milliseconds. */
      readonly resetsAt: number;
      readonly message: string;
      readonly fix: string;
    };

export interface BudgetQuestion {
  readonly budget: Budget;
  /** Since `dayStart`. */
  readonly day: Spend;
  /** Since `monthStart`. */
  readonly month: Spend;
  /** Of the next call; `usd` is null where its price is unknown. */
  readonly worstCase: { readonly usd: number | null; readonly tokens: number };
  /** Epoch milliseconds. */
  readonly now: number;
}

export function hasCaps({ dailyUsd, monthlyUsd, dailyTokens }: Budget): boolean {
  return dailyUsd !== null || monthlyUsd !== null || dailyTokens !== null;
}

interface CapStand {
  readonly cap: BudgetCap;
  readonly limit: number;
  readonly spent: number;
  readonly next: number;
}

/** Ledger spend and the worst case of the next call against each cap. Throws INVALID_REQUEST for an unknown timezone. */
export function judgeBudget(question: BudgetQuestion): BudgetVerdict {
  const { budget, day, month, now } = question;
  const caps = capsOf(question);
  // The month outlasts the day, so it is what a person must know of when both are reached.
  const over = caps.findLast(isExceeded);
  const warns = caps.some(({ limit, spent }) => spent >= limit * budget.warnAt);
  const state = over !== undefined ? 'exceeded' : warns ? 'warn' : 'ok';
  const today = dateIn(budget.timezone, now);
  const stand: BudgetStand = {
    day: { usd: day.usd, tokens: day.tokens, key: keyOf(today) },
    month: { usd: month.usd, tokens: month.tokens, key: keyOf(today).slice(0, 7) },
    state,
  };
  if (over === undefined) return { kind: 'ok', stand };
  const resetsAt = over.cap === 'monthlyUsd' ? nextMonthStart(now, budget.timezone) : nextDayStart(now, budget.timezone);
  return { kind: 'exceeded', stand, cap: over.cap, resetsAt, message: messageOf(over, resetsAt), fix: fixOf(over) };
}

function capsOf({ budget, day, month, worstCase }: BudgetQuestion): readonly CapStand[] {
  const usd = worstCase.usd ?? 0; // B2
  const all: readonly { cap: BudgetCap; limit: number | null; spent: number; next: number }[] = [
    { cap: 'dailyUsd', limit: budget.dailyUsd, spent: day.usd, next: usd },
    { cap: 'dailyTokens', limit: budget.dailyTokens, spent: day.tokens, next: worstCase.tokens },
    { cap: 'monthlyUsd', limit: budget.monthlyUsd, spent: month.usd, next: usd },
  ];
  return all.filter((stand): stand is CapStand => stand.limit !== null);
}

/** A cap that is used up is reached even where the next call would cost nothing (B3); a cap of 0 forbids all calls. */
function isExceeded({ limit, spent, next }: CapStand): boolean {
  return spent >= limit || spent + next > limit;
}

const PERIOD: Readonly<Record<BudgetCap, string>> = { dailyUsd: 'today', dailyTokens: 'today', monthlyUsd: 'this month' };

function messageOf({ cap, limit, spent, next }: CapStand, resetsAt: number): string {
  if (limit > 0 && next > limit) {
    const stand = `budget.${cap} (${amount(cap, limit)}) is less than one call may need (${amount(cap, next)}); ${amount(cap, spent)} spent ${PERIOD[cap]}`;
    return `${stand}. No call is made until the cap is raised or adapter.maxTokens is lowered.`;
  }
  const used = `budget.${cap} (${amount(cap, limit)}) is reached: ${amount(cap, spent)} spent ${PERIOD[cap]}`;
  const needed = spent < limit ? `, and the next call may need ${amount(cap, next)}` : '';
  return `${used}${needed}. It resets at ${new Date(resetsAt).toISOString()}; raising the cap lifts it at once.`;
}

/** The next cent or token above the need, so that doing it is enough. */
function fixOf({ cap, limit, spent, next }: CapStand): string {
  const enough = spent + next;
  const shown = cap === 'dailyTokens' ? String(Math.floor(enough) + 1) : ((Math.floor(enough * 100 + 1e-6) + 1) / 100).toFixed(2);
  const other = next > limit ? 'or lower adapter.maxTokens' : 'or wait until it resets';
  return `Raise budget.${cap} to ${shown} or more, set it to null, ${other}.`;
}

/** Small sums keep their digits: a call may cost a hundredth of a cent. */
function amount(cap: BudgetCap, value: number): string {
  if (cap === 'dailyTokens') return `${Math.round(value)} tokens`;
  return `$${value === 0 || value >= 0.01 ? value.toFixed(2) : value.toPrecision(2)}`;
}

/** When the day of `nowMs` began in `timezone`, epoch milliseconds. Throws INVALID_REQUEST for an unknown timezone. */
export function dayStart(nowMs: number, timezone: string): number {
  const { year, month, day } = dateIn(timezone, nowMs);
  return startOf(year, month, day, timezone);
}

export function monthStart(nowMs: number, timezone: string): number {
  const { year, month } = dateIn(timezone, nowMs);
  return startOf(year, month, 1, timezone);
}

export function nextDayStart(nowMs: number, timezone: string): number {
  const { year, month, day } = dateIn(timezone, nowMs);
  return startOf(year, month, day + 1, timezone);
}

export function nextMonthStart(nowMs: number, timezone: string): number {
  const { year, month } = dateIn(timezone, nowMs);
  return startOf(year, month + 1, 1, timezone);
}

/** Throws INVALID_REQUEST naming `budget.timezone` for an unknown one. */
export function assertTimezone(timezone: string): void {
  formatOf(timezone);
}

interface CalendarDate {
  readonly year: number;
  /** From 1. */
  readonly month: number;
  readonly day: number;
}

const HOUR_MS = 3_600_000;

/**
 * The first moment whose date in `timezone` is the given one or later: where midnight was skipped by a change of the clocks, the
 * day begins after the gap; where it came twice, at the first. A month or day beyond its range counts on, as in Date.
 */
function startOf(year: number, month: number, day: number, timezone: string): number {
  const utcMidnight = Date.UTC(year, month - 1, day);
  const wanted = keyOf(dateIn('UTC', utcMidnight));
  // Offsets lie between -12 and +14 hours, and clocks that are set back at midnight don't show the new date before; so halving
  // finds the border to the millisecond.
  let before = utcMidnight - 16 * HOUR_MS;
  let after = utcMidnight + 14 * HOUR_MS;
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (keyOf(dateIn(timezone, middle)) >= wanted) after = middle;
    else before = middle;
  }
  return after;
}

/** Making one takes far longer than using it. */
const formats = new Map<string, Intl.DateTimeFormat>();

function dateIn(timezone: string, at: number): CalendarDate {
  const parts = formatOf(timezone).formatToParts(at);
  const value = (type: string): number => Number(parts.find((part) => part.type === type)?.value);
  return { year: value('year'), month: value('month'), day: value('day') };
}

function formatOf(timezone: string): Intl.DateTimeFormat {
  const known = formats.get(timezone);
  if (known !== undefined) return known;
  const made = makeFormat(timezone);
  formats.set(timezone, made);
  return made;
}

function makeFormat(timeZone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-US-u-ca-gregory', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' });
  } catch (error) {
    throw unknownTimezone(timeZone, error);
  }
}

function unknownTimezone(timezone: string, error: unknown): BlockhouseError {
  if (!(error instanceof RangeError)) throw error;
  return invalidRequest('budget.timezone', `is not known: ${JSON.stringify(timezone)}; use an IANA name such as UTC or Europe/Berlin`);
}

/** `2026-11-20`; sorts like the date. */
function keyOf({ year, month, day }: CalendarDate): string {
  return `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
}
