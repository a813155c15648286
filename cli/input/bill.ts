// A provider's bill as a file, and the comparison with the own ledgers by UTC day and model. Pure: no I/O.
//
// one-name: a dated snapshot (`gpt-4o-2024-08-06`, `claude-sonnet-4-5-20250929`) and its model are one, on both sides, because bills name either.
// same-days: only the days of the bill are compared, from its first to its last.
import type { CostsReport } from '../../core/index.ts';
import { parseCsv } from './csv.ts';

/** What the columns of a bill are used for. */
export const BILL_PARTS = ['date', 'model', 'usd', 'input', 'output'] as const;
export type BillPart = (typeof BILL_PARTS)[number];
/** The names of columns; of several, the sum counts. */
export type BillColumns = Readonly<Partial<Record<BillPart, readonly string[]>>>;

/** What one side says of a model on a day. Absent for what it does not tell. */
export interface BillSums {
  readonly usd?: number;
  readonly input?: number;
  readonly output?: number;
}

/** A bill, by `date model`. */
export interface Bill {
  readonly rows: ReadonlyMap<string, BillSums>;
  /** False for a bill of days alone. */
  readonly hasModels: boolean;
}

/** A day and model on which the two don't agree; null for a side that has nothing. */
export interface BillDifference {
  readonly date: string;
  /** `*` if the bill names no models. */
  readonly model: string;
  readonly ours: (BillSums & { readonly calls: number; readonly unpricedCalls: number }) | null;
  readonly theirs: BillSums | null;
}

/** The exports that are known by their columns. Those of the first two were shown in public issues, the last is a standard for bills of clouds. */
const KNOWN: readonly { readonly needs: readonly string[]; readonly columns: BillColumns; readonly currency?: string }[] = [
  {
    needs: ['start_time_iso', 'amount_value', 'amount_currency', 'line_item'],
    columns: { date: ['start_time_iso'], model: ['line_item'], usd: ['amount_value'] },
    currency: 'amount_currency',
  },
  {
    needs: ['start_time_iso', 'num_model_requests', 'model', 'input_tokens', 'output_tokens'],
    columns: { date: ['start_time_iso'], model: ['model'], input: ['input_tokens'], output: ['output_tokens'] },
  },
  {
    needs: ['usage_date_utc', 'model_version', 'usage_input_tokens_no_cache', 'usage_output_tokens'],
    columns: {
      date: ['usage_date_utc'],
      model: ['model_version'],
      input: ['usage_input_tokens_no_cache', 'usage_input_tokens_cache_read', 'usage_input_tokens_cache_write_5m', 'usage_input_tokens_cache_write_1h'],
      output: ['usage_output_tokens'],
    },
  },
  { needs: ['ChargePeriodStart', 'BilledCost'], columns: { date: ['ChargePeriodStart'], usd: ['BilledCost'] }, currency: 'BillingCurrency' },
];

/** Reads a bill. `named` are columns that a person names, which win. Throws an Error that says what is missing, or which line is wrong. */
export function readBill(text: string, named: BillColumns): Bill {
  const [head = [], ...lines] = parseCsv(text);
  const known = KNOWN.find(({ needs }) => needs.every((name) => head.includes(name)));
  const columns: BillColumns = { ...known?.columns, ...named };
  const unknown = Object.values(named)
    .flat()
    .find((name) => !head.includes(name));
  if (unknown !== undefined) throw new Error(`it has no column ${unknown}; its columns are ${head.join(', ')}`);
  const missing = (['date', 'model'] as const).filter((part) => columns[part] === undefined);
  if (missing.length > 0 || (columns.usd ?? columns.input ?? columns.output) === undefined)
    throw new Error(
      `say with --columns which column is which: date, model, and usd or input and output (missing: ${missing.join(', ') || 'usd'}); its columns are ${head.join(', ')}`,
    );
  const places = Object.fromEntries(BILL_PARTS.map((part) => [part, (columns[part] ?? []).map((name) => head.indexOf(name)).filter((at) => at >= 0)]));
  const currency = known?.currency === undefined ? -1 : head.indexOf(known.currency);
  return sumsOf(lines, places as Record<BillPart, number[]>, currency);
}

function sumsOf(lines: readonly (readonly string[])[], places: Readonly<Record<BillPart, readonly number[]>>, currency: number): Bill {
  const rows = new Map<string, BillSums>();
  let hasModels = false;
  for (const [index, line] of lines.entries()) {
    const wrong = (what: string): Error => new Error(`line ${index + 2} ${what}`);
    const fields = (part: BillPart): string[] => places[part].map((at) => line[at]?.trim() ?? '');
    const sums = Object.fromEntries(
      (['usd', 'input', 'output'] as const)
        .filter((part) => fields(part).some((field) => field !== ''))
        .map((part) => [part, amountOf(fields(part), part, wrong)]),
    );
    if (Object.keys(sums).length === 0) continue; // a day without any calls
    const unit = line[currency]?.trim() ?? '';
    if (unit !== '' && unit.toLowerCase() !== 'usd') throw wrong(`is in ${unit.slice(0, 8)}; only bills in USD can be compared`);
    const date = dayOf(fields('date')[0] ?? '');
    if (date === undefined) throw wrong('has no date such as 2026-11-27 in its date column');
    // One line for each kind of token: `gpt-4o-2024-08-06, input`.
    const model = foldedName((fields('model')[0] ?? '').split(',', 1)[0]?.trim() ?? '');
    hasModels ||= model !== '';
    const key = `${date} ${model === '' ? '*' : model}`;
    rows.set(key, added(rows.get(key), sums));
  }
  if (rows.size === 0) throw new Error('it has no line with an amount');
  return { rows, hasModels };
}

