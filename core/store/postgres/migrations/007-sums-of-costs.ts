// Adds up the calls of blocks from before, and finds those that servers of the version before still write. Pure: no I/O.
//
// as-in-code: a line counts as `bucketOf` in block/costs/costs.ts has it, and money as in money-sum.ts there: a conformance test compares both.
// known-rare: without figures on the new column, a database would expect half of all lines to be those of older servers, and read all of them.
// newest-last: nobody writes into a part while its index is made. Those of months that are over come first, so servers wait for that of this month alone.

/** The largest count that code has exactly. */
const MOST = Number.MAX_SAFE_INTEGER;
/** In UTC. */
export const DAY = "(l.at at time zone 'UTC')::date";
const COLUMNS = 'block, day, facts, provider, credential, model, purpose, calls, input, output, cache_read, cache_write, unpriced, cost_usd';
/** An index has no room for names of any length. */
const FACTS = "sha256(convert_to(json_build_array(l.provider, l.credential, l.model, l.purpose)::text, 'UTF8'))";

/** A count of tokens: 0 where it is missing, -1 where it is impossible. */
function count(field: string): string {
  const value = `(l.usage ->> '${field}')::numeric`;
  const isCount = `${value} between 0 and ${MOST} and ${value} = trunc(${value})`;
  return `case when l.usage -> '${field}' is null then 0 when jsonb_typeof(l.usage -> '${field}') <> 'number' then -1 when ${isCount} then ${value}::bigint else -1 end`;
}

/** What each line of `l` counts. as-in-code. An offset keeps the database from computing each value again wherever it is used. */
export const COUNTED = `
  cross join lateral (select ${count('inputTokens')} as input, ${count('outputTokens')} as output, ${count('cacheReadTokens')} as cache_read,
    ${count('cacheWriteTokens')} as cache_write offset 0) n
  cross join lateral (select case when least(n.input, n.output, n.cache_read, n.cache_write) >= 0 and l.cost_usd >= 0 and l.cost_usd < 'Infinity'
    then round(l.cost_usd::text::numeric, 12) end as usd offset 0) c`;
/** Never too large for code. */
export const least = (sum: string): string => `least(${sum}, ${MOST})`;
export const sumOf = (value: string): string => least(`sum(${value})`);
const SUMS = `count(*) as calls, ${['input', 'output', 'cache_read', 'cache_write'].map((name) => `${sumOf(`greatest(n.${name}, 0)`)} as ${name}`).join(', ')},
  count(*) filter (where c.usd is null) as unpriced, coalesce(sum(c.usd), 0) as cost_usd`;

/** Adds the lines of `from`, which has the columns of the ledger, to the sums of their days. The rows are locked in one order. */
export function sumLines(from: string): string {
  const added = ['calls', 'unpriced', 'cost_usd'].map((name) => `${name} = s.${name} + excluded.${name}`);
  const tokens = ['input', 'output', 'cache_read', 'cache_write'].map((name) => `${name} = ${least(`s.${name} + excluded.${name}`)}`);
  return `
insert into bh.cost_day as s (${COLUMNS})
select l.block, ${DAY}, ${FACTS}, l.provider, l.credential, l.model, l.purpose, ${SUMS}
from ${from} l${COUNTED} group by 1, 2, 4, 5, 6, 7 order by 1, 2, 3
on conflict (block, day, facts) do update set ${[...added, ...tokens].join(', ')}`;
}

export const SUMS_OF_COSTS = `
${sumLines('(select * from bh.ledger where summed is null)').trim()};
analyze bh.ledger (summed);
do $$
declare part regclass;
begin
  for part in select inhrelid::regclass from pg_inherits where inhparent = 'bh.ledger'::regclass order by inhrelid::regclass::text loop
    execute format('create index on %s (at, call_id) where summed is false', part);
  end loop;
end $$;
create index ledger_unsummed on bh.ledger (at, call_id) where summed is false;
`;
