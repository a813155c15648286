// What the caps of a block mean today: what is spent of each, and when it would pause the block. Pure.
import type { BlockCosts } from '../../../core/types.ts';
import { capReachedAt, sinceMidnight } from './window.ts';

/** A cap of the form beside what is spent. */
export interface CapMeaning {
  readonly spent: number;
  /** True if the next call would wait for the end of the period. */
  readonly isReached: boolean;
  /** Epoch milliseconds at which it is reached at this pace; undefined if that can't be said, or is not in this period. */
  readonly reachedAt: number | undefined;
}

/** The fields of `budget` that are caps, by their paths in the form. */
export const CAPS = { 'budget.dailyUsd': 'day', 'budget.monthlyUsd': 'month', 'budget.dailyTokens': 'tokens' } as const;
export type CapPath = keyof typeof CAPS;

/** True for the path of a cap. */
export function isCap(path: string): path is CapPath {
  return Object.hasOwn(CAPS, path);
}

/** What a cap of this height means. The counts of another day or month than that of `nowMs` are over: nothing is spent. */
export function capMeaning(path: CapPath, cap: number | null, { day, month }: BlockCosts['budget'], timeZone: string, nowMs: number): CapMeaning {
  const today = dateIn(nowMs, timeZone);
  const isMonth = CAPS[path] === 'month';
  const counted = isMonth ? month : day;
  const isPast = counted.key !== undefined && counted.key !== today.slice(0, counted.key.length);
  const sum = CAPS[path] === 'tokens' ? counted.tokens : counted.usd;
  const spent = isPast ? 0 : sum;
  return { spent, isReached: cap !== null && spent >= cap, reachedAt: isMonth ? undefined : capReachedAt(spent, cap, sinceMidnight(nowMs, timeZone), nowMs) };
}

/** `2026-11-23` in a time zone; in UTC if this browser does not know the zone. */
function dateIn(nowMs: number, timeZone: string): string {
  try {
    return new Intl.DateTimeFormat('sv-SE', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' }).format(nowMs);
  } catch {
    return new Date(nowMs).toISOString().slice(0, 10);
  }
}

/** Calls without a known price of a day (`2026-11-23`, UTC) or a month (`2026-11`): what is spent does not have them. */
export function unpricedOf({ byDay }: Pick<BlockCosts, 'byDay'>, period: string | undefined): number {
  if (period === undefined) return 0;
  return Object.entries(byDay ?? {}).reduce((sum, [day, { unpricedCalls }]) => sum + (day.startsWith(period) ? unpricedCalls : 0), 0);
}
