// Where a store in PostgreSQL is: `postgres://user@host/database?schema=bh_team`. Pure: no I/O.
import { invalidRequest } from '../../errors.ts';

/** The address of a database, and the schema in it that is the workspace. */
export interface StorePlace {
  /** For the driver; may have a password. */
  readonly url: string;
  readonly schema: string;
  /** For people: without user and password. */
  readonly shown: string;
}

const DEFAULT_SCHEMA = 'bh_default';
/** Needs no quotes in a statement. Names of PostgreSQL have 63 bytes. */
const SCHEMA = /^[a-z_][a-z0-9_]{0,62}$/;

/** Throws INVALID_REQUEST, without the password that the text may have. */
export function parseStorePlace(text: string, field = 'BLOCKHOUSE_STORE'): StorePlace {
  const url = /^postgres(?:ql)?:\/\//.test(text) ? urlOf(text) : undefined;
  if (url === undefined) throw invalidRequest(field, 'must be an address such as postgres://user@host:5432/database?schema=bh_default');
  // Of a password with a '/', the rest stands where the database does, which people see.
  if (url.pathname.includes('@')) throw invalidRequest(field, "has a '/' in its password, or an '@' in the name of its database; write %2F and %40 for them");
  const schema = url.searchParams.get('schema') ?? DEFAULT_SCHEMA;
  if (!SCHEMA.test(schema)) throw invalidRequest(field, "has a schema that is no lower-case name of letters, digits and '_'");
  if (schema.startsWith('pg_')) throw invalidRequest(field, 'has a schema that belongs to PostgreSQL');
  url.searchParams.delete('schema');
  return { url: url.href, schema, shown: `${url.host}${url.pathname} (schema ${schema})` };
}

function urlOf(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}
