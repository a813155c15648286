// The statements of clients' calls and of what servers may spend for a key. Pure: no I/O.
//
// lock-order: the row of a key's day is locked before rows of its grants, and several days in their order, so that nobody waits in a circle.
import { tokens, usd } from './largest.ts';

const DAY = "(at at time zone 'UTC')::date";
const COLUMNS =
  'at, node, n, request_id, key, grp, provider, model, usage, tokens, cost_usd, least_usd, first_text_ms, duration_ms, error, calls, failed, unpriced, credential';
const COST = 'coalesce(cost_usd, least_usd, 0)::numeric';

/** $1 the book, $2 and following the columns of the lines. A line with an id has this in place of the book. */
export const ADD_CALLS = {
  name: 'gateway-add',
  text: `
  insert into bh.gateway_call (${COLUMNS})
  select at, coalesce(id, $1), n, request_id, key, grp, provider, model, usage, tokens, cost_usd, least_usd, first_text_ms, duration_ms, error, calls, failed, unpriced, credential
  from unnest($2::timestamptz[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::jsonb[], $10::bigint[], $11::float8[],
    $12::float8[], $13::int[], $14::int[], $15::text[], $16::int[], $17::int[], $18::int[], $19::text[], $20::text[])
    as u (at, n, request_id, key, grp, provider, model, usage, tokens, cost_usd, least_usd, first_text_ms, duration_ms, error, calls, failed, unpriced, credential, id)
  on conflict do nothing`,
};

/** $1 the book, $2 and following the columns of the lines, $21 the server. The sums are only those of lines that are new, so it may be repeated as it is. */
export const FLUSH = {
  name: 'gateway-flush',
  plan: 'once' as const,
  text: `
with l as (
  ${ADD_CALLS.text} returning *),
x as (
  select a.account as key, ${DAY} as day, ${usd(`sum(${COST})`)} as usd, ${tokens('sum(tokens)')} as tokens, sum(calls) as calls, sum(unpriced) as unpriced
  from l cross join lateral (values (l.key), ('group:' || l.grp)) as a (account)
  where l.key is not null and a.account is not null and usage is not null group by 1, 2),
k as (
  insert into bh.key_day as d (key, day, usd, tokens, calls, unpriced) select key, day, usd, tokens, calls, unpriced from x order by 1, 2
  on conflict (key, day) do update set usd = ${usd('d.usd + excluded.usd')}, tokens = ${tokens('d.tokens::numeric + excluded.tokens')}, calls = d.calls + excluded.calls,
    unpriced = d.unpriced + excluded.unpriced
  returning key, day),
g as (
  update bh.key_grant g set usd = g.usd - ${usd('x.usd', 'g.usd + 999999999')}, tokens = g.tokens - ${tokens('x.tokens', 'g.tokens::numeric + 9000000000000000000')}
  from k join x using (key, day) where (g.key, g.day, g.node) = (x.key, x.day, $21))
insert into bh.gateway_day as s (day, key, provider, model, calls, failed, tokens, cost_usd, unpriced)
select ${DAY}, coalesce(key, ''), provider, model, sum(calls), sum(failed), ${tokens('sum(tokens)')}, ${usd(`sum(${COST})`)}, sum(unpriced) from l group by 1, 2, 3, 4 order by 1, 2, 3, 4
on conflict (day, key, provider, model) do update set calls = s.calls + excluded.calls, failed = s.failed + excluded.failed,
  tokens = ${tokens('s.tokens::numeric + excluded.tokens')}, cost_usd = ${usd('s.cost_usd + excluded.cost_usd')}, unpriced = s.unpriced + excluded.unpriced`,
};

/** The lock under which servers share what is left. $1 keys, $2 day. */
export const LOCK_DAYS = {
  name: 'key-days-lock',
  text: `
insert into bh.key_day as d (key, day) select key, $2::date from unnest($1::text[]) as u (key) order by key
on conflict (key, day) do update set usd = d.usd`,
};

