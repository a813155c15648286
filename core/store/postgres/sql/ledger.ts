// The statements of the ledger of blocks. Pure: no I/O.
//
// after-the-lock: what is decided from other rows than the locked one is a statement after the one that waited for the lock, since a statement sees the other
//   rows as they were before it waited.
// by-part: a database can't know that a name has few parts, and would read what all blocks have spent. So what a part has spent is looked up for each part: an `offset` keeps
//   it from being joined in another way.

import { sumLines } from '../migrations/007-sums-of-costs.ts';
import * as largest from './largest.ts';

/** The parts of a name's history: its own, and those that were carried to it. $1 the block. */
const PARTS = `
with recursive p (part) as (
  select part from bh.budget where block = $1 union select l.before from bh.lineage l join p on l.part = p.part)`;
const QUARTER = "'15 minutes', ";

/** The lock under which a block reserves. Makes its row. */
export const LOCK = {
  name: 'budget-lock',
  text: 'insert into bh.budget (block) values ($1) on conflict (block) do update set block = excluded.block',
};

/** by-part. What was spent and is reserved, after the parts `p` and `taken`, which has a row if the call has got a reservation. */
const STOOD = `
held as (select coalesce(sum(usd), 0) as usd, coalesce(sum(tokens), 0) as tokens from bh.reservation where block = $1 and call_id <> $4)
select coalesce(sum(s.cost_usd) filter (where s.quarter >= $2::timestamptz), 0) as day_usd,
  coalesce(sum(s.tokens) filter (where s.quarter >= $2::timestamptz), 0) as day_tokens,
  coalesce(sum(s.cost_usd) filter (where s.quarter >= $3::timestamptz), 0) as month_usd,
  coalesce(sum(s.tokens) filter (where s.quarter >= $3::timestamptz), 0) as month_tokens,
  (select usd from held) as held_usd, (select tokens from held) as held_tokens, exists (select from taken) as is_taken
from p cross join lateral (
  select s.quarter, s.cost_usd, s.tokens from bh.spend s where s.part = p.part and s.quarter >= least($2::timestamptz, $3::timestamptz) offset 0) s`;

/** $2 and $3 begin the day and the month; $4 is the call that asks, whose reservation may be here already. */
export const STAND = { name: 'budget-stand', text: `${PARTS}, taken as (select where false),${STOOD}` };

/** The same, and reserves for $4 at the server $5 as much as $6 USD and $7 tokens: who finds no room takes it back before the transaction ends. after-the-lock. */
export const STAND_AND_HOLD = {
  name: 'budget-stand-and-hold',
  text: `${PARTS},
taken as (insert into bh.reservation (call_id, block, node, usd, tokens) values ($4, $1, $5, $6, $7) on conflict (call_id) do nothing returning call_id),${STOOD}`,
};
export const RELEASE = { name: 'budget-release', plan: 'once' as const, text: 'delete from bh.reservation where call_id = any($1::text[])' };

/**
 * A line, its sums, and the end of its reservation, as parts of a statement `with recursive`. The values begin with $`from`: at, call, block, provider, model, purpose, message,
 * usage, cost, failed, tokens, cost to count, credential, step, and the instants since when it is to be said what the block has spent. `first` is done before the budget is locked.
 * The last part, `spends`, has one row for each instant, with this line: its quarter of an hour is that of the locked row, see after-the-lock. For a line that is known already,
 * `is_new` is false, and the sums may be older than it.
 */
