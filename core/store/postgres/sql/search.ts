// The search in what was said. Pure: no I/O.
import type { Statement } from '../pool.ts';

/** A database reads about a hundred megabytes of texts a second. */
const WITHIN_MS = 30_000;

/**
 * The newest $3 texts that fit all patterns $1, of the $2 blocks that had a message last and of as many archived ones, and how many fit. $4 is the name of one
 * block, or null for all. A memory with a character that no text of PostgreSQL has is left out, since to look into it is an error.
 */
export const SEARCH: Statement = {
  name: 'search',
  withinMs: WITHIN_MS,
  text: `
with w as materialized (
  (select e.block_id from bh.block_entry e where e.gone_at is null and ($4::text is null or e.name = $4)
    order by coalesce(e.last_message_at, '-infinity') desc, e.block_id desc limit $2)
  union all
  (select b.id from bh.block b where b.archive_name is not null and $4::text is null order by b.archived_at desc limit $2)),
d as materialized (
  select d.block_id, d.value from w join bh.document d using (block_id) where d.kind = 'memory' and d.value::text !~ '\\\\u(0000|[dD][89a-fA-F])'),
said as (
  select m.block_id, case m.role when 'user' then 'message' else 'answer' end as by, m.id, m.at, m.content as text
  from w join bh.message m using (block_id) where m.content ilike all ($1::text[])
  union all
  select d.block_id, 'summary', null, (d.value ->> 'summaryUpdatedAt')::timestamptz, d.value ->> 'summary' from d where d.value ->> 'summary' ilike all ($1::text[])
  union all
  select d.block_id, 'fact', f.value ->> 'id', (f.value ->> 'createdAt')::timestamptz, f.value ->> 'text'
  from d cross join json_array_elements(d.value -> 'facts') f where f.value ->> 'text' ilike all ($1::text[]))
select b.name, b.archive_name, s.by, s.id, s.at, s.text, count(*) over ()::int as total
from said s join bh.block b on b.id = s.block_id order by s.at desc nulls last limit $3`,
};

/** Whether there are more than $1 blocks, active or archived. */
export const MORE_BLOCKS: Statement = {
  name: 'search-more',
  text: `
select exists (select from bh.block_entry where gone_at is null offset $1) or exists (select from bh.block where archive_name is not null offset $1) as more`,
};
