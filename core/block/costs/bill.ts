// A provider's bill as a file, and the comparison with the own ledgers by UTC day and model.
//
// one-name: a dated snapshot (`gpt-4o-2024-08-06`, `claude-sonnet-4-5-20250929`) and its model are one, on both sides, because bills name either.
// same-days: only the days of the bill are compared, from its first to its last.
// others-served: a large bill is read in slices, and others are served between them.
import { nextTurn } from '../../base/next-turn.ts';
import { invalidRequest } from '../../errors.ts';
import type { BillComparison, CostsReport } from '../../schemas/workspace-api.ts';
import { csvRows, textOf } from './csv.ts';
import type { BillQuery } from '../../store/port.ts';

type BillPart = 'date' | 'model' | 'usd' | 'input' | 'output';
/** The names of columns; of several, the sum counts. */
type BillColumns = Readonly<Partial<Record<BillPart, readonly string[]>>>;
type BillDifference = BillComparison['differs'][number];
/** What one side says of a model on a day. Absent for what it does not tell. */
type BillSums = NonNullable<BillDifference['theirs']>;
type OurSums = NonNullable<BillDifference['ours']>;

/** A bill, by `date model`. */
export interface Bill {
  readonly rows: ReadonlyMap<string, BillSums>;
  /** False for a bill of days alone. */
  readonly hasModels: boolean;
}

/** The days and models of a bill are at most so many: a month of six hundred models. They are kept, and all may be in the answer. */
const MAX_PLACES = 20_000;
/** So many fields with amounts are read in one turn of the event loop, which takes a few milliseconds. */
const FIELDS_A_TURN = 4000;
/** Longer texts are no dates. */
const MAX_DATE = 64;
/** So much of the columns of a file is in a message. */
const SHOWN_COLUMNS = 400;

/**
 * Reads a bill and compares it with the reports by `day-model` of all ledgers, which are made once the bill can be read. Rejects with INVALID_REQUEST, whose
 * details name the choice that is wrong; the path is empty if it is the bill.
 */
export async function compareBill(bytes: Uint8Array, query: BillQuery, reports: () => Promise<readonly CostsReport[]>): Promise<BillComparison> {
  const [columns, tolerance] = [columnsOf(query.columns), shareOf(query.tolerance)];
  const bill = await readBill(bytes, columns).catch((error: Error) => {
    throw invalidRequest('', `The bill can't be compared: ${error.message}.`);
  });
  const ours = await reports();
  const connection = query.connection ?? onlyOf(ours);
  return { connection, ...reconcile(bill, ours, connection, tolerance) };
}

/** `date=Day,usd=Cost,usd=Tax`: a part may have several columns. */
function columnsOf(text: string | undefined): BillColumns {
  const columns: Partial<Record<BillPart, string[]>> = {};
  for (const pair of text?.split(',') ?? []) {
    const [, part, column] = /^(date|model|usd|input|output)=(.+)$/.exec(pair.trim()) ?? [];
    if (part === undefined || column === undefined)
      throw invalidRequest('columns', 'takes date, model, usd, input and output with the names of columns, such as date=Day,model=SKU,usd=Cost');
    columns[part as BillPart] = [...(columns[part as BillPart] ?? []), column];
  }
  return columns;
}

function shareOf(text = '0.5%'): number {
  const [, number] = /^(\d+(?:\.\d+)?)%$/.exec(text) ?? [];
  if (number === undefined || Number(number) > 100) throw invalidRequest('tolerance', 'must be a share in percent, such as 0.5%');
  return Number(number) / 100;
}

/** The one connection that was called. */
function onlyOf(reports: readonly CostsReport[]): string {
  const called = [...new Set(reports.flatMap(({ rows }) => rows.map(({ key }) => key.slice(11, key.indexOf('/')))))].sort();
  const [connection, ...others] = called;
  if (connection !== undefined && others.length === 0) return connection;
  throw invalidRequest('connection', `must say whose bill it is${connection === undefined ? '' : `; there are calls of ${called.join(', ')}`}`);
}

const AMOUNTS = ['usd', 'input', 'output'] as const;
const PARTS = ['date', 'model', ...AMOUNTS] as const;

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

