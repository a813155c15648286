// The statements of blocks and their documents. Pure: no I/O.
//
// block-first: what changes a block locks its row first, and so finds out whether it is still there, and still ours.

/** $1 the name. */
export const FIND = { name: 'block-find', plan: 'once' as const, text: 'select id as block, name from bh.block where name = $1 and archive_name is null' };
/** $1 the block, $2 its name. */
export const STANDING = {
  name: 'block-stands',
  plan: 'once' as const,
  text: 'select wanted, state, owner from bh.block where id = $1 and name = $2 and archive_name is null',
};
export const COUNTS = {
  name: 'block-counts',
  text: 'select count(*) as blocks, count(*) filter (where wanted) as running from bh.block where archive_name is null',
};

/** $1 name, $2 wanted, $3 kinds of documents, $4 their texts, $5 description, $6 provider, $7 model, $8 tags. 23505: the name is taken. */
export const CREATE = {
  name: 'block-create',
  text: `
with b as (insert into bh.block (name, wanted) values ($1, $2) returning id),
d as (insert into bh.document (block_id, kind, value) select b.id, u.kind, u.value::json from b, unnest($3::text[], $4::text[]) as u (kind, value)),
e as (insert into bh.block_entry (block_id, name, description, provider, model) select b.id, $1, $5, $6, $7 from b),
s as (insert into bh.entry_text (block_id, name, description) select b.id, $1, $5 from b),
t as (insert into bh.block_tag (tag, name, block_id) select distinct u.tag, $1, b.id from b, unnest($8::text[]) as u (tag))
select id as block from b`,
};

/** $1 the block, $2 its name: under another one it is another block. */
export const DOCUMENTS = {
  name: 'documents',
  plan: 'once' as const,
  text: 'select d.kind, d.rev, d.value from bh.block b join bh.document d on d.block_id = b.id where b.id = $1 and b.name = $2 and b.archive_name is null',
};
/** $1 the block, $2 its name, $3 the kind. */
export const DOCUMENT = {
  name: 'document',
  plan: 'once' as const,
  text: `
select d.rev, d.value from bh.block b join bh.document d on d.block_id = b.id and d.kind = $3
where b.id = $1 and b.name = $2 and b.archive_name is null`,
};

/** A document that not every block has. $1 the block, $2 its name, $3 the kind, $4 its text. */
export const ENSURE = {
  name: 'document-ensure',
  text: `
with b as (select id from bh.block where id = $1 and name = $2 and archive_name is null),
d as (insert into bh.document (block_id, kind, value) select id, $3, $4::json from b on conflict do nothing)
select id as block from b`,
};

/** The lock of a block that is there. $1 the block, $2 and $3 its owner and fence; null: anybody's. */
export const LOCK = {
  name: 'block-lock',
  text: 'select id, ($2::text is null or (owner = $2 and fence = $3)) is true as ours from bh.block where id = $1 and archive_name is null for update',
};

/** The same without anything that follows: $5 and $6 as in LOCK. `ours`: null, where there is no such block. */
export const WRITE_ALONE = {
  name: 'document-write-alone',
  plan: 'once' as const,
  text: `
with b as (select id, ($5::text is null or (owner = $5 and fence = $6)) is true as ours from bh.block where id = $1 and archive_name is null for no key update),
d as (update bh.document set value = $4::json, rev = rev + 1 from b where b.ours and block_id = $1 and kind = $2 and rev = $3 returning rev)
select b.ours, d.rev from (select) one left join b on true left join d on true`,
};

/** Only while the revision is $3, otherwise no row comes back. $1 block, $2 kind, $4 the text. */
export const WRITE = {
  name: 'document-write',
  text: 'update bh.document set value = $4::json, rev = rev + 1 where block_id = $1 and kind = $2 and rev = $3 returning rev',
};

/**
 * What follows from a configuration. $1 block, $2 whether it is to run, $3 description, $4 provider, $5 model, $6 tags, $7 name, $8 whether its owner writes.
 * A block that is not to run any more is asked back from its owner.
 */
