// A workspace in PostgreSQL, as a server has it, for one test.
import type { Test } from 'tap';
import { createBus } from '../../core/bus.ts';
import { connectPostgres, type PostgresOptions } from '../../core/store/postgres/postgres-store.ts';
import type { BlockRef, Claim } from '../../core/store/port.ts';
import type { BlockListener, EntrySource, Store } from '../../core/store/store.ts';
import { migratedStore } from './migrated.ts';
import { ask } from './postgres.ts';

/** A database, and servers of it. */
export interface PostgresPlace {
  readonly place: string;
  /** Joins. The test closes it. */
  open(options?: PostgresOptions): Promise<Store>;
  ask(text: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
}

export const QUIET: BlockListener = {
  onChanged: () => undefined,
  onDamaged: () => undefined,
  onRebuilt: () => undefined,
  onOther: () => undefined,
  onLogged: () => undefined,
  onLogFault: () => undefined,
  logLimits: () => ({ maxFileBytes: 1_000_000, maxFiles: 10 }),
};

/** Entries that say no more than the facts. */
export const PLAIN: EntrySource = {
  read: () => Promise.reject(new Error('nothing is read')),
  entryOf: ({ config, queue, failures, lastMessageAt, pulse }) =>
    ({ name: config.name, queue: queue.queued, failures, lastMessageAt, state: pulse.state, config: { description: config.description } }) as ReturnType<
      EntrySource['entryOf']
    >,
  asItStands: (facts) => facts,
  damagedEntry: (name, configError) => ({ name, configError }) as ReturnType<EntrySource['damagedEntry']>,
  isOpen: () => false,
  running: () => 0,
};

export async function postgresPlace(t: Test): Promise<PostgresPlace> {
  const place = await migratedStore(t);
  return {
    place,
    async open(options = {}) {
      const connection = await connectPostgres(place, { connections: 3, ...options });
      const lock = { announce: async () => undefined, release: async () => undefined };
      const store = await connection.open({ workspace: '', bus: createBus(), now: Date.now, onLost: async () => undefined, lock });
      t.teardown(() => store.close());
      return store;
    },
    ask: (text, values) => ask(place, text, values),
  };
}

export async function refOf(store: Store, name: string): Promise<BlockRef> {
  const ref = await store.blocks.list(PLAIN).find(name);
  if (ref === undefined) throw new Error(`there is no ${name}`);
  return ref;
}

export async function claimOf(store: Store, name: string): Promise<Claim> {
  const taken = await (await store.join()).take(await refOf(store, name));
  if ('heldBy' in taken) throw new Error(`${name} is held by ${taken.heldBy}`);
  return taken;
}
