// Loads `pg`, which only those install who keep a workspace in PostgreSQL.
//
// no-clear-password: a program that has taken the port of the database asks for the password in clear. The driver would send it; here it is sent so over TLS, or through a socket of the system.
import type { Client, ClientConfig, Pool, PoolConfig } from 'pg';
import { BlockhouseError, invalidRequest } from '../../errors.ts';
import { NOT_ANSWERING } from './faults.ts';

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
  return new pg.Pool({ ...config, Client: guarded(pg) as PoolConfig['Client'], types: parsers as PoolConfig['types'] });
}

/** One connection, which is not open yet. Rejects as `openPool` does. */
export async function openClient(config: ClientConfig): Promise<Client> {
  const pg = await loaded(LOAD);
  return new (guarded(pg))(config);
}

/** no-clear-password. */
function guarded(pg: typeof import('pg').default): typeof import('pg').Client {
  return class extends pg.Client {
    constructor(config?: string | ClientConfig) {
      super(config);
      const { connection, host } = this;
      connection.prependListener('authenticationCleartextPassword', () => {
        if (!('encrypted' in connection.stream) && !host.startsWith('/')) connection.stream.destroy(inClear());
      });
    }
  };
}

function inClear(): BlockhouseError {
  const why = 'The database, or what listens in its place, wants the password in clear, and the connection is not encrypted, so it was not sent.';
  const cure = 'Add sslmode=verify-full to the address, or let the database take scram-sha-256.';
  return new BlockhouseError('STORE_UNREACHABLE', `${why} ${cure}`, { retryable: false, forKeys: NOT_ANSWERING });
}

async function loaded(load: Load): Promise<typeof import('pg').default> {
  const { default: pg } = await load().catch((cause: unknown) => {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw cause;
    throw invalidRequest('BLOCKHOUSE_STORE', 'names a PostgreSQL, which needs the package pg; install it with `npm install pg`');
  });
  return pg;
}
