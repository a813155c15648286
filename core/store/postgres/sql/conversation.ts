// The statements of a conversation. Pure: no I/O.
//
// block-first: every change locks the row of its block before rows of messages, and finds its numbers there, so that changes of a block come one after the other.
// own-columns: a statement that waits for a lock goes on with the newest version of the locked row, but still sees other rows as they were. So each row
//   decides by its own columns; what depends on other rows is a second statement.
// held-place: a message that waits for a person counts in `processing` and in `held`. Its `waiting_for` stays while it is begun, and goes when it is queued or over: so
//   who begins it knows that it was held.

import { ACTIVE_BYTES, ACTIVE_ENTRIES, LAST, RECENT } from '../../../block/conversation/retention.ts';
import { PAGE_BYTES } from '../message-row.ts';
import { lineParts } from './ledger.ts';

const COLUMNS = 'id, role, status, content, bytes, client_id, reply_to, attempts, at, next_attempt_at, started_at, finished_at, error, rest';
const SHOWN =
  'm.seq, m.id, m.role, m.status, m.content, m.bytes, m.client_id, m.reply_to, m.attempts, m.at, m.next_attempt_at, m.started_at, m.finished_at, m.error, m.outcome, m.rest, m.waiting_for';
/** Of the owner alone: $1 the block, $2 its owner, $3 the fence. */
const OWNED = 'select *, xmin::text as version from bh.block where id = $1 and owner = $2 and fence = $3 for update';
/** The version of a block before this statement, and after it if it has changed the block. */
const VERSIONS = 'b.version as version_before, pg_current_xact_id()::xid::text as version';
const WAITING = "('queued', 'processing', 'waiting-approval')";
const HELD = "old.status = 'waiting-approval'";
const IN_PROCESS = "old.status in ('processing', 'waiting-approval')";

/** The values $from and following for COLUMNS. */
function entryValues(from: number): string {
  const types = ['text', 'text', 'text', 'text', 'int', 'text', 'text', 'int', 'timestamptz', 'timestamptz', 'timestamptz', 'timestamptz', 'json', 'json'];
  return types.map((type, index) => `$${from + index}::${type}`).join(', ');
}

/** $1 block, $2 cap, $3 the most bytes, $4 to $17 the entry, $18 the last id that it may follow. No row: no room, an id that is not the greatest, another last id, or no block. 23505: its clientId is known. */
export const APPEND = {
  name: 'message-append',
  plan: 'once' as const,
  text: `
with b as (select id, xmin::text as version from bh.block where id = $1 for update),
k as (
  update bh.block k set next_seq = next_seq + 1, queued = queued + 1, waiting_bytes = waiting_bytes + $8::int, last_id = $4::text,
    due_at = least(due_at, clock_timestamp())
  from b where k.id = b.id and archive_name is null and last_id < $4::text and queued + processing < $2 and waiting_bytes + $8::int <= $3
    and ($18::text is null or last_id = $18)
  returning k.id, next_seq, queued + processing - 1 as position),
m as (insert into bh.message (block_id, seq, ${COLUMNS}) select k.id, k.next_seq, ${entryValues(4)} from k)
select k.position, ${VERSIONS} from k, b`,
};

/** What tells why APPEND did nothing. $1 block, $2 clientId. */
export const STANDING = {
  name: 'block-standing',
  plan: 'once' as const,
  text: `
select b.last_id, b.queued + b.processing as waiting, b.archive_name, m.seq is not null as known, ${SHOWN},
  (select count(*)::int from bh.message o where o.block_id = b.id and o.status in ${WAITING} and o.seq < m.seq) as position
from bh.block b left join bh.message m on m.block_id = b.id and m.client_id = $2 where b.id = $1`,
};

/** $4 the message, $5 the time. */
export const BEGIN = {
  name: 'message-begin',
  plan: 'once' as const,
  text: `
with b as (${OWNED}),
m as (
  update bh.message m set status = 'processing', attempts = m.attempts + 1, started_at = $5::timestamptz, next_attempt_at = null
  from b where b.processing = b.held and m.block_id = $1 and m.id = $4 and m.status in ('queued', 'waiting-approval')
  returning m.*),
u as (
  update bh.block k set queued = k.queued - (m.waiting_for is null)::int, processing = k.processing + (m.waiting_for is null)::int,
    held = k.held - (m.waiting_for is not null)::int, decided = false
  from m where k.id = m.block_id)
select b.id is not null as ours, ${VERSIONS}, ${SHOWN} from (select) one left join b on true left join m on true`,
};

