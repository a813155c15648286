// Picks the store of a workspace: its folder. A database can be prepared, but no server keeps its workspace there yet.
import { type CoreBus, createBus } from '../bus.ts';
import type { Turn } from './files/fresh-file.ts';
import { WorkspaceLock } from './files/lock.ts';
import { FileSettings } from './files/settings.ts';
import type { GatewayBook, SettingStore } from './port.ts';
import type { Store } from './store.ts';

/** What a store works with. */
export interface StoreOptions {
  readonly workspace: string;
  readonly bus: CoreBus;
  /** Epoch milliseconds. */
  now(): number;
  /** Called when another server has the workspace: nothing may be written any more. Called again until `close`. */
  onLost(other: { readonly pid: number }): Promise<void>;
}

/** Where the changes of settings by several processes come one after the other. */
export type { Turn };

/** The settings of a workspace, which need no lock. `now` in monotonic milliseconds. */
export function openSettings(workspace: string, now?: () => number, turn?: Turn): SettingStore & Pick<FileSettings, 'look'> {
  return new FileSettings(workspace, now, turn);
}

/** Takes the workspace for this process. Nothing else of it is read or written yet. Rejects with WORKSPACE_BUSY, or the system's own error. */
export async function openStore(options: StoreOptions): Promise<Store> {
  const lock = await WorkspaceLock.acquire(options.workspace);
  try {
    const { FileStore } = await import('./files/file-store.ts'); // after the lock, because a program that only uses the gateway has none
    return new FileStore({ ...options, lock });
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** What keys have spent, for a process that may not hold the workspace: nothing is written. */
export async function readGatewayBook(workspace: string, now?: () => number): Promise<Pick<GatewayBook, 'spentToday'>> {
  const { GatewayLedger } = await import('./files/file-store.ts');
  const ledger = new GatewayLedger({ workspace, bus: createBus(), now, readsOnly: true });
  await ledger.read();
  return ledger;
}

/** A database in which a workspace may be kept, before a server uses it. */
export interface StoreSchema {
  /** What is to be done, by name, and as a text for `psql`. Rejects with STORE_UNREACHABLE, STORE_TOO_NEW, STORE_NOT_MIGRATED. */
  plan(): Promise<{ readonly names: readonly string[]; readonly script: string }>;
  /** Does it; `onStep` gets the name of each step. Rejects as `plan` does. */
  migrate(onStep: (name: string) => void): Promise<void>;
}

/** `store` is an address such as `postgres://user@host/database?schema=bh_team`. Throws INVALID_REQUEST. Loads the store in PostgreSQL. */
export async function openStoreSchema(store: string): Promise<StoreSchema> {
  const [{ parseStorePlace }, { migrate, planMigrations }] = await Promise.all([import('./postgres/place.ts'), import('./postgres/migrate.ts')]);
  const place = parseStorePlace(store);
  return {
    plan: () => planMigrations(place),
    migrate: async (onStep) => void (await migrate(place, ({ name }) => onStep(name))),
  };
}
