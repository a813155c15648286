// The statements of a copy into and out of a database. Pure: no I/O.
import { sumLines } from '../migrations/007-sums-of-costs.ts';
import * as largest from './largest.ts';

/** Of one copy at a time into a schema. */
export const LOCK_TARGET = { name: 'copy-lock', text: "select pg_try_advisory_xact_lock(hashtext('bh.copy')) as ours" };
export const PATIENT = { name: '', text: "set local idle_in_transaction_session_timeout = '600s'" };

/** Servers that are there. */
export const LIVING = {
  name: 'copy-living',
  text: 'select id, url from bh.node where expires_at > clock_timestamp() order by started_at, id',
};
export const SCHEMA_ID = { name: 'copy-schema', text: "select 'bh.setting'::regclass::oid::text as id" };
export const IS_EMPTY = {
  name: 'copy-is-empty',
  text: `
select not exists (select from bh.block) and not exists (select from bh.ledger) and not exists (select from bh.gateway_call)
  and not exists (select from bh.key_day) and not exists (select from bh.setting where key in ('halt', 'keys', 'models', 'token', 'mcp', 'mcp-pins') and value is not null) as empty`,
};

export const NOTE = { name: 'copy-note', text: "select value from bh.setting where key = 'copy'" };
export const SET_NOTE = {
  name: 'copy-set-note',
  text: "insert into bh.setting as s (key, value) values ('copy', $1) on conflict (key) do update set value = excluded.value, rev = s.rev + 1",
};
/** For a server that has joined: from now on the copy is in use. The note of one that is not whole stays, and comes back. */
export const USE_COPY = {
  name: 'copy-use',
  text: `
with d as (delete from bh.setting where key = 'copy' and (value::json ->> 'isWhole') = 'true')
select value from bh.setting where key = 'copy' and coalesce(value::json ->> 'isWhole', '') <> 'true'`,
};

/** $1 the names. */
export const SETTINGS = { name: 'copy-settings', text: 'select key, value from bh.setting where key = any($1::text[]) and value is not null' };
/** $1 the names, $2 their texts; null removes one. */
export const SET_SETTINGS = {
  name: 'copy-set-settings',
  text: `
insert into bh.setting as s (key, value) select * from unnest($1::text[], $2::text[]) as u (key, value)
on conflict (key) do update set value = excluded.value, rev = s.rev + 1 where s.value is distinct from excluded.value`,
};

export const PLACES = {
  name: 'copy-places',
  text: "select case when archive_name is null then 'blocks/' || name else 'archive/' || archive_name end as place from bh.block",
};
/** $1 the name of a block, or null, $2 its name in the archive, or null. */
export const BLOCK = {
  name: 'copy-block',
  text: `
select id as block, name, archived_at, archive, (select json_object_agg(d.kind, d.value) from bh.document d where d.block_id = b.id) as documents
from bh.block b where (archive_name is null and name = $1) or archive_name = $2`,
};
/** $1 the block, $2 the file, $3 after this place. */
export const LOG_AFTER = {
  name: 'copy-log',
  text: 'select place, bytes from bh.log_line where block_id = $1 and file = $2 and place > $3 order by place limit 100',
};
/** $1 and $2 as in BLOCK. */
export const REMOVE = {
  name: 'copy-remove',
  text: 'delete from bh.block where (archive_name is null and name = $1) or archive_name = $2 returning id as block',
};

/**
 * $1 name, $2 whether it runs, $3 kinds of documents, $4 their texts, $5 description, $6 provider, $7 model, $8 tags, $9 state, $10 status, $11 cost, $12 the name in the
 * archive, $13 when it came there, $14 the facts. One that runs is due, so that a server puts it in order.
 */
export const CREATE = {
  name: 'copy-create',
  text: `
with b as (
  insert into bh.block (name, wanted, state, due_at, archive_name, archived_at, archive)
  values ($1, $2::boolean and $12::text is null, $9, case when $2::boolean and $12::text is null then clock_timestamp() end, $12, $13::timestamptz, $14::json)
  returning id),
d as (insert into bh.document (block_id, kind, value) select b.id, u.kind, u.value::json from b, unnest($3::text[], $4::text[]) as u (kind, value)),
e as (
  insert into bh.block_entry (block_id, name, description, provider, model, state, status, cost_usd, gone_at)
  select b.id, $1, $5, $6, $7, $9, $10, $11::float8, $13::timestamptz from b),
s as (insert into bh.entry_text (block_id, name, description) select b.id, $1, $5 from b),
t as (insert into bh.block_tag (tag, name, block_id) select distinct u.tag, $1, b.id from b, unnest($8::text[]) as u (tag))
select id as block from b`,
};