/** The parts of SETTLE after `b`. */
const SETTLED = `
old as (
  select q.seq, q.status, q.bytes from b join bh.message q on q.block_id = $1
  where q.id = $4 and q.role = 'user' and q.status in ${WAITING} and (not $10::boolean or $11::text > b.last_id) for update of q),
m as (
  update bh.message m set status = $5, finished_at = coalesce($6::timestamptz, m.finished_at), next_attempt_at = null, waiting_for = null,
    error = case when $8::boolean then $7::json else m.error end, outcome = coalesce($9::json, m.outcome)
  from old where m.block_id = $1 and m.seq = old.seq returning m.*),
a as (insert into bh.message (block_id, seq, ${COLUMNS}) select b.id, b.next_seq + 1, ${entryValues(11)} from b, m where $10::boolean),
u as (
  update bh.block k set queued = k.queued - (old.status = 'queued')::int, processing = k.processing - (${IN_PROCESS})::int,
    held = k.held - (${HELD})::int, failed = k.failed + ($5 = 'failed')::int, waiting_bytes = k.waiting_bytes - old.bytes,
    next_seq = k.next_seq + $10::boolean::int, last_id = case when $10::boolean then $11::text else k.last_id end,
    due_at = case when k.queued - (old.status = 'queued')::int > 0 then clock_timestamp() end, wish = k.give_back
  from old, m where k.id = $1 returning k.queued + k.processing as waiting)`;
const SETTLED_AS = `b.id is not null as ours, m.seq is not null as done, b.last_id, u.waiting, ${VERSIONS}, ${SHOWN}`;
const SETTLED_IN = '(select) one left join b on true left join m on true left join u on true';

/** $4 the message, $5 status, $6 finished at, $7 error (left as it is without $8), $9 more of the outcome, $10 whether there is an answer, $11 to $24 the answer. */
export const SETTLE = { name: 'message-settle', plan: 'once' as const, text: `with b as (${OWNED}), ${SETTLED} select ${SETTLED_AS} from ${SETTLED_IN}` };

/**
 * The same, and the line of the call that has made the answer, which is written also where nothing is settled. $25 and following the line, as in `lineParts`. The block is locked
 * before its budget, as everywhere.
 */
export const SETTLE_PAID = {
  name: 'message-settle-paid',
  plan: 'once' as const,
  text: `
with recursive b as (${OWNED}), ${SETTLED},
${lineParts(25, 'from (select count(*) from b) one')}
select ${SETTLED_AS}, (select json_agg(s order by s.place) from spends s) as spends from ${SETTLED_IN}`,
};

/**
 * $4 the message, $5 next attempt, $6 error (left as it is without $7), $8 whether the attempt counts, $9 what people are to decide, if it waits for them, $10 the
 * name of its run. One that waits is due at the first deadline, or when somebody decides.
 */
export const REQUEUE = {
  name: 'message-requeue',
  plan: 'once' as const,
  text: `
with b as (${OWNED}),
old as (select m.seq, m.status, m.attempts from b join bh.message m on m.block_id = $1 where m.id = $4 and m.role = 'user' and m.status in ${WAITING} for update of m),
m as (
  update bh.message m set status = case when $9::json is null then 'queued' else 'waiting-approval' end, waiting_for = $9::json,
    started_at = null, next_attempt_at = coalesce($5::timestamptz, m.next_attempt_at),
    attempts = greatest(old.attempts - (old.status <> 'queued')::int, 0) + $8::boolean::int, error = case when $7::boolean then $6::json else m.error end
  from old where m.block_id = $1 and m.seq = old.seq returning m.seq),
u as (
  update bh.block k set queued = k.queued - (old.status = 'queued')::int + ($9::json is null)::int,
    processing = k.processing - (${IN_PROCESS})::int + ($9::json is not null)::int, held = k.held - (${HELD})::int + ($9::json is not null)::int,
    due_at = coalesce($5::timestamptz, case when $9::json is not null then (
      select min(a.expires_at) from bh.approval a where a.block_id = $1 and a.run = $10 and a.decided_at is null) end, clock_timestamp())
  from old, m where k.id = $1)
select b.id is not null as ours, m.seq is not null as done from (select) one left join b on true left join m on true`,
};

/**
 * By anybody. $1 block, $2 the message, $3 the time, $4 and $5 the owner and fence of who asks. A message that another server answers is left to it: its owner
 * is asked.
 */
