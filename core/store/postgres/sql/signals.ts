// The statements of notices, and of the looks behind them. Pure: no I/O.

/** $1 channels, $2 payloads. */
export const NOTIFY = { name: 'signals-notify', text: 'select pg_notify(c, p) from unnest($1::text[], $2::text[]) as u (c, p)' };

/** Who has these blocks, and what changes with each change of a block. $1 the blocks. */
export const FOLLOWED = {
  name: 'signals-followed',
  plan: 'once' as const,
  text: `
select b.id as block, b.owner, b.xmin::text as version,
  (select string_agg(d.kind || d.rev, ',' order by d.kind) from bh.document d where d.block_id = b.id) as documents
from bh.block b where b.id = any($1::bigint[])`,
};

/** What the names of channels are made of: the first server makes it up ($1), and all have the same. */
export const CHANNELS = {
  name: 'signals-channels',
  text: "insert into bh.setting as s (key, value) values ('channels', $1) on conflict (key) do update set value = s.value returning s.value",
};
