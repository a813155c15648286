// What a question has found, as a table for people and as JSON. Pure: no I/O.
import type { Spread } from './stats.ts';
import type { Chart } from './svg.ts';

export interface Table {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** A promise about one figure: kept or not. */
export interface Bar {
  readonly what: string;
  readonly value: number;
  readonly limit: number;
  /** `most`: the value must not be above the limit; `least`: not below it. */
  readonly side: 'most' | 'least';
  readonly unit: string;
  /** The value of each run, where there were several; `value` is the worst of them. */
  readonly runs?: readonly number[];
}

export interface Result {
  readonly name: string;
  readonly question: string;
  readonly tables: readonly Table[];
  readonly bars: readonly Bar[];
  readonly charts: readonly Chart[];
  readonly notes: readonly string[];
  /** All of it as numbers. */
  readonly data: unknown;
}

/**
 * One result out of several runs of a question: each bar has its worst value, with the value of each run beside it; tables and charts are those of
 * the last run. The bars of all runs stand in the same order.
 */
export function worstOf(runs: readonly Result[]): Result {
  const last = runs.at(-1);
  if (last === undefined) throw new Error('There is no run of this question.');
  if (runs.length === 1) return last;
  const bars = last.bars.map((bar, index) => {
    const values = runs.map((run) => run.bars[index]?.value ?? Number.NaN);
    return { ...bar, value: bar.side === 'most' ? Math.max(...values) : Math.min(...values), runs: values };
  });
  return { ...last, bars };
}

export function isKept({ value, limit, side }: Bar): boolean {
  return side === 'most' ? value <= limit : value >= limit;
}

/** Three digits that say something. */
export function digits(value: number): string {
  if (!Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  if (size >= 1000) return Math.round(value).toLocaleString('en-US');
  return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3);
}

export function spreadText({ median, low, high }: Spread): string {
  return `${digits(median)} (${digits(low)}–${digits(high)})`;
}

function barText({ value, limit, side, unit }: Bar): string {
  return `${digits(value)}${unit}, target ${side === 'most' ? '≤' : '≥'} ${digits(limit)}${unit}`;
}

/** For a terminal. */
export function toText(result: Result): string {
  const tables = result.tables.map((table) => `${table.title}\n${aligned([table.columns, ...table.rows])}`);
  const bars = result.bars.map((bar) => `${isKept(bar) ? 'met   ' : 'MISSED'}  ${bar.what}: ${barText(bar)}`);
  return [`## ${result.question}`, ...tables, bars.join('\n'), result.notes.join('\n')].filter((part) => part !== '').join('\n\n');
}

/** For a page. */
export function toMarkdown(result: Result): string {
  const tables = result.tables.map((table) => `${table.title}\n\n${markdownTable(table)}`);
  const bars = result.bars.map((bar) => [bar.what, barText(bar), bar.runs?.map(digits).join(', ') ?? 'one run', isKept(bar) ? 'met' : '**missed**']);
  const barTable = bars.length === 0 ? '' : markdownTable({ title: '', columns: ['target', 'worst figure', 'each run', ''], rows: bars });
  const pictures = result.charts.map(({ file, title }) => `![${title}](performance/${file}.svg)`);
  return [`## ${result.question}`, ...pictures, ...tables, barTable, result.notes.join('\n')].filter((part) => part !== '').join('\n\n');
}

function markdownTable({ columns, rows }: Table): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(columns), line(columns.map(() => '---')), ...rows.map(line)].join('\n');
}

function aligned(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