export const CANCEL = {
  name: 'message-cancel',
  plan: 'once' as const,
  text: `
with b as (select id, owner, fence from bh.block where id = $1 for update),
old as (
  select m.seq, m.status, m.bytes, m.status = 'processing' and b.owner is not null and (b.owner, b.fence) is distinct from ($4::text, $5::bigint) as asks
  from b join bh.message m on m.block_id = $1
  where m.id = $2 and m.role = 'user' and (m.status in ${WAITING} or m.status = 'failed') for update of m),
m as (
  update bh.message m set status = case when old.asks then m.status else 'cancelled' end, cancel_asked = old.asks,
    waiting_for = case when old.asks then m.waiting_for end, finished_at = case when old.asks then m.finished_at else $3::timestamptz end
  from old where m.block_id = $1 and m.seq = old.seq returning m.*),
u as (
  update bh.block k set queued = k.queued - (old.status = 'queued')::int, processing = k.processing - (${IN_PROCESS} and not old.asks)::int,
    held = k.held - (${HELD})::int, failed = k.failed - (old.status = 'failed')::int, due_at = case when ${HELD} then clock_timestamp() else k.due_at end,
    waiting_bytes = k.waiting_bytes - case when old.status = 'failed' or old.asks then 0 else old.bytes end, wish = k.wish or old.asks
  from old, m where k.id = $1)
select old.status = 'failed' as had_failed, old.asks, ${SHOWN} from old, m`,
};

/** By anybody: the message goes to the end, without its answer. $1 block, $2 the message, $3 the time, $4 cap, $5 the most bytes. */
export const RETRY = {
  name: 'message-retry',
  plan: 'once' as const,
  text: `
with b as (select id, next_seq, queued, processing, waiting_bytes from bh.block where id = $1 for update),
old as (
  select m.seq, m.status, m.bytes from b join bh.message m on m.block_id = $1
  where m.id = $2 and m.role = 'user' and m.status in ('failed', 'cancelled', 'expired') and b.queued + b.processing < $4 and b.waiting_bytes + m.bytes <= $5
  for update of m),
d as (delete from bh.message a using old where a.block_id = $1 and a.reply_to = $2),
m as (
  update bh.message m set seq = b.next_seq + 1, status = 'queued', at = $3::timestamptz, attempts = 0, error = 'null', cancel_asked = false,
    next_attempt_at = null, started_at = null, finished_at = null, waiting_for = null
  from old, b where m.block_id = $1 and m.seq = old.seq returning m.*),
u as (
  update bh.block k set queued = k.queued + 1, failed = k.failed - (old.status = 'failed')::int, waiting_bytes = k.waiting_bytes + old.bytes,
    next_seq = k.next_seq + 1, due_at = least(k.due_at, clock_timestamp())
  from old, m where k.id = $1)
select ${SHOWN} from m`,
};

/** Whether there is anything to put in order, and whose turn it is. $4: older messages expire. */
export const LOOK = {
  name: 'block-look',
  plan: 'once' as const,
  text: `
select b.xmin::text as version, coalesce(b.owner = $2 and b.fence = $3, false) as ours, b.queued, b.processing - b.held as processing,
  exists (select from bh.message s where s.block_id = b.id and s.status = 'queued' and s.at < $4::timestamptz) as stale, ${SHOWN}
from bh.block b left join lateral (
  select * from bh.message q where q.block_id = b.id and q.status in ('queued', 'waiting-approval') and q.role = 'user' order by q.seq limit 1) m on true
where b.id = $1`,
};

/** Of a message with a run: whether its last attempt has got on, and so does not count. */
const GOT_ON = '(select r.got_on from unnest($9::text[], $10::boolean[]) as r (id, got_on) where r.id = m.id)';
const GOES_ON = `(m.attempts <= $5 or ${GOT_ON} is not null)`;

/** $4 as in LOOK, $5 the most attempts, $6 the time, $7 why a message expires, $8 why it fails, $9 and $10 the messages with runs. The messages that are over come back. */
export const RECOVER = {
  name: 'block-recover',
  plan: 'once' as const,
  text: `
with b as (${OWNED}),
p as (
  update bh.message m set status = case when m.cancel_asked then 'cancelled' when ${GOES_ON} then 'queued' else 'failed' end, waiting_for = null,
    attempts = greatest(m.attempts - coalesce(${GOT_ON}, false)::int, 0), started_at = case when ${GOT_ON} is null then m.started_at end,
    finished_at = case when ${GOES_ON} and not m.cancel_asked then m.finished_at else $6::timestamptz end,
    error = case when ${GOES_ON} or m.cancel_asked then m.error else $8::json end
  from b where m.block_id = $1 and m.status = 'processing' returning m.*),
e as (
  update bh.message m set status = 'expired', finished_at = $6::timestamptz, error = $7::json
  from b where m.block_id = $1 and m.status = 'queued' and m.at < $4::timestamptz returning m.*),
over as (select * from p where status <> 'queued' union all select * from e),
u as (
  update bh.block k set queued = k.queued + (select count(*) from p where status = 'queued') - (select count(*) from e),
    processing = k.processing - (select count(*) from p), failed = k.failed + (select count(*) from p where status = 'failed'),
    waiting_bytes = k.waiting_bytes - (select coalesce(sum(bytes), 0) from over), due_at = clock_timestamp()
  from b where k.id = b.id)
select ${SHOWN} from over m order by m.seq`,
};

