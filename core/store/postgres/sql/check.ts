// The statements of the doctor's look at the database. Pure: no I/O.
//
// one-snapshot: what is compared is read by one statement, so that changes meanwhile are no findings.

/** Blocks that nobody takes, the longest due first. $1 for how many ms, $2 how many at most. */
export const UNTAKEN = {
  name: 'check-untaken',
  text: `
select name, floor(extract(epoch from clock_timestamp() - due_at))::int as seconds from bh.block
where owner is null and wanted and archive_name is null and due_at < clock_timestamp() - $1::float8 * interval '1 ms' order by due_at limit $2`,
};

/** Blocks whose counters differ from their messages. $1 how many at most. one-snapshot. */
export const MISCOUNTED = {
  name: 'check-miscounted',
  text: `
with m as (
  select block_id, count(*) filter (where status = 'queued') as queued, count(*) filter (where status <> 'queued') as processing,
    count(*) filter (where status = 'waiting-approval') as held
  from bh.message where status in ('queued', 'processing', 'waiting-approval') group by block_id)
select b.name from bh.block b left join m on m.block_id = b.id
where b.archive_name is null and (b.queued, b.processing, b.held) is distinct from (coalesce(m.queued, 0), coalesce(m.processing, 0), coalesce(m.held, 0)) order by b.name limit $1`,
};

/** The database's server: its version, its time, its connections of clients, and how many more it takes. */
export const SERVER = {
  name: 'check-server',
  text: `
select current_setting('server_version') as version, current_setting('server_version_num')::int / 10000 as major,
  (extract(epoch from clock_timestamp()) * 1000)::float8 as now, m.most, (m.most - c.used)::int as free
from (select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as most) m,
  (select sum(numbackends) as used from pg_stat_database) c`,
};

/** What holds up all: the part of the queue of notices that is full, and for how long the oldest transaction of this database has been open. */
export const HINDRANCES = {
  name: 'check-hindrances',
  text: `
select pg_notification_queue_usage() as unread,
  (select coalesce(max(extract(epoch from clock_timestamp() - xact_start)), 0) from pg_stat_activity
    where datname = current_database() and backend_type = 'client backend')::float8 as oldest`,
};
