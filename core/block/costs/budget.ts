// Spend caps: whether the next call may be made. Pure: no I/O.
//
// The spend comes from the ledger, so neither a reset nor an archive lifts a cap. A reached cap stays reached until the period ends or the cap is
// raised.
import { dateKey, nextDayStart, nextMonthStart } from '../../base/calendar.ts';
import type { BlockConfig } from '../../schemas/block-config.ts';
import type { BudgetStand } from '../../schemas/block-costs.ts';
import type { BudgetCap, BudgetVerdict, Spend, WorstCase } from '../../store/port.ts';

type Budget = BlockConfig['budget'];

/** The caps, and the spend that is compared with them. */
export interface BudgetQuestion {
  readonly budget: Budget;
  /** Since `dayStart`. */
  readonly day: Spend;
  /** Since `monthStart`. */
  readonly month: Spend;
  readonly worstCase: WorstCase;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** True if a cap is set. */
export function hasCaps(budget: Budget): boolean {
  return capsUsd(budget) || budget.dailyTokens !== null;
}

/** True if a cap in USD is set. */
export function capsUsd({ dailyUsd, monthlyUsd }: Budget): boolean {
  return dailyUsd !== null || monthlyUsd !== null;
}

interface CapStand {
  readonly cap: BudgetCap;
  readonly limit: number;
  readonly spent: number;
  readonly next: number;
}

/** Compares the spend and the worst case of the next call with each cap. Throws INVALID_REQUEST for an unknown timezone. */
export function judgeBudget(question: BudgetQuestion): BudgetVerdict {
  const { budget, day, month, now } = question;
  const caps = capsOf(question);
  // The caps of the day come first: if a monthly one is reached as well, it lasts longer and is the one to report.
  const over = caps.findLast(isExceeded);
  const warns = caps.some(({ limit, spent }) => spent >= limit * budget.warnAt);
  const state = over !== undefined ? 'exceeded' : warns ? 'warn' : 'ok';
  const today = dateKey(now, budget.timezone);
  const stand: BudgetStand = {
    day: { usd: day.usd, tokens: day.tokens, key: today },
    month: { usd: month.usd, tokens: month.tokens, key: today.slice(0, 7) },
    state,
  };
  if (over === undefined) return { kind: 'ok', stand };
  const resetsAt = over.cap === 'monthlyUsd' ? nextMonthStart(now, budget.timezone) : nextDayStart(now, budget.timezone);
  return { kind: 'exceeded', stand, cap: over.cap, resetsAt, message: messageOf(over, resetsAt), fix: fixOf(over) };
}

function capsOf({ budget, day, month, worstCase }: BudgetQuestion): readonly CapStand[] {
  const usd = worstCase.usd ?? 0; // a call without a known price counts as nothing towards a cap in money
  const all: readonly { cap: BudgetCap; limit: number | null; spent: number; next: number }[] = [
    { cap: 'dailyUsd', limit: budget.dailyUsd, spent: day.usd, next: usd },
    { cap: 'dailyTokens', limit: budget.dailyTokens, spent: day.tokens, next: worstCase.tokens },
    { cap: 'monthlyUsd', limit: budget.monthlyUsd, spent: month.usd, next: usd },
  ];
  return all.filter((stand): stand is CapStand => stand.limit !== null);
}

/** A cap that is used up is reached even where the next call would cost nothing; a cap of 0 forbids all calls. */
function isExceeded({ cap, limit, spent, next }: CapStand): boolean {
  if (cap === 'dailyTokens') return spent >= limit || spent + next > limit;
  return reachesUsd(spent, limit) || spent + next > limit * (1 + ROUNDING);
}

/** Part of a sum of prices. A sum of many fractions is that much too small or too large at most. */
const ROUNDING = 1e-9;

/** True if a sum of prices has reached a cap. `0.7 + 0.1` has reached 0.8, although it is a little less. */
export function reachesUsd(sum: number, cap: number): boolean {
  return sum >= cap * (1 - ROUNDING);
}

const PERIOD: Readonly<Record<BudgetCap, string>> = { dailyUsd: 'today', dailyTokens: 'today', monthlyUsd: 'this month' };

function messageOf({ cap, limit, spent, next }: CapStand, resetsAt: number): string {
  if (limit > 0 && next > limit) {
    const stand = `budget.${cap} (${amount(cap, limit)}) is less than one call may need (${amount(cap, next)}); ${amount(cap, spent)} spent ${PERIOD[cap]}`;
    return `${stand}. No calls are made until the cap is raised or adapter.maxTokens is lowered.`;
  }
  const used = `budget.${cap} (${amount(cap, limit)}) is reached: ${amount(cap, spent)} spent ${PERIOD[cap]}`;
  const needed = spent < limit ? `, and the next call may need ${amount(cap, next)}` : '';
  return `${used}${needed}. It resets at ${new Date(resetsAt).toISOString()}; to continue now, raise the cap.`;
}

/** Rounds up to the next cent or token, so that following the advice is enough. */
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
