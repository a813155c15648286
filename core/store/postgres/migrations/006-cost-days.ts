// What the calls of blocks have cost each day, so that a report need not read each call. Pure: no I/O.
//
// closed-set: calls from before have no value in `summed`, and no more of them come. So they are added up by a step of its own, while servers write further ones.
// also-older-ones: a server of the version before writes `false`, by the default of the column, and a later one counts what it wrote.
export const COST_DAYS = `
alter table bh.ledger add column summed boolean;
alter table bh.ledger alter column summed set default false;
-- One row for each day in UTC, block, provider, key of a connection, model and purpose. \`facts\` stands for the last four, of which an index has no room for each.
create table bh.cost_day (
  block text not null,
  day date not null,
  facts bytea not null,
  provider text not null,
  credential text,
  model text not null,
  purpose text not null,
  calls bigint not null,
  input bigint not null,
  output bigint not null,
  cache_read bigint not null,
  cache_write bigint not null,
  unpriced bigint not null,
  cost_usd numeric not null,
  primary key (block, day, facts)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01);
create index cost_day_day on bh.cost_day (day);
`;
