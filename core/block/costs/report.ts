// Makes a costs report from the lines of the ledger, one by one, and keeps only sums. Pure: no I/O.
import type { CostBucket } from '../../schemas/block-costs.ts';
import type { CostsReport } from '../../schemas/workspace-api.ts';
import type { LedgerLine } from '../../store/port.ts';
import { addBucket, bucketOf, emptyBucket } from './costs.ts';

/** What a report needs of a line of a ledger. */
export type CostLine = Pick<LedgerLine, 'at' | 'provider' | 'credential' | 'model' | 'usage' | 'costUsd'> & {
  readonly block?: string;
  readonly key?: string | null;
  readonly error?: string | null;
};

/** The row of calls without a key of their own: those with the token of the workspace. */
const NO_KEY = '(workspace token)';

const KEY_OF: Readonly<Record<CostsReport['by'], (line: CostLine) => string>> = {
  block: ({ block = '' }) => block,
  key: ({ key }) => key ?? NO_KEY,
  connection: ({ provider }) => provider,
  credential: ({ provider, credential }) => (credential === undefined ? provider : `${provider} ${credential}`),
  model: ({ provider, model }) => `${provider}/${model}`,
  day: ({ at }) => at.slice(0, 10),
  'day-model': ({ at, provider, model }) => `${at.slice(0, 10)} ${provider}/${model}`,
};

/** Sums by block, key, connection, key of a connection, model or UTC day, for all blocks or only `block`. Days come newest first, other rows by cost, then by name. */
export async function reportCosts(lines: AsyncIterable<CostLine>, by: CostsReport['by'], block?: string): Promise<CostsReport> {
  const buckets = new Map<string, CostBucket>();
  let total = emptyBucket();
  for await (const line of lines) {
    if (block !== undefined && line.block !== block) continue;
    const one = line.usage === null && line.error != null ? { ...emptyBucket(), calls: 1 } : bucketOf(line.usage, line.costUsd);
    const key = KEY_OF[by](line);
    buckets.set(key, addBucket(buckets.get(key) ?? emptyBucket(), one));
    total = addBucket(total, one);
  }
  const rows = [...buckets].map(([key, bucket]) => ({ key, ...bucket }));
  return { by, rows: rows.sort(by === 'day' || by === 'day-model' ? newestFirst : dearestFirst), total };
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
