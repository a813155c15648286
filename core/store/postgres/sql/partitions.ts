// The statements of the parts of tables. Pure: no I/O.
import type { Statement } from '../pool.ts';

export const LOCK_PARTS = { name: 'parts-lock', text: "select pg_advisory_xact_lock(hashtext('bh.parts'))" };
export const ALL_PARTS = {
  name: 'parts-all',
  text: `
select c.relname as name, clock_timestamp() as now from pg_inherits i join pg_class c on c.oid = i.inhrelid
where i.inhparent in ('bh.ledger'::regclass, 'bh.gateway_call'::regclass, 'bh.log_line'::regclass)`,
};

/** `name` and the times are made of a date. */
export function makePart({ table, name, from, to }: { readonly table: string; readonly name: string; readonly from: string; readonly to: string }): Statement {
  return { name: '', text: `create table bh.${name} partition of bh.${table} for values from ('${from}') to ('${to}')` };
}

export function removePart(name: string): Statement {
  return { name: '', text: `drop table bh.${name}` };
}

/** $1 the time before which rows go. */
export function clearRest(table: string): Statement {
  return { name: '', text: `delete from bh.${table}_rest where at < $1` };
}

/** Rows for which no part was there in time. */
export const RESTS = {
  name: 'parts-rests',
  text: `
select 'ledger' as table, count(*) as rows from bh.ledger_rest union all select 'gateway_call', count(*) from bh.gateway_call_rest
union all select 'log_line', count(*) from bh.log_line_rest`,
};
