// The statements of the archive, and of what goes into and comes out of a bundle. Pure: no I/O.

/** $1 block, $2 owner, $3 fence, $4 the name in the archive, $5 when, $6 the facts. Its claim ends. 23505: the name in the archive is taken. */
export const STORE = {
  name: 'archive-store',
  text: `
with b as (
  update bh.block set archive_name = $4, archived_at = $5::timestamptz, archive = $6::json, owner = null, wanted = false, wish = false, give_back = false, due_at = null
  where id = $1 and owner = $2 and fence = $3 and archive_name is null returning id),
e as (update bh.block_entry e set gone_at = clock_timestamp(), changed_at = clock_timestamp() from b where e.block_id = b.id)
select id from b`,
};
export const LIST = {
  name: 'archive-list',
  text: 'select archive_name, name, archived_at, archive from bh.block where archive_name is not null order by archived_at desc, id desc',
};
/** $1 the name in the archive, or of the block. */
export const FIND = {
  name: 'archive-find',
  text: 'select archive_name, name, archived_at, archive from bh.block where archive_name = $1 or (archive_name is not null and name = $1) order by archived_at desc, id desc',
};
/** $1 the name in the archive. */
export const CONFIG = {
  name: 'archive-config-of',
  text: "select d.value from bh.block b join bh.document d on d.block_id = b.id and d.kind = 'config' where b.archive_name = $1",
};
/** $1 the name in the archive, $2 the new name. 23505: it is taken. */
export const RESTORE = {
  name: 'archive-restore',
  text: 'update bh.block set name = $2, archive_name = null, archived_at = null, archive = null, wanted = false where archive_name = $1 returning id as block',
};
export const SET_CONFIG = { name: 'archive-config', text: "update bh.document set value = $2::json, rev = rev + 1 where block_id = $1 and kind = 'config'" };
/** $1 the name in the archive. Its documents go with it. */
export const REMOVE = { name: 'archive-remove', text: 'delete from bh.block where archive_name = $1 returning id as block' };
export const REMOVE_MESSAGES = { name: 'archive-remove-messages', text: 'delete from bh.message where block_id = $1' };
export const REMOVE_LINES = { name: 'archive-remove-lines', text: 'delete from bh.log_line where block_id = $1' };

/** $1 block, $2 and following columns of entries, the oldest first. */
export const ADD_MESSAGES = {
  name: 'bundle-messages',
  text: `
insert into bh.message (block_id, seq, id, role, status, content, bytes, client_id, reply_to, attempts, at, next_attempt_at, started_at, finished_at, error, rest,
  waiting_for)
select $1, u.* from unnest($2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::int[], $8::text[], $9::text[], $10::int[], $11::timestamptz[],
  $12::timestamptz[], $13::timestamptz[], $14::timestamptz[], $15::json[], $16::json[], $17::json[]) as u`,
};
/**
 * The numbers that follow from the messages of a block; the last id is the greatest of those that Blockhouse makes (block/conversation/entry-ids.ts), since ids of
 * other programs may sort after all of them. $1 block.
 */
export const COUNT_MESSAGES = {
  name: 'bundle-count',
  text: `
with m as (
  select count(*) filter (where status = 'queued') as queued, count(*) filter (where status in ('processing', 'waiting-approval')) as processing,
    count(*) filter (where status = 'waiting-approval') as held, count(*) filter (where status = 'failed' and role = 'user') as failed, coalesce(max(seq), 0) as seq, coalesce(max(id) filter (where id ~ '^m[0-9a-z]{13}[0-9a-f]{8}$'), '') as id,
    coalesce(sum(bytes) filter (where status in ('queued', 'processing', 'waiting-approval')), 0) as bytes, max(at) as at
  from bh.message where block_id = $1),
b as (
  update bh.block set queued = m.queued, processing = m.processing, held = m.held, failed = m.failed, next_seq = m.seq, last_id = m.id, waiting_bytes = m.bytes
  from m where block.id = $1)
update bh.block_entry set last_message_at = m.at from m where block_id = $1`,
};
