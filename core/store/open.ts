// Picks the store of a workspace: its folder. A database can be prepared, but no server keeps its workspace there yet.
import { FileSettings } from './files/settings.ts';
import type { SettingStore } from './port.ts';

/** The settings of a workspace, which need no lock. `now` in monotonic milliseconds. */
export function openSettings(workspace: string, now?: () => number): SettingStore {
  return new FileSettings(workspace, now);
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
