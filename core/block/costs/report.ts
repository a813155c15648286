// Makes a costs report from the lines of a ledger, one by one, or from sums that the store has made of them. Both say the same, to the last digit. Pure: no I/O.
//
// in-slices: a report may have hundreds of thousands of rows, of days and keys or models, and others are served while they are made.
import { nextTurn } from '../../base/next-turn.ts';
import { invalidRequest } from '../../errors.ts';
import type { CostBucket } from '../../schemas/block-costs.ts';
import type { CostsReport } from '../../schemas/workspace-api.ts';
import type { CostsFilter, LedgerLine } from '../../store/port.ts';
import { addBucket, bucketOf, emptyBucket } from './costs.ts';
import { MoneySum } from './money-sum.ts';

/** What a report needs of a line of a ledger. */
export type CostLine = Pick<LedgerLine, 'at' | 'provider' | 'credential' | 'model' | 'usage' | 'costUsd'> & {
  readonly purpose?: LedgerLine['purpose'];
  readonly block?: string;
  readonly key?: string | null;
  readonly error?: string | null;
  /** For how many calls the line is; 1 if absent. */
  readonly calls?: number | undefined;
};

/** Rows that are made in one turn of the event loop. */
const SLICE = 2000;
/** The row of calls without a key of their own: those with the token of the workspace. */
const NO_KEY = '(workspace token)';

const KEY_OF: Readonly<Record<CostsReport['by'], (line: CostLine) => string>> = {
  block: ({ block = '' }) => block,
  key: ({ key }) => key ?? NO_KEY,
  connection: ({ provider }) => provider,
  credential: ({ provider, credential }) => (credential === undefined ? provider : `${provider} ${credential}`),
  model: ({ provider, model }) => `${provider}/${model}`,
  purpose: ({ purpose = '' }) => purpose,
  day: ({ at }) => at.slice(0, 10),
  'day-block': (line) => `${KEY_OF.day(line)} ${KEY_OF.block(line)}`,
  'day-key': (line) => `${KEY_OF.day(line)} ${KEY_OF.key(line)}`,
  'day-connection': (line) => `${KEY_OF.day(line)} ${KEY_OF.connection(line)}`,
  'day-model': (line) => `${KEY_OF.day(line)} ${KEY_OF.model(line)}`,
};

const DAY = /^(?!0000)\d{4}-\d{2}-\d{2}$/;

/** True for a date of the calendar, which has no year 0. */
function isDay(text: string): boolean {
  const at = DAY.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text);
}

/** Throws INVALID_REQUEST naming the field. */
export function assertDays({ from, to }: CostsFilter): void {
  for (const [path, day] of Object.entries({ from, to })) if (day !== undefined && !isDay(day)) throw invalidRequest(path, 'must be a date such as 2026-11-01');
  if (from !== undefined && to !== undefined && from > to) throw invalidRequest('from', 'must not be after to');
}

/** Sums of the calls that the filter has. Days come newest first, other rows by cost, then by name. Rejects with INVALID_REQUEST for a filter that is wrong. */
export async function reportCosts(lines: AsyncIterable<CostLine>, by: CostsReport['by'], filter: CostsFilter = {}): Promise<CostsReport> {
  assertDays(filter);
  const { block, from = '', to } = filter;
  const sums = new Map<string, Sum>();
  for await (const line of lines) {
    if (block !== undefined && line.block !== block) continue;
    const day = line.at.slice(0, 10);
    if (day < from || (to !== undefined && day > to)) continue;
    const { calls = 1 } = line;
    const one = line.usage === null && line.error != null ? { ...emptyBucket(), calls } : { ...bucketOf(line.usage, line.costUsd), calls };
    sumIn(sums, KEY_OF[by](line)).add(one);
  }
  return reportOf(sums, by);
}

/** Calls of one kind that a store has added up, with what tells them from others where the report asks for it. */
export interface SummedCalls extends Partial<Pick<CostLine, 'at' | 'block' | 'provider' | 'credential' | 'model' | 'purpose'>> {
  readonly counts: Omit<CostBucket, 'costUsd'>;
  /** Of a dollar; null where no call has a known price. */
  readonly trillionths: bigint | null;
}

/** The same from sums. */
export function reportSums(all: Iterable<SummedCalls>, by: CostsReport['by']): Promise<CostsReport> {
  const sums = new Map<string, Sum>();
  for (const { counts, trillionths, at = '', provider = '', model = '', ...more } of all)
    sumIn(sums, KEY_OF[by]({ ...more, at, provider, model, usage: null, costUsd: null })).addSum(counts, trillionths);
  return reportOf(sums, by);
}

/** What the calls of a row come to. */
class Sum {
  readonly #money = new MoneySum();
  #counts: Omit<CostBucket, 'costUsd'> = emptyBucket();

  add({ costUsd, ...counts }: CostBucket): void {
    this.addSum(counts, null);
    if (costUsd !== null) this.#money.add(costUsd);
  }

  addSum(counts: Omit<CostBucket, 'costUsd'>, trillionths: bigint | null): void {
    this.#counts = addBucket({ ...this.#counts, costUsd: null }, { ...counts, costUsd: null });
    if (trillionths !== null) this.#money.addTrillionths(trillionths);
  }

  addAll({ counts, trillionths }: Sum): void {
    this.addSum(counts, trillionths);
  }

  get counts(): Omit<CostBucket, 'costUsd'> {
    return this.#counts;
  }

  get trillionths(): bigint | null {
    return this.#money.trillionths;
  }

  get bucket(): CostBucket {
    return { ...this.#counts, costUsd: this.#money.usd };
  }
}

function sumIn(sums: Map<string, Sum>, key: string): Sum {
  const known = sums.get(key);
  if (known !== undefined) return known;
  const sum = new Sum();
  sums.set(key, sum);
  return sum;
}

/** in-slices. */
async function reportOf(sums: ReadonlyMap<string, Sum>, by: CostsReport['by']): Promise<CostsReport> {
  const total = new Sum();
  const rows: Row[] = [];
  for (const [key, sum] of sums) {
    total.addAll(sum);
    rows.push({ key, ...sum.bucket });
    if (rows.length % SLICE === 0) await nextTurn();
  }
  return { by, rows: rows.sort(by.startsWith('day') ? newestFirst : dearestFirst), total: total.bucket };
}

type Row = CostsReport['rows'][number];

function newestFirst(a: Row, b: Row): number {
  return compareNames(b, a);
}

/** Rows without a known price come last. */
function dearestFirst(a: Row, b: Row): number {
  return (b.costUsd ?? -1) - (a.costUsd ?? -1) || compareNames(a, b);
}

/** By code unit: the same on every machine. */
function compareNames(a: Row, b: Row): number {
  return a.key < b.key ? -1 : Number(a.key > b.key);
}
