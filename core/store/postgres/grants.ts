// What a server may still spend for a key or a group, and what its caps leave. Pure: no I/O.
import type { Caps, GatewayCall, NoRoom, PeriodSums, Used } from '../port.ts';
import { groupAccount } from '../parts/spend-days.ts';
import { MOST_TOKENS, MOST_USD } from './gateway-lines.ts';

/** What this server may still spend for a key or a group; infinite without a cap. */
export interface Grant {
  readonly node: string;
  readonly day: string;
  readonly caps: string;
  billionths: number;
  tokens: number;
  /** given-back. */
  isUsed: boolean;
  /** There was no more when it was granted. covered. */
  isAll: boolean;
}

/** What is left of a grant that is larger than its calls under way need. */
export interface Rest {
  readonly name: string;
  readonly grant: Grant;
  readonly billionths: number;
  readonly tokens: number;
}

/** Those that a call counts for. */
export function accountsOf({ key, group }: Pick<GatewayCall, 'key' | 'group'>): string[] {
  return [...(key === null ? [] : [key]), ...(group === undefined ? [] : [groupAccount(group)])];
}

/** The same text for the same caps. */
export function capsOf({ usdPerDay, usdPerWeek, usdPerMonth, tokensPerDay, tokensPerMonth }: Caps): string {
  return [usdPerDay, usdPerWeek, usdPerMonth, tokensPerDay, tokensPerMonth].join('/');
}

/** True if one of them is a cap. */
export function hasCap({ usdPerDay, usdPerWeek, usdPerMonth, tokensPerDay, tokensPerMonth }: Caps): boolean {
  return [usdPerDay, usdPerWeek, usdPerMonth, tokensPerDay, tokensPerMonth].some((cap) => cap !== null);
}

/** What may be spent on this day under all caps, what was spent on it included; null for no cap. */
export function ofToday(
  { usdPerDay, usdPerWeek, usdPerMonth, tokensPerDay, tokensPerMonth }: Caps,
  { day, week, month }: PeriodSums,
): [number | null, number | null] {
  const least = (...caps: readonly (number | null)[]): number | null => {
    const given = caps.filter((cap) => cap !== null);
    return given.length === 0 ? null : Math.min(...given);
  };
  const rest = (cap: number | null, spent: number, today: number): number | null => (cap === null ? null : cap - (spent - today));
  const usd = least(usdPerDay, rest(usdPerWeek, week.usd, day.usd), rest(usdPerMonth, month.usd, day.usd));
  const tokens = least(tokensPerDay, rest(tokensPerMonth, month.tokens, day.tokens));
  return [usd && Math.min(usd, MOST_USD), tokens && Math.min(tokens, MOST_TOKENS)];
}

/** Of two answers, the one that lets nothing through for longer. */
export function later(one: true | NoRoom, other: true | NoRoom): true | NoRoom {
  if (one === true) return other;
  return other === true || one.retryAfterMs >= other.retryAfterMs ? one : other;
}

/** None for a grant that is no larger than its need. Without a cap, it stays infinite. */
export function restOf(name: string, grant: Grant, need: { readonly billionths: number; readonly tokens: number } | undefined): Rest[] {
  if (need === undefined) return [];
  const least = (granted: number, needed: number): number => (granted === Number.POSITIVE_INFINITY ? granted : Math.min(granted, needed));
  const [usd, tokens] = [least(grant.billionths, need.billionths), Math.ceil(least(grant.tokens, need.tokens))];
  return usd === grant.billionths && tokens === grant.tokens ? [] : [{ name, grant, billionths: usd, tokens }];
}

/** As a value of the database, which has null for no cap. */
export function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

/** True if more is granted than what is under way uses. */
export function hasRoom(grant: Grant, underWay: Used): boolean {
  return grant.billionths > billionths(underWay.usd) && grant.tokens > underWay.tokens;
}

/** True if all of it is granted. */
export function covers(grant: Pick<Grant, 'billionths' | 'tokens'>, wanted: Used): boolean {
  return grant.billionths >= billionths(wanted.usd) && grant.tokens >= wanted.tokens;
}

/** USD as whole billionths. */
export function billionths(usd: number): number {
  return Math.round(usd * 1e9);
}
