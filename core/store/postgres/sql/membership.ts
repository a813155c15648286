// The statements of servers and of the blocks that they have. All times are the database's. Pure: no I/O.
/** The time, since when this database runs, and the other servers that live. $1 the server. */
const STATE = `(extract(epoch from clock_timestamp()) * 1000)::float8 as now, pg_postmaster_start_time()::text as boot,
  (select coalesce(json_agg(json_build_object('id', o.id, 'version', o.version, 'url', o.url, 'served', s.value)), '[]')
    from bh.node o left join bh.setting s on s.key = 'served.' || o.id where o.id <> $1 and o.expires_at > clock_timestamp()) as others`;

/** The wish to drain a server outlives its row: $1 the server. */
const DRAINED = "'drained.' || $1::text";

/** Where it can be reached lies beside its row, too: $1 the server. */
const SERVED = "'served.' || $1::text";

/** $1 the server, $2 the lease in ms, $3 version, $4 protocol, $5 address, $6 all its addresses, $7 what it was called before: it stays drained under its new name. */
export const JOIN = {
  name: 'node-join',
  text: `
with d as (delete from bh.setting where key in (select 'drained.' || e from unnest($7::text[]) as u (e)) returning value),
k as (insert into bh.setting (key, value) select ${DRAINED}, max(value) from d having count(*) > 0),
o as (delete from bh.setting where key in (select 'served.' || e from unnest($7::text[]) as u (e))),
s as (insert into bh.setting (key, value) select ${SERVED}, $6 where $6::text is not null)
insert into bh.node (id, expires_at, version, protocol, url, draining)
select $1, clock_timestamp() + $2::float8 * interval '1 ms', $3, $4, $5, exists (select from d)
returning draining, ${STATE}`,
};

/** A row that has expired but is still there is renewed, for nothing was taken from it. No row: it was reaped. */
export const RENEW = {
  name: 'node-renew',
  plan: 'once' as const,
  text: `update bh.node set expires_at = clock_timestamp() + $2::float8 * interval '1 ms' where id = $1 returning draining, ${STATE}`,
};

export const LEAVE = { name: 'node-leave', text: `with k as (delete from bh.setting where key in (${DRAINED}, ${SERVED})) delete from bh.node where id = $1` };

/**
 * No row: there is no such server. $1 the server, $2 whether it is to give its blocks away, $3 the oldest protocol that knows of it: an older server is not asked. Wishes of
 * servers that did not come back within a month are forgotten.
 */
export const DRAIN = {
  name: 'node-drain',
  text: `
with f as (select id, version, protocol from bh.node where id = $1),
n as (update bh.node set draining = $2::boolean where id = $1 and (not $2::boolean or protocol >= $3::int) returning id),
k as (
  insert into bh.setting (key, value) select 'drained.' || id, to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD') from n where $2::boolean
  on conflict (key) do nothing),
x as (delete from bh.setting where not $2::boolean and key in (select 'drained.' || id from n)),
o as (
  delete from bh.setting where key like 'drained.%' and value < to_char(clock_timestamp() at time zone 'UTC' - interval '30 days', 'YYYY-MM-DD')
  and not exists (select from bh.node where key = 'drained.' || id))
select f.version, n.id is not null as knows from f left join n on true`,
};

/**
 * The foreign keys free what it had. After a restart of the database, everybody has a lease of $1 ms to come back. A database that stood still goes on with
 * statements that were sent before, and nobody could renew meanwhile. So this does nothing later than half a lease after $2, the epoch milliseconds at which it was sent.
 */
export const REAP = {
  name: 'node-reap',
  plan: 'once' as const,
  text: `
delete from bh.node where id in (
  select id from bh.node where expires_at < clock_timestamp() and clock_timestamp() < to_timestamp($2::float8 / 1000) + $1::float8 / 2 * interval '1 ms'
  and pg_postmaster_start_time() < clock_timestamp() - $1::float8 * interval '1 ms'
  for update skip locked)
returning id`,
};