/**
 * After LOCK_DAYS. $1 keys, $3 the server, $4 and $5 what may be spent of each on that day, $6 and $7 what its calls under way and the one that asks may cost. A server gets its share of half of what is left, so that all of
 * them may ask again, or twice what it needs if that is more. What servers hold of the day before is for calls that are still under way, and count on the day of their end.
 */
export const GRANT = {
  name: 'key-grants',
  text: `
with q as (
  select key, u.usd, u.tokens, need_usd, need_tokens, d.usd as spent_usd, d.tokens as spent_tokens
  from unnest($1::text[], $4::numeric[], $5::numeric[], $6::numeric[], $7::bigint[]) as u (key, usd, tokens, need_usd, need_tokens)
  join bh.key_day d using (key) where d.day = $2::date),
p as (delete from bh.key_grant where key = any($1::text[]) and node = $3 and day <> $2::date),
o as (
  select key, sum(greatest(usd, 0)) as usd, sum(greatest(tokens, 0)) as tokens
  from bh.key_grant where key = any($1::text[]) and day between $2::date - 1 and $2::date and node <> $3 group by key),
n as (select greatest(count(*), 1) as n from bh.node where not draining),
l as (
  select q.*, greatest(q.usd - spent_usd - coalesce(o.usd, 0), 0) as left_usd, greatest(q.tokens - spent_tokens - coalesce(o.tokens, 0), 0) as left_tokens
  from q left join o using (key))
insert into bh.key_grant as g (key, day, node, usd, tokens)
select key, $2::date, $3, case when usd is not null then least(left_usd, greatest(left_usd / (2 * n), 2 * need_usd)) end,
  case when tokens is not null then least(left_tokens, greatest(ceil(left_tokens / (2 * n)), 2 * need_tokens)) end
from l, n
on conflict (key, day, node) do update set usd = excluded.usd, tokens = excluded.tokens
returning key, usd, tokens, coalesce((select o.usd from o where o.key = g.key), 0) as usd_elsewhere, coalesce((select o.tokens from o where o.key = g.key), 0) as tokens_elsewhere`,
};

/** $1 the server, $2 the keys. */
export const GIVE_BACK = { name: 'key-give-back', plan: 'once' as const, text: 'delete from bh.key_grant where node = $1 and key = any($2::text[])' };

/** $1 the server, $2 the keys, $3 the days, $4 and $5 what is left of their grants at most; null for no cap. */
export const GIVE_BACK_REST = {
  name: 'key-give-back-rest',
  text: `
update bh.key_grant g set usd = least(g.usd, u.usd), tokens = least(g.tokens, u.tokens)
from unnest($2::text[], $3::date[], $4::numeric[], $5::bigint[]) as u (key, day, usd, tokens) where (g.key, g.day, g.node) = (u.key, u.day, $1)`,
};

/** What keys and groups have spent. $1 their accounts, $2 the day, $3 and $4 the first days of the week and the month. */
export const SPENT = {
  name: 'keys-spent',
  text: `
select d.key, p.period, sum(d.usd) as usd, sum(d.tokens) as tokens, sum(d.calls) as calls, sum(d.unpriced) as unpriced
from bh.key_day d cross join (values ('day', $2::date), ('week', $3::date), ('month', $4::date)) as p (period, since)
where d.key = any($1::text[]) and d.day between p.since and $2::date group by 1, 2`,
};

/** $1 the accounts of keys and groups. A lock of a day alone is no use of it. */
export const LAST_DAYS = {
  name: 'key-last-days',
  text: 'select key, max(day)::text as day from bh.key_day where key = any($1::text[]) and calls > 0 group by key',
};

/** After $1, $2, $3. */
export const CALLS = {
  name: 'gateway-calls',
  text: `select ${COLUMNS} from bh.gateway_call where (at, node, n) > ($1::timestamptz, $2::text, $3::bigint) order by at, node, n limit $4`,
};

/** Of the calls of these ids ($1), those that have a line between two times. */
export const KNOWN_CALLS = {
  name: 'gateway-known',
  plan: 'once' as const,
  text: 'select node from bh.gateway_call where at between $2::timestamptz and $3::timestamptz and node = any($1::text[])',
};
