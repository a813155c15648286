// The statements of codes, tickets and sessions of the page. Pure: no I/O.

/** $1 hash, $2 kind, $3 ms, $4 how many others of the kind stay: those that end last. Those that have ended go. */
export const ADD = {
  name: 'pass-add',
  text: `
with d as (
  delete from bh.pass where ends_at <= clock_timestamp() or hash in (select hash from bh.pass where kind = $2 order by ends_at desc, hash offset $4::bigint))
insert into bh.pass (hash, kind, ends_at) values ($1, $2, clock_timestamp() + $3::float8 * interval '1 ms') returning ends_at`,
};
/** Opens once, however many servers ask. $2 kinds. */
export const TAKE = {
  name: 'pass-take',
  text: 'delete from bh.pass where hash = $1 and kind = any($2::text[]) and ends_at > clock_timestamp() returning kind',
};
export const KIND = { name: 'pass-kind', text: 'select kind from bh.pass where hash = $1 and ends_at > clock_timestamp()' };