function amountOf(fields: readonly string[], part: string, wrong: (what: string) => Error): number {
  return fields.reduce((sum, field) => {
    const amount = field === '' ? 0 : Number(field.replace(/^\$/, ''));
    if (!Number.isFinite(amount)) throw wrong(`has no number in its ${part} column`);
    return sum + amount;
  }, 0);
}

/** The UTC day; undefined for no date. A time without a zone is taken for UTC. */
function dayOf(text: string): string | undefined {
  if (!/^\d{4}-\d{2}-\d{2}/.test(text)) return undefined;
  if (!/[T ]\d{2}:\d{2}.*(?:Z|[+-]\d{2}:?\d{2})$/.test(text)) return text.slice(0, 10);
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : new Date(time).toISOString().slice(0, 10);
}

/** one-name. */
function foldedName(model: string): string {
  return model.replace(/-(?:20\d{2}-\d{2}-\d{2}|20\d{6})$/, '');
}

function added(one: BillSums | undefined, other: BillSums): BillSums {
  const sum = { ...one };
  for (const part of ['usd', 'input', 'output'] as const) {
    const more = other[part];
    if (more !== undefined) sum[part] = (sum[part] ?? 0) + more;
  }
  return sum;
}

/** Sums of many amounts differ in their last digits. */
const ROUNDING = 1e-9;

type OurSums = NonNullable<BillDifference['ours']>;

/** The connections in reports by `day-model`. */
export function connectionsIn(reports: readonly CostsReport[]): string[] {
  return [...new Set(reports.flatMap(({ rows }) => rows.map(({ key }) => key.slice(11, key.indexOf('/')))))].sort();
}

/** Compares a bill with reports by `day-model` of one connection. `tolerance` is a share: 0.005 for half a percent. */
export function reconcile(bill: Bill, reports: readonly CostsReport[], connection: string, tolerance: number): { matched: number; differs: BillDifference[] } {
  const days = [...bill.rows.keys()].map((key) => key.slice(0, 10)).sort();
  const ours = ownSums(bill, reports, connection);
  let matched = 0;
  const differs: BillDifference[] = [];
  for (const key of [...new Set([...bill.rows.keys(), ...ours.keys()])].sort()) {
    const date = key.slice(0, 10);
    if (date < (days[0] ?? '') || date > (days.at(-1) ?? '')) continue; // same-days
    const [own, theirs] = [ours.get(key), bill.rows.get(key)];
    if (own === undefined && isZero(theirs)) continue;
    if (theirs === undefined && own !== undefined && own.input === 0 && own.output === 0 && own.usd === 0) continue; // calls that failed
    if (own !== undefined && theirs !== undefined && agree(own, theirs, tolerance)) matched += 1;
    else differs.push({ date, model: key.slice(11), ours: own ?? null, theirs: theirs ?? null });
  }
  return { matched, differs };
}

function ownSums({ hasModels }: Bill, reports: readonly CostsReport[], connection: string): Map<string, OurSums> {
  const sums = new Map<string, OurSums>();
  for (const { key, calls, input, output, costUsd, unpricedCalls } of reports.flatMap(({ rows }) => rows)) {
    const [date, name] = [key.slice(0, 10), key.slice(11)];
    if (!name.startsWith(`${connection}/`)) continue;
    const place = `${date} ${hasModels ? foldedName(name.slice(connection.length + 1)) : '*'}`;
    const before = sums.get(place);
    sums.set(place, {
      usd: (before?.usd ?? 0) + (costUsd ?? 0),
      input: (before?.input ?? 0) + input,
      output: (before?.output ?? 0) + output,
      calls: (before?.calls ?? 0) + calls,
      unpricedCalls: (before?.unpricedCalls ?? 0) + unpricedCalls,
    });
  }
  return sums;
}

function isZero(sums: BillSums | undefined): boolean {
  return Object.values(sums ?? {}).every((value) => value === 0);
}

function agree(ours: OurSums, theirs: BillSums, tolerance: number): boolean {
  return (['usd', 'input', 'output'] as const).every((part) => {
    const [own = 0, other] = [ours[part], theirs[part]];
    return other === undefined || Math.abs(own - other) <= tolerance * Math.max(Math.abs(own), Math.abs(other)) + ROUNDING;
  });
}