/** Reads a bill. `named` are columns that a person names, which win. Rejects with an Error that says what is missing, or which line is wrong. */
export async function readBill(bytes: Uint8Array, named: BillColumns): Promise<Bill> {
  const lines = csvRows(textOf(bytes));
  const head = (await firstOf(lines)).map((name) => name.trim());
  const known = KNOWN.find(({ needs }) => needs.every((name) => head.includes(name)));
  const columns: BillColumns = { ...known?.columns, ...named };
  const theirs = head.length === 0 ? 'it is empty' : `its columns are ${clipped(head.join(', '))}`;
  const unknown = Object.values(named)
    .flat()
    .find((name) => !head.includes(name));
  if (unknown !== undefined) throw new Error(`it has no column ${unknown}; ${theirs}`);
  const missing = (['date', 'model'] as const).filter((part) => columns[part] === undefined);
  if (missing.length > 0 || (columns.usd ?? columns.input ?? columns.output) === undefined)
    throw new Error(
      `it is not known which of its columns are the date, the model, and the USD or the input and output (missing: ${missing.join(', ') || 'usd'}); say so with columns, such as date=Day,model=SKU,usd=Cost; ${theirs}`,
    );
  const places = Object.fromEntries(PARTS.map((part) => [part, [...new Set((columns[part] ?? []).map((name) => head.indexOf(name)))].filter((at) => at >= 0)]));
  const currency = known?.currency === undefined ? -1 : head.indexOf(known.currency);
  return sumsOf(lines, places as Record<BillPart, number[]>, currency);
}

/** The first row; empty if there is none. */
async function firstOf(lines: Iterator<readonly string[] | undefined>): Promise<readonly string[]> {
  for (;;) {
    const { done, value } = lines.next();
    if (done === true) return [];
    if (value !== undefined) return value;
    await nextTurn(); // others-served
  }
}

function clipped(text: string): string {
  return text.length > SHOWN_COLUMNS ? `${text.slice(0, SHOWN_COLUMNS)}…` : text;
}

async function sumsOf(lines: Iterable<readonly string[] | undefined>, places: Readonly<Record<BillPart, readonly number[]>>, currency: number): Promise<Bill> {
  const rows = new Map<string, BillSums>();
  let hasModels = false;
  const fields = PARTS.reduce((sum, part) => sum + places[part].length, 0);
  let number = 1;
  let read = 0;
  for (const line of lines) {
    if (line === undefined || read > FIELDS_A_TURN) {
      read = 0;
      await nextTurn(); // others-served
    }
    if (line === undefined) continue;
    read += fields;
    number += 1;
    const sum = lineOf(line, places, currency, number);
    if (sum === undefined) continue;
    hasModels ||= sum.model !== '';
    const key = `${sum.date} ${sum.model === '' ? '*' : sum.model}`;
    rows.set(key, added(rows.get(key), sum.sums));
    if (rows.size > MAX_PLACES) throw new Error(`it has more than ${MAX_PLACES} days and models; export fewer days, or without further groups`);
  }
  if (rows.size === 0) throw new Error('it has no line with an amount');
  return { rows, hasModels };
}

/** Undefined for a line without amounts: a day without any calls. */
function lineOf(line: readonly string[], places: Readonly<Record<BillPart, readonly number[]>>, currency: number, number: number) {
  const wrong = (what: string): Error => new Error(`line ${number} ${what}`);
  const fields = (part: BillPart): string[] => places[part].map((at) => line[at]?.trim() ?? '');
  const sums = Object.fromEntries(
    AMOUNTS.filter((part) => fields(part).some((field) => field !== '')).map((part) => [part, amountOf(fields(part), part, wrong)]),
  );
  if (Object.keys(sums).length === 0) return undefined;
  const unit = line[currency]?.trim() ?? '';
  if (unit !== '' && unit.toLowerCase() !== 'usd') throw wrong(`is in ${unit.slice(0, 8)}; only bills in USD can be compared`);
  const date = dayOf(fields('date')[0] ?? '');
  if (date === undefined) throw wrong('has no date such as 2026-11-27 in its date column');
  // One line for each kind of token: `gpt-4o-2024-08-06, input`.
  const model = foldedName((fields('model')[0] ?? '').split(',', 1)[0]?.trim() ?? '');
  return { date, model, sums };
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
  if (text.length > MAX_DATE || !/^\d{4}-\d{2}-\d{2}/.test(text) || Number.isNaN(Date.parse(text.slice(0, 10)))) return undefined;
  if (!/[T ]\d{2}:\d{2}.*(?:Z|[+-]\d{2}:?\d{2})$/.test(text)) return text.slice(0, 10);
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : new Date(time).toISOString().slice(0, 10);
}

/** one-name. */
function foldedName(model: string): string {
  return model.replace(/-(?:20\d{2}-\d{2}-\d{2}|20\d{6})$/, '');
}

function added(one: BillSums | undefined, other: BillSums): BillSums {
  const sum: { -readonly [part in keyof BillSums]: BillSums[part] } = { ...one };
  for (const part of AMOUNTS) {
    const more = other[part];
    if (more !== undefined) sum[part] = (sum[part] ?? 0) + more;
  }
  return sum;
}

/** Sums of many amounts differ in their last digits. */
const ROUNDING = 1e-9;

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
  return AMOUNTS.every((part) => {
    const [own = 0, other] = [ours[part], theirs[part]];
    return other === undefined || Math.abs(own - other) <= tolerance * Math.max(Math.abs(own), Math.abs(other)) + ROUNDING;
  });
}
