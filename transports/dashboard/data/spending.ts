// What the page of costs makes of the server's sums: a range of days, the layers of the plot, the figures, and a file for a spreadsheet. Pure.
import type { CostsReport } from '../../../core/types.ts';

const DAY_MS = 86_400_000;
/** So many names have a colour of their own; the rest is one. */
const NAMED = 4;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** Ranges that need no dates. `all` is everything that the ledger has. */
export const RANGES = ['1d', '7d', '30d', 'month', 'all'] as const;
export type Range = (typeof RANGES)[number];

/** UTC days, both ends with them; undefined for no end. */
export interface Days {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** The days of a range, as of `today` (`2026-11-27`). */
export function daysOf(range: Range, today: string): Days {
  if (range === 'all') return {};
  if (range === 'month') return { from: `${today.slice(0, 8)}01`, to: today };
  return { from: dayAfter(today, 1 - Number.parseInt(range, 10)), to: today };
}

/** A text of the address as a day; undefined for anything else. */
export function dayIn(text: string | null): string | undefined {
  return text !== null && DAY.test(text) && !Number.isNaN(Date.parse(text)) ? text : undefined;
}

function dayAfter(day: string, days: number): string {
  return new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10);
}

/** One layer of the plot. */
export interface Layer {
  /** Undefined for all that have no layer of their own. */
  readonly name: string | undefined;
  /** USD of each day. */
  readonly costs: readonly number[];
  readonly cost: number;
}

/** The plot: for each day the dearest names upon each other, and the rest as one. */
export interface Stack {
  readonly days: readonly string[];
  readonly layers: readonly Layer[];
  /** Of the dearest day. */
  readonly most: number;
  readonly calls: number;
  readonly uncounted: number;
}

/** Makes a plot of a report by day and something else, whose keys are `2026-11-27 name`. The days without a call in between are gaps. */
export function stackOf({ rows }: CostsReport, { from, to }: Days): Stack {
  const found = rows.map(({ key }) => key.slice(0, 10)).sort();
  const first = from ?? found[0];
  const last = to ?? found.at(-1);
  const days: string[] = [];
  for (let day = first; day !== undefined && last !== undefined && day <= last && days.length < 400; day = dayAfter(day, 1)) days.push(day);
  const sums = new Map<string, Map<string, number>>();
  for (const { key, costUsd } of rows) {
    const [day, name] = [key.slice(0, 10), key.slice(11)];
    const ofName = sums.get(name) ?? new Map<string, number>();
    sums.set(name, ofName.set(day, (ofName.get(day) ?? 0) + (costUsd ?? 0)));
  }
  const all = [...sums]
    .map(([name, ofDay]) =>
      layerOf(
        name,
        days.map((day) => ofDay.get(day) ?? 0),
      ),
    )
    .sort((a, b) => b.cost - a.cost);
  const rest = all.slice(NAMED);
  const other = layerOf(
    undefined,
    days.map((_, index) => rest.reduce((sum, { costs }) => sum + (costs[index] ?? 0), 0)),
  );
  const layers = [...all.slice(0, NAMED), other].filter(({ cost }) => cost > 0);
  const most = Math.max(0, ...days.map((_, index) => layers.reduce((sum, { costs }) => sum + (costs[index] ?? 0), 0)));
  const total = (name: 'calls' | 'unpricedCalls'): number => rows.reduce((sum, row) => sum + row[name], 0);
  return { days, layers, most, calls: total('calls'), uncounted: total('unpricedCalls') };
}

function layerOf(name: string | undefined, costs: readonly number[]): Layer {
  return { name, costs, cost: costs.reduce((sum, cost) => sum + cost, 0) };
}

/** What a month comes to if its days go on as they did; undefined in its first day, which says nothing. `today` is a UTC day. */
export function atThisPace(spent: number, today: string): number | undefined {
  const [year = 0, month = 1, day = 1] = today.split('-').map(Number);
  return day === 1 ? undefined : (spent / day) * new Date(Date.UTC(year, month, 0)).getUTCDate();
}

/** A report as comma-separated values. A text that a spreadsheet would evaluate as a formula gets an apostrophe in front. */
export function csvOf({ by, rows }: CostsReport): string {
  const head = [by, 'calls', 'input', 'output', 'cacheRead', 'cacheWrite', 'costUsd', 'unpricedCalls'];
  const lines = rows.map((row) => [row.key, row.calls, row.input, row.output, row.cacheRead, row.cacheWrite, row.costUsd, row.unpricedCalls]);
  return [head, ...lines].map((line) => line.map(fieldOf).join(',')).join('\r\n');
}

function fieldOf(value: string | number | null): string {
  if (typeof value !== 'string') return value === null ? '' : String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
