// The statements of the journals of runs, and of what waits for people. Pure: no I/O.
//
// block-first: as in a conversation, the row of the block is locked first, and decides whose records these are.
import { MAX_RESULT_BYTES } from '../../parts/run-lines.ts';

/** $1 block, $2 and $3 owner and fence; null: anybody, while nobody works on a message. */
const OURS = `
  select id, case when $2::text is null then owner is null or processing = held else owner = $2 and fence = $3 end is true as ours, processing = held as waits
  from bh.block where id = $1 for no key update`;

/**
 * $4 run, $5 the number of the first record, $6 the records; of those that ask, $7 ids, $8 deadlines, $9 approvals; of those that decide, $10 ids, $11 when, $12 how,
 * $13 the records. 23505: a number is taken. `added` is 0 where there is no record before the first one. What people decide is due at once.
 */
export const APPEND_STEPS = {
  name: 'run-append',
  plan: 'once' as const,
  text: `
with b as (${OURS}),
r as (
  insert into bh.run_record (block_id, run, seq, record)
  select $1, $4, $5::int + u.n::int - 1, u.record from b, unnest($6::text[]) with ordinality as u (record, n)
  where b.ours and ($5::int = 0 or exists (select from bh.run_record p where p.block_id = $1 and p.run = $4 and p.seq = $5::int - 1))
  returning seq),
a as (
  insert into bh.approval (id, block_id, run, expires_at, asked)
  select u.id, $1, $4, u.expires_at, u.asked from unnest($7::text[], $8::timestamptz[], $9::text[]) as u (id, expires_at, asked)
  where exists (select from r) on conflict do nothing),
d as (
  update bh.approval a set decided_at = u.at, decision = u.decision, decided = u.record
  from unnest($10::text[], $11::timestamptz[], $12::text[], $13::text[]) as u (id, at, decision, record)
  where exists (select from r) and a.id = u.id and a.block_id = $1 and a.decided_at is null),
k as (
  update bh.block k set decided = true, due_at = clock_timestamp()
  from b where k.id = b.id and ($2::text is null or (b.waits and cardinality($10::text[]) > 0)) and exists (select from r))
select b.ours, (select count(*)::int from r) as added from b`,
};

/** $1 block, $2 run. */
export const STEPS = { name: 'run-steps', plan: 'once' as const, text: 'select record from bh.run_record where block_id = $1 and run = $2 order by seq' };

/** A piece of a result. $1 block, $2 run, $3 the place of the call, $4 where it begins, from 1, $5 how long it is. */
export const RESULT = {
  name: 'run-result',
  text: 'select substring(bytes from $4::int for $5::int) as bytes from bh.run_result where block_id = $1 and run = $2 and ref = $3',
};

/** $4 run, $5 the place of the call, $6 the bytes. The oldest of the block go that have no room beside it. */
export const KEEP_RESULT = {
  name: 'run-keep-result',
  plan: 'once' as const,
  text: `
with b as (${OURS}),
others as (
  select o.run, o.ref, sum(octet_length(o.bytes)) over (order by o.at desc, o.run desc, o.ref desc) as bytes
  from bh.run_result o where o.block_id = $1 and (o.run, o.ref) <> ($4, $5)),
d as (
  delete from bh.run_result r using b, others o
  where b.ours and r.block_id = $1 and r.run = o.run and r.ref = o.ref and o.bytes + octet_length($6::bytea) > ${MAX_RESULT_BYTES}),
i as (
  insert into bh.run_result as r (block_id, run, ref, bytes) select $1, $4, $5, $6::bytea from b where b.ours and octet_length($6::bytea) <= ${MAX_RESULT_BYTES}
  on conflict (block_id, run, ref) do update set bytes = excluded.bytes, at = excluded.at)
select b.ours from b`,
};

/** Those of messages that have their outcome. $1 the block. */
export const CLEAR_STEPS = {
  name: 'run-clear',
  plan: 'once' as const,
  text: `
with kept as (
  select case when m.id ~ '^[A-Za-z0-9_-]{1,128}$' then m.id else 'x-' || left(encode(sha256(convert_to(m.id, 'UTF8')), 'hex'), 40) end as run
  from bh.message m where m.block_id = $1 and m.status in ('queued', 'processing', 'waiting-approval')),
r as (delete from bh.run_record where block_id = $1 and run not in (select run from kept) returning run),
w as (delete from bh.run_result where block_id = $1 and run not in (select run from kept) returning run),
a as (delete from bh.approval where block_id = $1 and run not in (select run from kept))
select ((select count(distinct run) from r) + (select count(*) from w))::int as cleared`,
};

const APPROVAL = 'select b.name as block, a.asked, a.decided, a.expires_at, a.decided_at';
const OF_BLOCKS = 'from bh.approval a join bh.block b on b.id = a.block_id and b.archive_name is null';

/** $1 the name of a block, or null, $2 and $3 deadline and id of the one before, $4 how many. */
export const PENDING = {
  name: 'approvals-pending',
  text: `
${APPROVAL} ${OF_BLOCKS} where a.decided_at is null and ($1::text is null or b.name = $1) and (a.expires_at, a.id) > ($2::timestamptz, $3)
order by a.expires_at, a.id limit $4`,
};

/** The same, the newest first, of those that were decided in one of the ways $5. */
export const DECIDED = {
  name: 'approvals-decided',
  text: `
${APPROVAL} ${OF_BLOCKS} where a.decided_at is not null and ($1::text is null or b.name = $1) and (a.decided_at, a.id) < ($2::timestamptz, $3)
  and a.decision = any($5::text[])
order by a.decided_at desc, a.id desc limit $4`,
};

/** $1 the id. */
export const APPROVAL_OF = { name: 'approval', text: `${APPROVAL} ${OF_BLOCKS} where a.id = $1 order by a.block_id limit 1` };

/** What a bundle and a copy take along. $1 the block. */
export const RUN_FILES = {
  name: 'run-files',
  text: `
select run, null as ref, null::timestamptz as at from bh.run_record where block_id = $1 and seq = 0
union all select run, ref, at from bh.run_result where block_id = $1`,
};

/** $1 block, $2 run, $3 the number of the first record, $4 the records. */
export const ADD_RECORDS = {
  name: 'run-add-records',
  text: `
insert into bh.run_record (block_id, run, seq, record)
select $1, $2, $3::int + u.n::int - 1, u.record from unnest($4::text[]) with ordinality as u (record, n)`,
};
/** $1 block, $2 run, $3 the place of the call, $4 when, $5 the bytes. */
export const ADD_RESULT = { name: 'run-add-result', text: 'insert into bh.run_result (block_id, run, ref, at, bytes) values ($1, $2, $3, $4, $5)' };
/** $1 block, $2 run, then columns: $3 ids, $4 deadlines, $5 approvals, $6 when they were decided, $7 how, $8 the records. */
export const ADD_APPROVALS = {
  name: 'run-add-approvals',
  text: `
insert into bh.approval (id, block_id, run, expires_at, asked, decided_at, decision, decided)
select u.id, $1, $2, u.expires_at, u.asked, u.decided_at, u.decision, u.decided
from unnest($3::text[], $4::timestamptz[], $5::text[], $6::timestamptz[], $7::text[], $8::text[]) as u (id, expires_at, asked, decided_at, decision, decided)
on conflict do nothing`,
};
