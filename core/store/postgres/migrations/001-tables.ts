// The first schema of a workspace in PostgreSQL. What was released is never changed: a later change is a file of its own. Pure: no I/O.
//
// hot: rows that many changes touch leave room on their page, so that a change makes no new entry in an index, and are vacuumed early.
export const TABLES = `
-- What all look at, and the state of the schema itself. No value: it was removed.
create table bh.setting (
  key text primary key,
  value text,
  rev bigint not null default 1
);

create table bh.node (
  id text primary key,
  started_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  version text not null,
  protocol int not null,
  url text,
  draining boolean not null default false,
  secrets jsonb not null default '{}'
);

create table bh.block (
  id bigint generated always as identity primary key,
  name text not null,
  archive_name text,
  archived_at timestamptz,
  archive jsonb,
  created_at timestamptz not null default clock_timestamp(),
  rev bigint not null default 0,
  wanted boolean not null default false,
  auto_start boolean not null default false,
  state text not null default 'stopped',
  queued int not null default 0,
  processing int not null default 0,
  failed int not null default 0,
  waiting_bytes bigint not null default 0,
  next_seq bigint not null default 0,
  last_id text collate "C" not null default '',
  due_at timestamptz,
  owner text references bh.node on delete set null,
  fence bigint not null default 0
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01);
create unique index block_name on bh.block (name) where archive_name is null;
create unique index block_archive on bh.block (archive_name) where archive_name is not null;
create index block_due on bh.block (due_at) where owner is null and due_at is not null and wanted;
create index block_owner on bh.block (owner) where owner is not null;

create table bh.document (
  block_id bigint not null references bh.block on delete cascade,
  kind text not null,
  rev bigint not null default 1,
  value jsonb not null,
  primary key (block_id, kind)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01);

create table bh.message (
  block_id bigint not null,
  seq bigint not null,
  id text collate "C" not null,
  role text not null,
  status text not null,
  content text not null,
  bytes int not null,
  client_id text,
  reply_to text,
  attempts int not null default 0,
  at timestamptz not null,
  next_attempt_at timestamptz,
  started_at timestamptz,
  finished_at timestamptz,
  rest jsonb not null default '{}',
  primary key (block_id, seq)
) partition by hash (block_id);
create unique index message_id on bh.message (block_id, id);
create unique index message_client on bh.message (block_id, client_id) where client_id is not null;
create index message_open on bh.message (block_id, seq) where status in ('queued', 'processing');
create unique index message_answer on bh.message (block_id, reply_to) where reply_to is not null;
${Array.from({ length: 16 }, (_, part) => `create table bh.message_${part} partition of bh.message for values with (modulus 16, remainder ${part}) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01);`).join('\n')}

-- One row for each model call of a block; \`at\` is the caller's, so that a repetition has the same key.
create table bh.ledger (
  at timestamptz not null,
  call_id text not null,
  block text not null,
  provider text not null,
  model text not null,
  purpose text not null,
  message_id text,
  usage jsonb,
  cost_usd double precision,
  failed boolean not null default false,
  primary key (at, call_id)
) partition by range (at);
create table bh.ledger_rest partition of bh.ledger default;
create index ledger_block on bh.ledger (block, at);

-- What blocks have spent by name, in quarters of an hour. Its row in \`budget\` is the lock under which a block reserves.
create table bh.budget (
  block text primary key
);
create table bh.spend (
  block text not null,
  quarter timestamptz not null,
  calls bigint not null default 0,
  tokens bigint not null default 0,
  cost_usd numeric(18, 9) not null default 0,
  primary key (block, quarter)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01);
-- What \`before\` had spent until then counts for \`block\`.
create table bh.lineage (
  block text not null,
  before text not null,
  until timestamptz not null,
  primary key (block, before, until)
);
create table bh.reservation (
  call_id text primary key,
  block text not null,
  node text references bh.node on delete set null,
  fence bigint,
  usd numeric(18, 9) not null,
  tokens bigint not null,
  at timestamptz not null default clock_timestamp()
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01);
create index reservation_block on bh.reservation (block);

-- Calls of clients. The request id may be the client's own, and come twice.
create table bh.gateway_call (
  at timestamptz not null,
  node text not null,
  n bigint not null,
  request_id text not null,
  key text,
  provider text not null,
  model text not null,
  usage jsonb,
  tokens bigint not null default 0,
  cost_usd numeric(18, 9),
  first_text_ms int,
  duration_ms int not null,
  error text,
  primary key (at, node, n)
) partition by range (at);
create table bh.gateway_call_rest partition of bh.gateway_call default;
create table bh.key_day (
  key text not null,
  day date not null,
  usd numeric(18, 9) not null default 0,
  tokens bigint not null default 0,
  calls bigint not null default 0,
  unpriced bigint not null default 0,
  primary key (key, day)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01);
create table bh.key_grant (
  key text not null,
  day date not null,
  node text not null references bh.node on delete cascade,
  usd numeric(18, 9),
  tokens bigint,
  primary key (key, day, node)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01);
create table bh.gateway_day (
  day date not null,
  key text not null,
  provider text not null,
  model text not null,
  calls bigint not null default 0,
  failed bigint not null default 0,
  tokens bigint not null default 0,
  cost_usd numeric(18, 9) not null default 0,
  unpriced bigint not null default 0,
  primary key (day, key, provider, model)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01);

-- Only hashes: who reads the database gets no code, ticket or session.
create table bh.pass (
  hash bytea primary key,
  kind text not null,
  ends_at timestamptz not null
);
`;
