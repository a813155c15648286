// The statements of reports: the sums of each day, and the lines that are not in them. Pure: no I/O.
//
// in-both-or-none: a line with `summed` is in the sums, and one with `false` is not, in whichever moment is seen.
import type { CallPurpose } from '../../../schemas/block-costs.ts';
import type { CostsReport } from '../../../types.ts';
import { COUNTED, DAY, sumLines, sumOf } from '../migrations/007-sums-of-costs.ts';
import type { Statement } from '../pool.ts';

/** For a transaction: who adds up what others have written does so alone. A line of its own is added by the statement that writes it. */
export const LOCK_COSTS = { name: 'costs-lock', text: "select pg_advisory_xact_lock(hashtext('bh.cost_day'))" };
/** After LOCK_COSTS: up to $1 lines of older servers. Returns how many there were. in-both-or-none. */
export const FOLD = {
  name: 'costs-fold',
  text: `
with u as (select at, call_id from bh.ledger where summed is false order by at, call_id limit $1 for update),
l as (
  update bh.ledger o set summed = true from u where o.at = u.at and o.call_id = u.call_id and o.summed is false
  returning o.at, o.block, o.provider, o.credential, o.model, o.purpose, o.usage, o.cost_usd),
s as (${sumLines('l')})
select count(*)::int as lines from l`,
};
/** After LOCK_COSTS: a copy by a program that knows no sums has left those of another ledger. */
export const DROP_STRANGE = {
  name: 'costs-drop-strange',
  text: 'delete from bh.cost_day where not exists (select from bh.ledger where summed is distinct from false)',
};
/** Millions of blocks that are called each day have as many sums a day. */
const WITHIN_MS = 60_000;
/** What a report is grouped by. */
const GROUPS: Readonly<Record<CostsReport['by'], readonly string[]>> = {
  block: ['block'],
  key: [],
  connection: ['provider'],
  credential: ['provider', 'credential'],
  model: ['provider', 'model'],
  purpose: ['purpose'],
  day: ['day'],
  'day-block': ['day', 'block'],
  'day-key': ['day'],
  'day-connection': ['day', 'provider'],
  'day-model': ['day', 'provider', 'model'],
};

/** What a row of REPORT has. */
export interface SumsRow {
  readonly day?: string;
  readonly block?: string;
  readonly provider?: string;
  readonly credential?: string | null;
  readonly model?: string;
  readonly purpose?: CallPurpose;
  readonly calls: number;
  readonly input: number;
  readonly output: number;
  readonly cache_read: number;
  readonly cache_write: number;
  readonly unpriced: number;
  /** Whole ones, as a text. */
  readonly trillionths: string;
}

/**
 * The values are the block, and the first and the last day, as far as they are given: what a plan must hold for with and without them is a bad one. Of a row there may be two: what is in the sums, and what is not yet. They are added up apart, since a database
 * knows nothing of the rows of both together, and would sort all of them. It sees both in one moment: in-both-or-none.
 */
export function report(by: CostsReport['by'], given: readonly [block: boolean, from: boolean, to: boolean]): Statement {
  const groups = GROUPS[by];
  const tokens = ['input', 'output', 'cache_read', 'cache_write'].map((name) => `${sumOf(name)} as ${name}`);
  const sums = ['sum(calls) as calls', ...tokens, 'sum(unpriced) as unpriced', 'round(sum(cost_usd) * 1000000000000)::text as trillionths'];
  const shown = groups.map((name) => (name === 'day' ? "to_char(day, 'YYYY-MM-DD') as day" : name));
  const grouped = groups.length > 0 ? `group by ${groups.join(', ')}` : 'having count(*) > 0';
  const [block, from, to] = given.map((isGiven, place) => isGiven && `$${given.slice(0, place + 1).filter(Boolean).length}`);
  const filtered = (day: string): string =>
    `${block ? ` and block = ${block}` : ''}${from ? ` and ${day} >= ${from}::date` : ''}${to ? ` and ${day} <= ${to}::date` : ''}`;
  return {
    name: `costs-report-${by}-${given.map(Number).join('')}`,
    withinMs: WITHIN_MS,
    text: `
select ${[...shown, ...sums].join(', ')} from bh.cost_day where true${filtered('day')} ${grouped}
union all
select ${[...shown, ...sums].join(', ')} from (
  select l.block, ${DAY} as day, l.provider, l.credential, l.model, l.purpose, 1 as calls, greatest(n.input, 0) as input, greatest(n.output, 0) as output,
    greatest(n.cache_read, 0) as cache_read, greatest(n.cache_write, 0) as cache_write, (c.usd is null)::int as unpriced, coalesce(c.usd, 0) as cost_usd
  from bh.ledger l${COUNTED} where l.summed is false${filtered(DAY)}) a ${grouped}`,
  };
}
