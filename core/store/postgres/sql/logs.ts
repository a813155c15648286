// The statements of the logs of blocks. Pure: no I/O.

/** $1 the server, $2 and following the columns of the lines. Those of a block that is gone are left out. */
export const ADD = {
  name: 'log-add',
  plan: 'once' as const,
  text: `
insert into bh.log_line (at, block_id, file, place, node, bytes)
select u.at, u.block_id, u.file, u.place, $1, u.bytes from unnest($2::timestamptz[], $3::bigint[], $4::text[], $5::bigint[], $6::bytea[])
  as u (at, block_id, file, place, bytes)
where exists (select from bh.block b where b.id = u.block_id)`,
};

/** The newest files of a block. $1 block, $2 how many. */
export const FILES = {
  name: 'log-files',
  text: `
select file, max(place + octet_length(bytes)) as size, max(at) as at from bh.log_line where block_id = $1
group by file order by max(at) desc, file desc limit $2`,
};
/** $1 block, $2 file. */
export const FILE = {
  name: 'log-file',
  text: 'select max(place + octet_length(bytes)) as size, max(at) as at from bh.log_line where block_id = $1 and file = $2',
};
/** What lies between two places. $1 block, $2 file, $3 from, $4 to. */
export const BETWEEN = {
  name: 'log-between',
  text: `
select place, bytes from bh.log_line where block_id = $1 and file = $2 and place < $4 and place + octet_length(bytes) > $3 order by place`,
};
/** What comes after the known ends of files, and in files that began since. $1 block, $2 files, $3 their ends, $4 the least name of another file, $5 how many lines. */
export const TAIL = {
  name: 'log-tail',
  text: `
with k as (select * from unnest($2::text[], $3::bigint[]) as u (file, place))
select l.file, l.place, l.bytes from (
  select l.at, l.file, l.place, l.bytes from k join bh.log_line l on l.block_id = $1 and l.file = k.file and l.place >= k.place
  union all
  select l.at, l.file, l.place, l.bytes from bh.log_line l where l.block_id = $1 and l.file >= $4 and not exists (select from k where k.file = l.file)) l
order by l.at, left(l.file, 20), length(l.file), l.file, l.place limit $5`,
};
/** $1 block, $2 files. */
export const DELETE = { name: 'log-delete', text: 'delete from bh.log_line where block_id = $1 and file = any($2::text[])' };
export const NAMES = { name: 'log-names', text: 'select file, max(at) as at from bh.log_line where block_id = $1 group by file order by max(at), file' };
