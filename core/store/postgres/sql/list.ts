// The statements of the list of blocks. Pure: no I/O.
import type { ListSort } from '../../store.ts';
import type { Statement } from '../pool.ts';

/** What an entry is made of. The numbers of the blocks come from `w`, with their order in `place`. */
const FACTS = `
select b.id as block, b.name, b.wanted, b.state, b.owner, b.queued, b.processing, b.failed, w.changed_at, w.key,
  (select json_object_agg(d.kind, d.value) from bh.document d where d.block_id = b.id and d.kind <> 'memory') as documents,
  (select m.at from bh.message m where m.block_id = b.id order by m.seq desc limit 1) as last_at,
  case when b.queued > 0 then (select m.at from bh.message m where m.block_id = b.id and m.status = 'queued' order by m.seq limit 1) end as oldest_at,
  case when b.failed > 0 then (
    select min(coalesce(m.finished_at, m.at)) from bh.message m where m.block_id = b.id and m.status = 'failed' and m.role = 'user') end as failed_since,
  case when b.failed > 0 then (
    select json_build_object('id', m.id, 'at', coalesce(m.finished_at, m.at), 'error', m.error) from bh.message m
    where m.block_id = b.id and m.status = 'failed' and m.role = 'user' order by coalesce(m.finished_at, m.at) desc, m.seq desc limit 1) end as failure
from w join bh.block b on b.id = w.block_id and b.archive_name is null
order by w.place`;

/** $1 the blocks. */
export const FACTS_OF: Statement = {
  name: 'list-facts',
  text: `with w as (select u.block_id, u.place, e.changed_at, null::text as key from unnest($1::bigint[]) with ordinality as u (block_id, place) join bh.block_entry e using (block_id))
${FACTS}`,
};

/** All blocks after $1 by their numbers, $2 at most. */
export const FACTS_AFTER: Statement = {
  name: 'list-facts-after',
  text: `with w as (
  select b.id as block_id, b.id as place, null::timestamptz as changed_at, null::text as key from bh.block b
  where b.id > $1 and b.archive_name is null order by b.id limit $2)
${FACTS}`,
};

export const CLOCK: Statement = { name: 'list-clock', text: 'select clock_timestamp() as at' };

/** What has changed since $1; commits come out of order, so five seconds before it are told again. $2 at most, after the block $4 that changed at $3. */
export const CHANGES: Statement = {
  name: 'list-changes',
  text: `
select e.block_id as block, e.name, e.changed_at, e.changed_at::text as place, e.gone_at is not null as gone, clock_timestamp() as at from bh.block_entry e
where e.changed_at > $1::timestamptz - interval '5 s' and (e.changed_at, e.block_id) > ($3::timestamptz, $4::bigint)
order by e.changed_at, e.block_id limit $2`,
};

const ORDER: Readonly<Record<ListSort, { readonly key: string; readonly type: string; readonly last: string; readonly direction: 'asc' | 'desc' }>> = {
  name: { key: 'e.name', type: 'text', last: 'e.block_id', direction: 'asc' },
  state: { key: 'e.state', type: 'text', last: 'e.name', direction: 'asc' },
  lastMessageAt: { key: "coalesce(e.last_message_at, '-infinity')", type: 'timestamptz', last: 'e.block_id', direction: 'desc' },
  costUsd: { key: 'coalesce(e.cost_usd, -1)', type: 'float8', last: 'e.block_id', direction: 'desc' },
};
const FILTERS = {
  prefix: (at: string) => `e.name >= ${at} and e.name < ${at} || chr(1114111)`,
  state: (at: string) => `e.state = any(${at}::text[])`,
  status: (at: string) => `e.status = ${at}`,
  tag: (at: string) => `exists (select from bh.block_tag t where t.block_id = e.block_id and t.tag = ${at})`,
  text: (at: string) => `(e.name ilike ${at} or e.description ilike ${at})`,
} as const;
/** What a page may be filtered by. */
export type ListFilter = keyof typeof FILTERS;

/** A page: $1 how many, then the values of the filters in their order, then the two of the cursor. */
export function pageStatement(sort: ListSort, filters: readonly ListFilter[], hasCursor: boolean): Statement {
  const { key, type, last, direction } = ORDER[sort];
  const conditions = filters.map((filter, index) => FILTERS[filter](`$${index + 2}`));
  const [first, second] = [filters.length + 2, filters.length + 3];
  const lastType = last === 'e.name' ? 'text' : 'bigint';
  if (hasCursor) conditions.push(`(${key}, ${last}) ${direction === 'asc' ? '>' : '<'} ($${first}::${type}, $${second}::${lastType})`);
  return {
    name: ['list-page', sort, ...filters, ...(hasCursor ? ['on'] : [])].join('-'),
    text: `with p as (
  select e.block_id, e.changed_at, (${key})::text as key from bh.block_entry e where ${['e.gone_at is null', ...conditions].join(' and ')}
  order by ${key} ${direction}, ${last} ${direction} limit $1),
w as (select p.*, row_number() over () as place from p)
${FACTS}`,
  };
}
