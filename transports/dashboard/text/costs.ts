// Words of spending, of one block and of all.
import { count, plural, usd } from '../base/format.ts';
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
  input: 'In',
  output: 'Out',
  cached: 'From cache',
  cost: 'Cost',
  blocks: 'Blocks',
  gateway: 'Clients of the gateway',
  of: 'Spending of',
  group: 'Group by',
  none: 'Nothing was spent yet.',
  caps: 'Blocks with a cap, today',
  workspaceToken: 'the workspace’s token',
} as const;

/** Calls whose price is not known are named, and not counted as free. */
export function unpricedText(calls: number): string {
  return `${plural(calls, 'call has', 'calls have')} no known price and ${calls === 1 ? 'is' : 'are'} not in the sum.`;
}

/** `5 not counted`, beside a sum. */
export function uncountedText(calls: number): string {
  return `${count(calls)} not counted`;
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

/** `2026-11-23: $4.11, 120 calls, 5 not counted`. */
export function dayText({ day, cost, calls, uncounted }: DaySum): string {
  return `${day}: ${usd(cost)}, ${plural(calls, 'call', 'calls')}${uncounted === 0 ? '' : `, ${uncountedText(uncounted)}`}`;
}

const PURPOSES: Readonly<Record<string, string>> = { chat: 'Answers', summary: 'Summaries of the memory' };

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
