// Loads `pg`, which only those install who keep a workspace in PostgreSQL.
import type { Client, ClientConfig, Pool, PoolConfig } from 'pg';
import { invalidRequest } from '../../errors.ts';

/** `bigint` and `numeric`, which the driver leaves as texts. Counts and sums of money stay far below where a double becomes inexact. */
const NUMBERS: ReadonlySet<number> = new Set([20, 1700]);

type Load = () => Promise<typeof import('pg')>;
const LOAD: Load = () => import('pg');

/** Makes a pool; `load` is for tests. Rejects with INVALID_REQUEST, which names the command, if the package is not installed. */
export async function openPool(config: PoolConfig, load = LOAD): Promise<Pool> {
  const pg = await loaded(load);
  const parsers: Pick<typeof pg.types, 'getTypeParser'> = {
    getTypeParser: (oid: number, format?: 'text' | 'binary') => (NUMBERS.has(oid) ? Number : pg.types.getTypeParser(oid, format as 'text')),
  };
  return new pg.Pool({ ...config, types: parsers as PoolConfig['types'] });
}

/** One connection, which is not open yet. Rejects as `openPool` does. */
export async function openClient(config: ClientConfig): Promise<Client> {
  const pg = await loaded(LOAD);
  return new pg.Client(config);
}

async function loaded(load: Load): Promise<typeof import('pg').default> {
  const { default: pg } = await load().catch((cause: unknown) => {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw cause;
    throw invalidRequest('BLOCKHOUSE_STORE', 'names a PostgreSQL, which needs the package pg; install it with `npm install pg`');
  });
  return pg;
}
