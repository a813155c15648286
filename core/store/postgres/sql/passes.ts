// The statements of codes, tickets and sessions of the page. Pure: no I/O.

/** $1 hash, $2 kind, $3 ms. Those that have ended go. */
export const ADD = {
  name: 'pass-add',
  text: `
with d as (delete from bh.pass where ends_at <= clock_timestamp())
insert into bh.pass (hash, kind, ends_at) values ($1, $2, clock_timestamp() + $3::float8 * interval '1 ms') returning ends_at`,
};
/** Opens once, however many servers ask. */
export const TAKE = { name: 'pass-take', text: 'delete from bh.pass where hash = $1 and kind = $2 and ends_at > clock_timestamp() returning kind' };
export const HOLDS = { name: 'pass-holds', text: 'select kind from bh.pass where hash = $1 and kind = $2 and ends_at > clock_timestamp()' };
/** A new token, by its hash $1, ends every pass. */
export const ROTATE = {
  name: 'pass-rotate',
  text: `
with s as (
  insert into bh.setting as s (key, value) values ('token', $1) on conflict (key) do update set value = excluded.value, rev = s.rev + 1)
delete from bh.pass`,
};