/** What is being answered goes back into the queue, and the attempt counts. */
export const REQUEUE_ALL = {
  name: 'block-requeue-all',
  plan: 'once' as const,
  text: `
with b as (${OWNED}),
p as (update bh.message m set status = 'queued', started_at = null, waiting_for = null from b where m.block_id = $1 and m.status = 'processing' returning m.seq),
u as (
  update bh.block k set queued = k.queued + (select count(*) from p), processing = k.processing - (select count(*) from p), due_at = clock_timestamp()
  from b where k.id = b.id and exists (select from p))
select b.id from b`,
};

/** No message may have a smaller id from now on. No row: there is a greater one. */
export const BORDER = { name: 'block-border', plan: 'once' as const, text: 'update bh.block set last_id = $2 where id = $1 and last_id < $2 returning id' };
export const LAST_ID = { name: 'block-last-id', plan: 'once' as const, text: 'select last_id from bh.block where id = $1' };

/** Of the entries of the block $1 without an outcome, all are active; of the others the newest, as many as `retention.ts` keeps in a file. The last one that is not. */
const BORDER_OF_ACTIVE = `
left join lateral (
  select max(c.seq) as seq from (
    select l.seq, row_number() over (order by l.seq desc) as place, sum(l.bytes) over (order by l.seq desc) as total from (
      select seq, bytes from bh.message
      where b.xmin::text is distinct from $2 and block_id = b.id and status not in ${WAITING} and bytes <= ${LAST.bytes} order by seq desc limit ${ACTIVE_ENTRIES + 1}) l) c
  where c.place > ${ACTIVE_ENTRIES}
    or c.total > case when c.place <= ${LAST.entries} then ${LAST.bytes} when c.place <= ${RECENT.entries} then ${RECENT.bytes} else ${ACTIVE_BYTES} end) border on true`;
/** More conditions on `n`, an entry after the border. */
const active = (also = ''): string => `
left join lateral (
  select * from bh.message n
  where b.xmin::text is distinct from $2 and n.block_id = b.id and n.seq > coalesce(border.seq, -1) and (n.bytes <= ${LAST.bytes} or n.status in ${WAITING})${also}
  union all
  select * from bh.message o where b.xmin::text is distinct from $2 and o.block_id = b.id and o.status in ${WAITING} and o.seq <= coalesce(border.seq, -1)) m on true
where b.id = $1 order by m.seq`;

/** The active entries. One row without an entry where nothing has changed since the version $2: every change of a message changes its block. */
export const ENTRIES = {
  name: 'messages-active',
  plan: 'once' as const,
  text: `select b.xmin::text as version, ${SHOWN} from bh.block b${BORDER_OF_ACTIVE}${active()}`,
};
/** The same of what counts of them alone, and without their texts: those that wait or have failed, and the newest. */
export const OUTLINE = {
  name: 'messages-outline',
  plan: 'once' as const,
  text: `
select b.xmin::text as version, m.seq, m.id, m.role, m.status, '' as content, m.client_id, m.reply_to, m.attempts, m.at, m.next_attempt_at, m.started_at,
  m.finished_at, m.error, null::json as outcome, '{}'::json as rest, m.waiting_for
from bh.block b${BORDER_OF_ACTIVE}${active(`
    and (n.status in ${WAITING} or (n.role = 'user' and n.status = 'failed') or n.seq = (select max(seq) from bh.message where block_id = b.id))`)}`,
};
/** An entry and its answer. */
export const MESSAGE = {
  name: 'message',
  plan: 'once' as const,
  text: `select ${SHOWN} from bh.message m where m.block_id = $1 and (m.id = $2 or m.reply_to = $2) order by m.seq`,
};
export const SEQ = { name: 'message-seq', text: 'select seq from bh.message where block_id = $1 and id = $2' };
/** What is read for a page, which ends where it is full: no more than one entry beyond it. `order` says from where. */
const page = (rows: string, order: string): string => `
select ${SHOWN} from (
  select *, sum(bytes) over (order by ${order}) - bytes as before from (select * from bh.message where block_id = $1 and ${rows} order by ${order} limit $3) p) m
where m.before <= ${PAGE_BYTES} order by m.${order}`;
/** Before $2, the newest first, $3 at most. */
export const BEFORE = { name: 'messages-before', text: page('seq < $2', 'seq desc') };
/** After $2, $3 at most. */
export const AFTER = { name: 'messages-after', text: page('seq > $2', 'seq') };
