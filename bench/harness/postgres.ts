// What a database does for a bench: the statements that this process sends it, its processor time, what it writes.
import { readdirSync, readFileSync } from 'node:fs';
import pg from 'pg';
import { ask } from '../../spec/support/postgres.ts';

/** Counts the statements of this process, by name. */
export function countStatements(): { readonly counts: Map<string, number>; stop(): void } {
  const counts = new Map<string, number>();
  const { query } = pg.Client.prototype;
  pg.Client.prototype.query = function counted(this: unknown, ...args: unknown[]) {
    const [first] = args as [string | { name?: string; text?: string }];
    const name = typeof first === 'string' ? first : (first.name ?? first.text ?? '');
    counts.set(name, (counts.get(name) ?? 0) + 1);
    return (query as (...all: unknown[]) => unknown).apply(this, args);
  } as typeof query;
  return {
    counts,
    stop: () => {
      pg.Client.prototype.query = query;
    },
  };
}

/** Of all processes of the database, in seconds, those that have ended included. The database is on this machine. */
export async function databaseCpu(store: string): Promise<number> {
  const fieldsOf = (pid: string): string[] | undefined => {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    } catch {
      return undefined; // it has ended meanwhile
    }
  };
  const [data] = await ask(store, "select split_part(pg_read_file('postmaster.pid'), chr(10), 1) as pid");
  const postmaster = String(data?.['pid']);
  const own = fieldsOf(postmaster) ?? [];
  let ticks = Number(own[11]) + Number(own[12]) + Number(own[13]) + Number(own[14]);
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const fields = fieldsOf(pid);
    if (fields?.[1] === postmaster) ticks += Number(fields[11]) + Number(fields[12]);
  }
  return ticks / 100;
}

export async function wal(store: string): Promise<number> {
  const [row] = await ask(store, "select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as bytes");
  return row?.['bytes'] as number;
}
