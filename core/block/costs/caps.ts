// Which cap of a key or of its group is reached, and until when. Pure: no I/O.
import { nextUtcDay, nextUtcMonth, nextUtcWeek } from '../../base/utc-periods.ts';
import type { Caps, PeriodSums, Used } from '../../store/port.ts';
import { reachesUsd } from './budget.ts';

/** A cap that is reached. */
export interface ReachedCap {
  readonly bound: Caps;
  /** Such as `5 USD a day`. */
  readonly cap: string;
  /** When its period ends, in epoch milliseconds. */
  readonly resetsAt: number;
  /** Such as `on Monday at 00:00 UTC`. */
  readonly resets: string;
}

interface Cap {
  readonly field: Exclude<keyof Caps, 'kind' | 'name'>;
  readonly unit: 'usd' | 'tokens';
  readonly period: keyof PeriodSums;
}

const CAPS: readonly Cap[] = [
  { field: 'usdPerDay', unit: 'usd', period: 'day' },
  { field: 'tokensPerDay', unit: 'tokens', period: 'day' },
  { field: 'usdPerWeek', unit: 'usd', period: 'week' },
  { field: 'usdPerMonth', unit: 'usd', period: 'month' },
  { field: 'tokensPerMonth', unit: 'tokens', period: 'month' },
];
const ENDS: Readonly<Record<keyof PeriodSums, (now: number) => number>> = { day: nextUtcDay, week: nextUtcWeek, month: nextUtcMonth };

/** Of the caps that are reached with what was spent, and with `more`, the one whose period ends last; undefined if none is reached. */
export function reachedCap(bound: Caps, spent: PeriodSums, more: Used, now: number): ReachedCap | undefined {
  let last: ReachedCap | undefined;
  for (const { field, unit, period } of CAPS) {
    const cap = bound[field];
    if (cap === null || !isReached(spent[period][unit] + more[unit], cap, unit)) continue;
    const resetsAt = ENDS[period](now);
    if (last === undefined || resetsAt > last.resetsAt)
      last = { bound, cap: `${cap} ${unit === 'usd' ? 'USD' : 'tokens'} a ${period}`, resetsAt, resets: resetsIn(period, resetsAt) };
  }
  return last;
}

/** What may still be used before one of these caps is half used up; infinite without a cap. */
export function leftOfHalf(caps: Caps, spent: Readonly<Record<keyof PeriodSums, Used>>): Used {
  const left = { usd: Number.POSITIVE_INFINITY, tokens: Number.POSITIVE_INFINITY };
  for (const { field, unit, period } of CAPS) {
    const cap = caps[field];
    if (cap !== null) left[unit] = Math.min(left[unit], cap / 2 - spent[period][unit]);
  }
  return left;
}

/** True if the same caps are set. */
export function areSameCaps(one: Caps, other: Caps): boolean {
  return one === other || CAPS.every(({ field }) => one[field] === other[field]);
}

/** The one whose period ends later. */
export function later(one: ReachedCap | undefined, other: ReachedCap | undefined): ReachedCap | undefined {
  return one === undefined || (other !== undefined && other.resetsAt > one.resetsAt) ? other : one;
}

function isReached(spent: number, cap: number, unit: Cap['unit']): boolean {
  return unit === 'usd' ? reachesUsd(spent, cap) : spent >= cap;
}

function resetsIn(period: keyof PeriodSums, resetsAt: number): string {
  if (period === 'day') return 'at 00:00 UTC';
  return period === 'week' ? 'on Monday at 00:00 UTC' : `on ${new Date(resetsAt).toISOString().slice(0, '2026-12-01'.length)} at 00:00 UTC`;
}
