// What a workspace in PostgreSQL needs for its blocks besides their conversations: the list, the archive, the logs, and what others ask of an owner. Pure: no I/O.
//
// any-text: JSON that is only kept, and never looked into, may have any text.
export const BLOCKS = `
alter table bh.document alter column value type json using value::json;
alter table bh.block alter column archive type json using archive::json;
-- Somebody asks something of the server that has the block: to give it back, or to cancel the message that it answers.
alter table bh.block add column wish boolean not null default false;
alter table bh.block add column give_back boolean not null default false;
alter table bh.message add column cancel_asked boolean not null default false;
create index block_archived on bh.block (archived_at desc) where archive_name is not null;
create index message_failed on bh.message (block_id, seq) where status = 'failed';

-- What the list is sorted and searched by. Which blocks there are, and their names, are never taken from it.
create table bh.block_entry (
  block_id bigint primary key references bh.block on delete cascade,
  name text collate "C" not null,
  description text not null default '',
  state text not null default 'stopped',
  status text not null default 'SLEEPING',
  provider text,
  model text,
  last_message_at timestamptz,
  cost_usd double precision,
  changed_at timestamptz not null default clock_timestamp(),
  gone_at timestamptz
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01);
create index entry_name on bh.block_entry (name) where gone_at is null;
create index entry_state on bh.block_entry (state, name) where gone_at is null;
create index entry_message on bh.block_entry (coalesce(last_message_at, '-infinity') desc, block_id desc) where gone_at is null;
create index entry_cost on bh.block_entry (coalesce(cost_usd, -1) desc, block_id desc) where gone_at is null;
create index entry_changed on bh.block_entry (changed_at);
create table bh.block_tag (
  tag text not null,
  name text collate "C" not null,
  block_id bigint not null references bh.block on delete cascade,
  primary key (tag, name, block_id)
);
create index tag_block on bh.block_tag (block_id);

-- \`file\` is the name of the log, and \`place\` where the line begins in it, in bytes.
create table bh.log_line (
  at timestamptz not null,
  block_id bigint not null,
  file text collate "C" not null,
  place bigint not null,
  node text not null,
  bytes bytea not null
) partition by range (at);
create table bh.log_line_rest partition of bh.log_line default;
create index log_line_block on bh.log_line (block_id, file, place);
`;
