// A database with the schema of this version, for one test.
//
// one-template: to make the schema takes four times as long as to copy a database that has it.
// asked-together: to prepare statements changes nothing, so those of all specs of a process are prepared in one database.
import { randomBytes } from 'node:crypto';
import root, { type Test } from 'tap';
import { assertMigrated, migrate } from '../../core/store/postgres/migrate.ts';
import { parseStorePlace } from '../../core/store/postgres/place.ts';
import { Database, type DatabaseOptions, type Statement } from '../../core/store/postgres/pool.ts';
import { ask, ownServer, postgresStore } from './postgres.ts';
import { type StoreProxy, storeProxy } from './store-proxy.ts';

/** A fresh workspace in PostgreSQL. */
export interface Migrated {
  readonly store: string;
  readonly database: Database;
  /** Another server's way to it. */
  open(options?: DatabaseOptions): Promise<Database>;
  /** Another server's way to it, which may be cut. */
  openByProxy(options?: DatabaseOptions): Promise<{ readonly database: Database; readonly proxy: StoreProxy }>;
  /** One statement, past the store. */
  ask(text: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
}

const SCHEMA = 'bh_test';
const TEMPLATE = 'bh_template';

let template: Promise<unknown> | undefined;

function storeIn(server: string, database: string): string {
  const url = new URL(server);
  url.pathname = `/${database}`;
  url.searchParams.set('schema', SCHEMA);
  return url.href;
}

async function makeTemplate(server: string): Promise<void> {
  await ask(server, `create database ${TEMPLATE}`);
  await migrate(parseStorePlace(storeIn(server, TEMPLATE)));
}

/** A store for one test as the value of BLOCKHOUSE_STORE, whose schema is that of this version: a database of its own, or a schema in that of BLOCKHOUSE_TEST_STORE. */
export async function migratedStore(t: Test): Promise<string> {
  if (process.env['BLOCKHOUSE_TEST_STORE'] !== undefined) {
    const store = await postgresStore(t);
    await migrate(parseStorePlace(store));
    return store;
  }
  const server = await ownServer();
  template ??= makeTemplate(server); // one-template
  await template;
  const name = `bh_test_${randomBytes(4).toString('hex')}`;
  t.teardown(() => ask(server, `drop database if exists ${name} with (force)`));
  await ask(server, `create database ${name} template ${TEMPLATE} strategy file_copy`);
  return storeIn(server, name);
}

/** Ends with the test. */
export async function migrated(t: Test): Promise<Migrated> {
  const store = await migratedStore(t);
  const openAt = async (place: string, options: DatabaseOptions = {}): Promise<Database> => {
    const database = await Database.open(parseStorePlace(place), { connections: 3, ...options });
    t.teardown(() => database.close());
    return database;
  };
  const database = await openAt(store);
  await assertMigrated(database);
  return {
    store,
    database,
    open: (options) => openAt(store, options),
    openByProxy: async (options) => {
      const proxy = await storeProxy(t, store);
      return { proxy, database: await openAt(proxy.store, options) };
    },
    ask: (text, values) => ask(store, text, values),
  };
}

/** asked-together. */
let asked: Promise<Migrated> | undefined;

/** The database understands each of these statements, and each has a name of its own. */
export async function statementsAreSound(t: Test, statements: Readonly<Record<string, Statement>>): Promise<void> {
  asked ??= migrated(root);
  const { database, ask } = await asked;
  const all = Object.entries(statements).filter(([, { name }]) => name !== ''); // those are no queries, and have no plan
  t.equal(new Set(all.map(([, { name }]) => name)).size, all.length);
  for (const [constant, { name, text }] of all) {
    await t.resolves(ask(`prepare ${name.replaceAll('-', '_')} as ${database.text(text)}; deallocate all`), constant);
  }
}

/** A new block; its number. */
export async function blockIn({ ask }: Pick<Migrated, 'ask'>, name: string): Promise<number> {
  const [row] = await ask('insert into bh.block (name, wanted) values ($1, true) returning id::int', [name]);
  return row?.['id'] as number;
}
