// Makes a costs report from the lines of the ledger, one by one, and keeps only sums. Pure: no I/O.
import { invalidRequest } from '../../errors.ts';
import type { CostBucket } from '../../schemas/block-costs.ts';
import type { CostsReport } from '../../schemas/workspace-api.ts';
import type { CostsFilter, LedgerLine } from '../../store/port.ts';
import { addBucket, bucketOf, emptyBucket } from './costs.ts';

/** What a report needs of a line of a ledger. */
export type CostLine = Pick<LedgerLine, 'at' | 'provider' | 'credential' | 'model' | 'usage' | 'costUsd'> & {
  readonly purpose?: LedgerLine['purpose'];
  readonly block?: string;
  readonly key?: string | null;
  readonly error?: string | null;
  /** For how many calls the line is; 1 if absent. */
  readonly calls?: number | undefined;
};

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

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** True for a date of the calendar. */
function isDay(text: string): boolean {
  const at = DAY.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text);
}

/** Throws INVALID_REQUEST naming the field. */
function assertDays({ from, to }: CostsFilter): void {
  for (const [path, day] of Object.entries({ from, to })) if (day !== undefined && !isDay(day)) throw invalidRequest(path, 'must be a date such as 2026-11-01');
  if (from !== undefined && to !== undefined && from > to) throw invalidRequest('from', 'must not be after to');
}

/** Sums of the calls that the filter has. Days come newest first, other rows by cost, then by name. Rejects with INVALID_REQUEST for a filter that is wrong. */
export async function reportCosts(lines: AsyncIterable<CostLine>, by: CostsReport['by'], filter: CostsFilter = {}): Promise<CostsReport> {
  assertDays(filter);
  const { block, from = '', to } = filter;
  const buckets = new Map<string, CostBucket>();
  let total = emptyBucket();
  for await (const line of lines) {
    if (block !== undefined && line.block !== block) continue;
    const day = line.at.slice(0, 10);
    if (day < from || (to !== undefined && day > to)) continue;
    const { calls = 1 } = line;
    const one = line.usage === null && line.error != null ? { ...emptyBucket(), calls } : { ...bucketOf(line.usage, line.costUsd), calls };
    const key = KEY_OF[by](line);
    buckets.set(key, addBucket(buckets.get(key) ?? emptyBucket(), one));
    total = addBucket(total, one);
  }
  const rows = [...buckets].map(([key, bucket]) => ({ key, ...bucket }));
  return { by, rows: rows.sort(by.startsWith('day') ? newestFirst : dearestFirst), total };
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