export const FETCH_LEDGER = { name: '', text: 'fetch 1000 from copy_ledger' };
export const CLOSE_LEDGER = { name: '', text: 'close copy_ledger' };
export const LINEAGE = { name: 'copy-lineage', text: 'select part, before, is_rename from bh.lineage order by part, before' };
export const BUDGETS = { name: 'copy-budgets', text: 'select block, part from bh.budget' };
/** $1 parts. */
export const NEWEST = { name: 'copy-newest', text: 'select part, max(at) as at from bh.ledger where part = any($1::bigint[]) group by part' };

export const CLEAR_LEDGER = { name: '', text: 'truncate bh.ledger, bh.cost_day, bh.spend, bh.lineage, bh.budget, bh.reservation' };
/** Columns of lines, and $13 their parts. */
export const ADD_LINES = {
  name: 'copy-add-lines',
  text: `
insert into bh.ledger (at, call_id, block, provider, model, purpose, message_id, usage, cost_usd, failed, credential, step, part, summed)
select u.*, true from unnest($1::timestamptz[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::jsonb[], $9::float8[], $10::boolean[], $11::text[], $12::int[], $13::bigint[]) u
on conflict do nothing`,
};
/** $1 names of blocks, $2 their parts. */
export const ADD_BUDGETS = { name: 'copy-add-budgets', text: 'insert into bh.budget (block, part) select * from unnest($1::text[], $2::bigint[])' };
/** $1 part, $2 before, $3 whether it is a rename. */
export const ADD_LINEAGE = {
  name: 'copy-add-lineage',
  text: 'insert into bh.lineage (part, before, is_rename) select * from unnest($1::bigint[], $2::bigint[], $3::boolean[])',
};
/** $1 the last part. */
export const LAST_PART = { name: 'copy-last-part', text: "select setval(pg_get_serial_sequence('bh.budget', 'part'), greatest($1::bigint, 1))" };
/** As each line does alone; $1 the most that a call counts. */
export const SUM_LEDGER = {
  name: 'copy-sum-ledger',
  text: `
insert into bh.spend (part, quarter, calls, tokens, cost_usd, newest)
select part, date_bin('15 minutes', at, timestamptz 'epoch'), count(*), ${largest.tokens("sum(ceil(coalesce((usage ->> 'totalTokens')::numeric, 0)))")},
  ${largest.usd('sum(least(coalesce(cost_usd, 0), $1::float8)::numeric(18, 9))')}, max(at)
from bh.ledger group by 1, 2`,
};

export const SUM_COSTS = { name: 'copy-sum-costs', text: sumLines('bh.ledger') };

export const CLEAR_CALLS = { name: '', text: 'truncate bh.gateway_call, bh.key_day, bh.key_grant, bh.gateway_day' };
/** Columns of sums. */
export const ADD_SPENT = {
  name: 'copy-add-spent',
  text: `
insert into bh.key_day (day, key, usd, tokens, calls, unpriced)
select day, key, least(usd, 999999999), least(tokens, 9000000000000000000), calls, unpriced
from unnest($1::date[], $2::text[], $3::numeric[], $4::numeric[], $5::bigint[], $6::bigint[]) as u (day, key, usd, tokens, calls, unpriced)`,
};
export const SUM_CALLS = {
  name: 'copy-sum-calls',
  text: `
insert into bh.gateway_day (day, key, provider, model, calls, failed, tokens, cost_usd, unpriced)
select (at at time zone 'UTC')::date, coalesce(key, ''), provider, model, sum(calls), sum(failed), least(sum(tokens), 9000000000000000000),
  least(sum(coalesce(cost_usd, least_usd, 0)::numeric), 999999999), sum(unpriced)
from bh.gateway_call group by 1, 2, 3, 4`,
};
/** Of the last two months in which there is anything. */
export const SPENT = {
  name: 'copy-spent',
  text: `
select day::text, key, usd, tokens, calls, unpriced from bh.key_day
where day in (select distinct day from bh.key_day order by day desc limit 64) and calls > 0 order by day, key`,
};