export const CONFIGURED = {
  name: 'block-configured',
  text: `
with b as (
  update bh.block set wanted = $2, rev = rev + 1, name = $7,
    due_at = case when $2 and not wanted and queued + processing > 0 then clock_timestamp() else due_at end,
    give_back = not $2 and (give_back or (wanted and owner is not null and not $8::boolean)),
    wish = case when $2 then wish else wish or (wanted and owner is not null and not $8::boolean) end
  where id = $1),
e as (update bh.block_entry set name = $7, description = $3, provider = $4, model = $5, changed_at = clock_timestamp(), gone_at = null where block_id = $1),
s as (
  insert into bh.entry_text as s (block_id, name, description) select block_id, $7, $3 from bh.block_entry where block_id = $1
  on conflict (block_id) do update set name = excluded.name, description = excluded.description where (s.name, s.description) <> (excluded.name, excluded.description)),
x as (delete from bh.block_tag where block_id = $1 and (name <> $7 or tag <> all ($6::text[])))
insert into bh.block_tag (tag, name, block_id) select distinct u.tag, $7, $1::bigint from unnest($6::text[]) as u (tag) on conflict do nothing`,
};

/** Under another name, and nobody's. Its configuration comes back. $1 block, $2 owner, $3 fence, $4 the name. 23505: it is taken. */
export const RENAME = {
  name: 'block-rename',
  text: `
update bh.block set name = $4, owner = null, wish = false, give_back = false, due_at = case when queued + processing > 0 then clock_timestamp() end
where id = $1 and owner = $2 and fence = $3 and archive_name is null
returning (select d.value from bh.document d where d.block_id = $1 and d.kind = 'config') as value`,
};

/**
 * What this server has changed since half a second: documents that can be made again, and what the list is sorted by. $1 the server when each document
 * was changed, $2 blocks, $3 kinds, $4 texts, $5 revisions of documents; $6 blocks of the list, $7 states, $8 statuses, $9 costs; null leaves one as it is.
 * Neither an owner before this one changes a document, nor a server that was given up; one with a revision is changed only while it has that, and its new
 * one comes back.
 */
export const PROJECT = {
  name: 'blocks-project',
  plan: 'once' as const,
  text: `
with v as (select u.* from unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::bigint[]) as u (node, block_id, kind, value, rev)),
d as (
  update bh.document d set value = v.value::json, rev = d.rev + 1 from v join bh.block b on b.id = v.block_id
  where d.block_id = v.block_id and d.kind = v.kind and (v.rev is null or d.rev = v.rev)
    and (b.owner = v.node or (b.owner is null and exists (select from bh.node n where n.id = v.node)))
  returning d.block_id, d.kind, d.rev, v.rev as before),
e as (update bh.block_entry e set state = coalesce(u.state, e.state), status = coalesce(u.status, e.status), cost_usd = coalesce(u.cost, e.cost_usd),
  last_message_at = (select m.at from bh.message m where m.block_id = e.block_id order by m.seq desc limit 1), changed_at = clock_timestamp()
from unnest($6::bigint[], $7::text[], $8::text[], $9::float8[]) as u (block_id, state, status, cost)
where e.block_id = u.block_id)
select block_id as block, kind, rev from d where before is not null`,
};

/** $1 the block. */
export const MEASURE = {
  name: 'block-measure',
  text: `
select (select coalesce(sum(bytes), 0) from bh.message where block_id = $1)
  + (select coalesce(sum(octet_length(value::text)), 0) from bh.document where block_id = $1)
  + (select coalesce(sum(octet_length(bytes)), 0) from bh.log_line where block_id = $1)
  + (select coalesce(sum(octet_length(record)), 0) from bh.run_record where block_id = $1)
  + (select coalesce(sum(octet_length(bytes)), 0) from bh.run_result where block_id = $1) as size,
  (select count(distinct file) from bh.log_line where block_id = $1) as logs`,
};
