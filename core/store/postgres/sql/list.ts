// The statements of the list of blocks. Pure: no I/O.
import type { ListSort } from '../../store.ts';
import { GRAMS } from '../migrations/005-list-texts.ts';
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
  blocks: (at: string) => `e.block_id = any(${at}::bigint[])`,
  text: (at: string) => `(e.name ilike ${at} or e.description ilike ${at})`,
} as const;
/** What a page may be filtered by. */
export type ListFilter = keyof typeof FILTERS;

/** As many entries are read in some 10 ms. A text of one block in fifty is found among them. */
export const LOOKS_AT = 5000;

/**
 * A page: $1 how many, then the values of the filters in their order, then the two of the cursor. With `looksAt`, a text is looked for only in so many entries, in their order.
 */
export function pageStatement(sort: ListSort, filters: readonly ListFilter[], hasCursor: boolean, looksAt?: number): Statement {
  const { key, type, last, direction } = ORDER[sort];
  const isBounded = looksAt !== undefined && filters.includes('text');
  const conditionOf = (filter: ListFilter): string => FILTERS[filter](`$${filters.indexOf(filter) + 2}`);
  const conditions = filters.filter((filter) => !isBounded || filter !== 'text').map(conditionOf);
  const [first, second] = [filters.length + 2, filters.length + 3];
  const lastType = last === 'e.name' ? 'text' : 'bigint';
  if (hasCursor) conditions.push(`(${key}, ${last}) ${direction === 'asc' ? '>' : '<'} ($${first}::${type}, $${second}::${lastType})`);
  const order = `order by ${key} ${direction}, ${last} ${direction}`;
  const all = `from bh.block_entry e where ${['e.gone_at is null', ...conditions].join(' and ')}`;
  const found = isBounded ? `from (select e.* ${all} ${order} limit ${looksAt}) e where ${conditionOf('text')}` : all;
  return {
    name: ['list-page', sort, ...filters, ...(hasCursor ? ['on'] : []), ...(isBounded ? [looksAt === LOOKS_AT ? 'near' : `near${looksAt}`] : [])].join('-'),
    text: `with p as (
  select e.block_id, e.changed_at, (${key})::text as key ${found}
  ${order} limit $1),
w as (select p.*, row_number() over () as place from p)
${FACTS}`,
  };
}

/** Whether the list has more than $1 entries. */
export const IS_LONG: Statement = { name: 'list-is-long', text: 'select exists (select from bh.block_entry where gone_at is null offset $1) as more' };

const THREES = (text: string): string => `array(select substr(${text}, i, 3) from generate_series(1, length(${text}) - 2) i)`;
const TEXT_GRAMS = GRAMS('t.name || chr(1) || t.description');
/** The blocks that have all threes of letters of $1, $2 at most. Names are compared by the letters of ASCII alone. */
export const WITH_THREES: Statement = {
  name: 'list-with-threes',
  text: `
select t.block_id as block from bh.entry_text t
where ${TEXT_GRAMS} @> ${THREES('lower($1::text)')} or ${TEXT_GRAMS} @> ${THREES('lower($1::text collate "C")')} limit $2`,
};

/** Servers that write no texts. $1 the oldest protocol that does. */
export const HAS_OLDER: Statement = { name: 'list-has-older', text: 'select exists (select from bh.node where protocol < $1) as found' };
/** Writes the texts of entries that have others, or none: of $2 after the block $1. The last one of those comes back. */
export const MEND_TEXTS: Statement = {
  name: 'list-mend-texts',
  text: `
with e as (select block_id, name, description from bh.block_entry where block_id > $1 order by block_id limit $2),
s as (
  insert into bh.entry_text as s (block_id, name, description)
  select e.block_id, e.name, e.description from e left join bh.entry_text t using (block_id)
  where t.block_id is null or (t.name, t.description) <> (e.name, e.description)
  on conflict (block_id) do update set name = excluded.name, description = excluded.description)
select max(block_id) as last from e`,
};
