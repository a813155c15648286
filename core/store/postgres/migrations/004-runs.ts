// The runs of messages with tools: their journals, whole results, and what waits for people. Pure: no I/O.
//
// keeps-its-place: a message that waits for a person counts as in process, so that also a server of the version before begins no other one. `held` says how many do.
// as-its-file: `run` is the name of the journal in a folder (parts/run-lines.ts), so a copy changes nothing.
export const RUNS = `
alter table bh.block add column held int not null default 0;
-- Since its owner has taken it, somebody has decided about what waits.
alter table bh.block add column decided boolean not null default false;
alter table bh.message add column waiting_for json;
create index message_waits on bh.message (block_id, seq) where status in ('queued', 'processing', 'waiting-approval');
drop index bh.message_open;
-- Which call of the model in a run.
alter table bh.ledger add column step int;

create table bh.run_record (
  block_id bigint not null references bh.block on delete cascade,
  run text collate "C" not null,
  seq int not null,
  record text not null,
  primary key (block_id, run, seq)
);
create table bh.run_result (
  block_id bigint not null references bh.block on delete cascade,
  run text collate "C" not null,
  ref text collate "C" not null,
  at timestamptz not null default clock_timestamp(),
  bytes bytea not null,
  primary key (block_id, run, ref)
);
-- Read in pieces, which what is compressed can't be.
alter table bh.run_result alter column bytes set storage external;
-- What the records of the kinds ask and decision say, for the list over all blocks. The journals have the truth.
create table bh.approval (
  id text collate "C" not null,
  block_id bigint not null references bh.block on delete cascade,
  run text collate "C" not null,
  expires_at timestamptz not null,
  asked text not null,
  decided_at timestamptz,
  decision text,
  decided text,
  primary key (id, block_id)
);
create index approval_pending on bh.approval (expires_at, id) where decided_at is null;
create index approval_decided on bh.approval (decided_at desc, id desc) where decided_at is not null;
create index approval_run on bh.approval (block_id, run);
`;
