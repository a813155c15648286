// The statements of the settings. Pure: no I/O.

/** Those that are newer than what is known of them. $1 the names, $2 their revisions. */
export const SETTINGS = {
  name: 'settings',
  plan: 'once' as const,
  text: 'select s.key, s.value, s.rev from unnest($1::text[], $2::bigint[]) as k (key, rev) join bh.setting s on s.key = k.key and s.rev > k.rev',
};

/** Only while the revision is $3, and 0 where there is nothing yet: otherwise no row comes back. $1 the name, $2 the text. A new token ends all passes. */
export const SET = {
  name: 'setting-set',
  text: `
with s as (
  insert into bh.setting as s (key, value, rev) values ($1, $2, $3::bigint + 1)
  on conflict (key) do update set value = excluded.value, rev = s.rev + 1 where s.rev = $3
  returning rev),
d as (delete from bh.pass where $1 = 'token' and exists (select from s))
select rev from s`,
};