export function lineParts(from: number, first = ''): string {
  const [at, call, block, provider, model, purpose, message, usage, cost, failed, tokens, counted, credential, step, since] = Array.from(
    { length: 15 },
    (_, index) => `$${from + index}`,
  );
  return `
p as (insert into bh.budget (block) select ${block}::text ${first} on conflict (block) do update set block = excluded.block returning part),
l as (
  insert into bh.ledger (at, call_id, block, part, provider, model, purpose, message_id, usage, cost_usd, failed, credential, step, summed)
  select ${at}::timestamptz, ${call}, ${block}, p.part, ${provider}, ${model}, ${purpose}, ${message}, ${usage}::jsonb, ${cost}::float8, ${failed}::boolean, ${credential},
    ${step}::int, true from p
  on conflict do nothing returning at, part, block, provider, credential, model, purpose, usage, cost_usd),
c as (${sumLines('l')}),
d as (delete from bh.reservation where call_id = ${call}),
n as (
  insert into bh.spend as s (part, quarter, calls, tokens, cost_usd, newest)
  select part, date_bin(${QUARTER}at, timestamptz 'epoch'), 1, ${tokens}::bigint, ${counted}::numeric, at from l
  on conflict (part, quarter) do update set calls = s.calls + 1, tokens = ${largest.tokens('s.tokens::numeric + excluded.tokens')},
    cost_usd = ${largest.usd('s.cost_usd + excluded.cost_usd')}, newest = greatest(s.newest, excluded.newest)
  returning part, quarter, tokens, cost_usd),
r (part) as (select part from p union select g.before from bh.lineage g join r on g.part = r.part),
i as (select date_bin(${QUARTER}u.since, timestamptz 'epoch') as since, u.place from unnest(${since}::timestamptz[]) with ordinality u (since, place)),
x as (
  select quarter, tokens, cost_usd from n
  union all
  select s.quarter, s.tokens, s.cost_usd
  from r cross join lateral (select * from bh.spend s where s.part = r.part and s.quarter >= (select min(since) from i) offset 0) s
  where not exists (select from n where n.part = s.part and n.quarter = s.quarter)),
spends as (
  select coalesce(sum(x.cost_usd), 0) as usd, coalesce(sum(x.tokens), 0) as tokens, exists (select from n) as is_new, i.place
  from i left join x on x.quarter >= i.since group by i.place)`;
}

/** A line alone. */
export const ADD = { name: 'ledger-add', plan: 'once' as const, text: `with recursive ${lineParts(1)} select usd, tokens, is_new from spends order by place` };

/** After LOCK of both. $1 from, $2 to: both get a new part; that of \`to\` knows what both had. */
export const CARRY = {
  name: 'ledger-carry',
  text: `
with f as (select part from bh.budget where block = $1), t as (select part from bh.budget where block = $2),
nf as (update bh.budget set part = default where block = $1 returning part),
nt as (update bh.budget set part = default where block = $2 returning part)
insert into bh.lineage (part, before, is_rename)
select nf.part, f.part, false from nf, f union all select nt.part, t.part, false from nt, t union all select nt.part, f.part, true from nt, f`,
};

/** Since each of $2, in their order; the quarter of an hour that one falls into counts whole. */
export const SPEND = {
  name: 'ledger-spend',
  plan: 'once' as const,
  text: `${PARTS}
select coalesce(sum(s.cost_usd), 0) as usd, coalesce(sum(s.tokens), 0) as tokens
from unnest($2::timestamptz[]) with ordinality i (since, place)
left join lateral (
  select s.* from p cross join lateral (
    select * from bh.spend s where s.part = p.part and s.quarter >= date_bin(${QUARTER}i.since, timestamptz 'epoch') offset 0) s) s on true
group by i.place order by i.place`,
};
export const NEWEST = {
  name: 'ledger-newest',
  text: `${PARTS} select max(s.newest) as at from p cross join lateral (select * from bh.spend s where s.part = p.part offset 0) s`,
};

const COLUMNS = 'l.at, l.call_id, l.block, l.provider, l.model, l.purpose, l.message_id, l.usage, l.cost_usd, l.failed, l.credential, l.step';
/** After $1 and $2, the oldest first. */
export const LINES = {
  name: 'ledger-lines',
  text: `select ${COLUMNS} from bh.ledger l where (l.at, l.call_id) > ($1::timestamptz, $2::text) order by l.at, l.call_id limit $3`,
};
/** Of the block itself, whatever its name was: after $2 and before $3 and $4, the newest first. */
export const LINES_BACK = {
  name: 'ledger-lines-back',
  text: `
with recursive p (part) as (
  select part from bh.budget where block = $1 union select l.before from bh.lineage l join p on l.part = p.part and l.is_rename)
select l.* from p cross join lateral (
  select ${COLUMNS} from bh.ledger l where l.part = p.part and l.at > $2::timestamptz and (l.at, l.call_id) < ($3::timestamptz, $4::text)
  order by l.at desc, l.call_id desc limit $5) l
order by l.at desc, l.call_id desc limit $5`,
};

/** The ledger in the order of its calls and renames. $1 parts that began with a rename, $2 since when, $3 the number of that rename. */
export const LINES_IN_ORDER = {
  name: 'ledger-lines-in-order',
  text: `
select ${COLUMNS}, greatest(l.at, u.since) as place, coalesce(u.number, 0) as number
from bh.ledger l left join unnest($1::bigint[], $2::timestamptz[], $3::int[]) as u (part, since, number) on u.part = l.part
order by greatest(l.at, u.since), coalesce(u.number, 0), l.call_id`,
};