/**
 * What there is to do: blocks that nobody has are claimed, and of those that the server has come the due ones and what is asked of them, as they were before.
 * A server that is drained claims nothing, and gets a row without a block. $1 the server, $2 how many it claims at most.
 */
export const LOOK = {
  name: 'node-look',
  plan: 'once' as const,
  text: `
with c as (
  select id from bh.block where owner is null and wanted and due_at <= clock_timestamp() and archive_name is null
  and not exists (select from bh.node where id = $1 and draining)
  order by due_at limit $2 for update skip locked),
n as (
  update bh.block b set owner = $1, fence = fence + 1, wish = false, give_back = false, decided = false from c where b.id = c.id
  returning b.id as block, b.name, b.fence)
select block, name, fence, true as is_new, true as is_due, false as give_back, null as cancel from n
union all
select b.id, b.name, b.fence, false, coalesce(b.due_at <= clock_timestamp(), false), b.wish and b.give_back, m.id
from bh.block b left join lateral (
  select id from bh.message where b.wish and block_id = b.id and status = 'processing' and cancel_asked) m on true
where b.owner = $1 and (b.due_at <= clock_timestamp() or b.wish)
union all
select 0, '', 0, false, false, false, null from bh.node where id = $1 and draining`,
};

/** Whoever asks for a block that it has already gets its own claim. */
export const TAKE = {
  name: 'block-take',
  plan: 'once' as const,
  text: `
update bh.block set owner = $1, fence = case when owner is null then fence + 1 else fence end,
  wish = wish and owner is not null, give_back = give_back and owner is not null, decided = decided and owner is not null
where id = $2 and (owner is null or owner = $1) and archive_name is null
returning id as block, name, fence`,
};

export const OWNER = { name: 'block-owner', plan: 'once' as const, text: 'select owner from bh.block where id = $1' };

/**
 * $1 block, $2 owner, $3 fence, $4 the state, $5 when to look again. What waits, or broke off, is due at once, also what has come or was decided without the owner's
 * knowledge; but while a message waits for people, what is behind it waits, too.
 */
export const RELEASE = {
  name: 'block-release',
  plan: 'once' as const,
  text: `
update bh.block set owner = null, state = $4, wish = false, give_back = false,
  due_at = least($5::timestamptz, case when queued + processing > 0 and (held = 0 or decided or $5::timestamptz is null) then clock_timestamp() end)
where id = $1 and owner = $2 and fence = $3
returning id`,
};

/** Its owner is to give it back. $1 the block, $2 the server that asks. */
export const ASK_FOR = {
  name: 'block-ask-for',
  plan: 'once' as const,
  text: 'update bh.block set wish = true, give_back = true where id = $1 and owner is not null and owner <> $2 and not give_back',
};

/** All servers, the oldest first. $1 the lease in ms, which is the same for all: a lease runs from the last sign of life. */
export const NODES = {
  name: 'nodes',
  text: `
select n.id, n.version, n.url, n.started_at, n.expires_at - $1::float8 * interval '1 ms' as seen_at, n.expires_at > clock_timestamp() as alive, n.draining,
  (select count(*) from bh.block b where b.owner = n.id) as blocks
from bh.node n order by n.started_at, n.id`,
};

/** Where a server answers: $2 for people, $3 all of it. What servers have left behind that were given up goes. */
export const ANNOUNCE = {
  name: 'node-announce',
  text: `
with n as (update bh.node set url = $2 where id = $1 returning id),
o as (delete from bh.setting where key like 'served.%' and not exists (select from bh.node where key = 'served.' || id))
insert into bh.setting (key, value) select 'served.' || id, $3::text from n on conflict (key) do update set value = excluded.value`,
};

/** The history that the database writes: another one begins where a standby takes over, or a backup is restored. A database of another kind may not know. */
export const TIMELINE = { name: 'timeline', text: 'select left(pg_walfile_name(pg_current_wal_lsn()), 8) as timeline' };
