// Words of spending, of one block and of all.
import { count, percent, plural, usd } from '../base/format.ts';
import { ownOf } from '../base/own.ts';

export const costsText = {
  title: 'Costs',
  today: 'Today',
  month: 'This month',
  all: 'Altogether',
  cap: 'Cap',
  noCap: 'no cap',
  days: 'By day (UTC)',
  monthSum: 'This month, summed up by day (UTC)',
  byModel: 'By model',
  byPurpose: 'By purpose',
  by: { block: 'Block', key: 'Key', connection: 'Connection', credential: 'Connection’s key', model: 'Model', day: 'Day', purpose: 'Purpose' },
  calls: 'Calls',
  input: 'Tokens in',
  output: 'Tokens out',
  cached: 'From cache',
  cost: 'Cost',
  blocks: 'Blocks',
  gateway: 'Clients of the gateway',
  of: 'Spending of',
  group: 'Group by',
  none: 'Nothing was spent yet.',
  others: 'Others',
  answers: 'Answers, today',
  summaries: 'Summaries, today',
  requestsToday: 'Requests, today',
  tokensToday: 'tokens today',
  unpriced: 'Without a price, today',
  range: 'Days',
  ranges: { '1d': 'Today', '7d': '7 days', '30d': '30 days', month: 'Month', all: 'All' },
  own: 'Own',
  from: 'From',
  to: 'To',
  csv: 'CSV',
  caps: 'Blocks with a cap, today',
  workspaceToken: 'the workspace’s token',
} as const;

/** Calls whose price is not known are named, and not counted as free. */
export function unpricedText(calls: number): string {
  return `${plural(calls, 'call has', 'calls have')} no known price and ${calls === 1 ? 'is' : 'are'} not in the sum.`;
}

/** `5 not priced`, beside a sum. */
export function uncountedText(calls: number): string {
  return `${count(calls)} not priced`;
}

/** Why a plot has no bars. */
export function emptyStackText(calls: number, uncounted: number): string {
  if (calls === 0) return 'There was no call on these days.';
  if (uncounted === 0) return `${plural(calls, 'call', 'calls')}, and none of them cost anything.`;
  return `${plural(calls, 'call', 'calls')}, none with a known price, so there is no cost to draw.`;
}

/** `2026-11-23: gpt $4.11, claude $2.00`; empty for a day without costs. */
export function stackedDayText(
  day: string,
  layers: readonly { readonly name: string | undefined; readonly costs: readonly number[] }[],
  index: number,
): string {
  const parts = layers.flatMap(({ name, costs }) => ((costs[index] ?? 0) > 0 ? [`${name ?? costsText.others} ${usd(costs[index])}`] : []));
  return parts.length === 0 ? '' : `${day}: ${parts.join(', ')}`;
}

/** `$392 at this pace`. */
export function monthPaceText(cost: number | undefined): string {
  return cost === undefined ? '' : `${usd(cost)} at this pace`;
}

/** `$0.0115 each`, of the calls that have a price. */
export function eachText(row: { readonly calls: number; readonly costUsd: number | null; readonly unpricedCalls: number } | undefined): string {
  const priced = (row?.calls ?? 0) - (row?.unpricedCalls ?? 0);
  return row?.costUsd == null || priced === 0 ? '' : `${usd(row.costUsd / priced)} each`;
}

/** `4 % of today`. */
export function shareOfTodayText(part: number, whole: number): string {
  return whole > 0 ? `${percent((part / whole) * 100)} of today` : '';
}

/** The models of calls without a price. */
export function unpricedModelsText(models: readonly string[]): string {
  const [first, ...others] = models;
  if (first === undefined) return '';
  return others.length === 0 ? `calls, ${first}` : `calls, ${first} and ${plural(others.length, 'other model', 'other models')}`;
}

/** `1 call`. */
export function callsText(calls: number): string {
  return plural(calls, 'call', 'calls');
}

/** `of $5.00`. */
export function ofCapText(cap: number): string {
  return `of ${usd(cap)}`;
}

/** A cap of tokens, and what is spent of it. */
export function tokenCapText(cap: number, spent: number): string {
  return `${costsText.cap}: ${count(cap)} tokens a day, ${count(spent)} today.`;
}

interface DaySum {
  readonly day: string;
  readonly cost: number | null;
  readonly calls: number;
  readonly uncounted: number;
}

/** `2026-11-23: $4.11, 120 calls, 5 not priced`. */
export function dayText({ day, cost, calls, uncounted }: DaySum): string {
  return `${day}: ${usd(cost)}, ${plural(calls, 'call', 'calls')}${uncounted === 0 ? '' : `, ${uncountedText(uncounted)}`}`;
}

const PURPOSES: Readonly<Record<string, string>> = { chat: 'Answers', summary: 'Summaries of the memory', tool: 'Tools' };

/** What a call was for; an unknown purpose by its own name. */
export function purposeName(purpose: string): string {
  return ownOf(PURPOSES, purpose) ?? purpose;
}

/** `3,418 → 152`. */
export function tokensText(input: number, output: number): string {
  return `${count(input)} → ${count(output)}`;
}

/** `Cap: $5.00`, beside the line of it. */
export function capLineText(cap: number): string {
  return `${costsText.cap}: ${usd(cap)}`;
}

/** `$12.00 of $40.00 this month`. */
export function monthSumText(spent: number, cap: number): string {
  return `${usd(spent)} of ${usd(cap)} this month`;
}
