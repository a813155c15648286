// Picks the store of a workspace: its folder, or a database. The folder is locked with either, because it has what is of this machine alone: the credentials
// of providers, the log of the server, and its address for the CLI.
import { join } from 'node:path';
import { type CoreBus, createBus } from '../bus.ts';
import { BlockhouseError } from '../errors.ts';
import type { Turn } from './files/fresh-file.ts';
import { useCopy } from './files/copy-note.ts';
import { WorkspaceLock } from './files/lock.ts';
import { FileSettings } from './files/settings.ts';
import type { BodyFile, CallNotes, GatewayBook, NoticeFiles, SettingStore, StoreCheck } from './port.ts';
import type { ConnectedStore, ConnectOptions, FolderLock, Store, StoreConnection, StoreOptions } from './store.ts';

/** Where the changes of settings by several processes come one after the other. */
export type { Turn };

/** The settings of a workspace, which need no lock. `now` in monotonic milliseconds. */
export function openSettings(workspace: string, now?: () => number, turn?: Turn): SettingStore & Pick<FileSettings, 'look'> {
  return new FileSettings(workspace, now, turn);
}

/** Takes the folder for several servers of a database, which are processes of this one. Rejects with WORKSPACE_BUSY, or the system's own error. */
export function holdFolder(workspace: string): Promise<FolderLock> {
  return WorkspaceLock.acquire(workspace);
}

/** Where a path of this machine really leads (rules of tools compare that); undefined where that can't be known. */
export async function realPathOf(path: string): Promise<string | undefined> {
  const store = await import('./files/file-store.ts'); // which is loaded where blocks are
  return store.realPathOf(path);
}

/** For a server whose folder another process holds: that one's address is in the lock. */
const HELD_ELSEWHERE: FolderLock = { announce: async () => undefined, release: async () => undefined };

/**
 * Takes the workspace for this process, or joins the servers of a database; with `isFolderHeld`, the process that has started this one holds the folder. Nothing of it
 * is read or written yet. Rejects with WORKSPACE_BUSY, WORKSPACE_DAMAGED for a copy that is not whole, STORE_UNREACHABLE, or the system's own error.
 */
export async function openStore(options: StoreOptions, database?: ConnectedStore, isFolderHeld = false): Promise<Store> {
  const openNotes = (name: string, now: () => number): Promise<CallNotes> => openCallNotes(options, name, now);
  if (isFolderHeld && database !== undefined) return database.open({ ...options, lock: HELD_ELSEWHERE, openNotes });
  const lock = await WorkspaceLock.acquire(options.workspace);
  try {
    if (database !== undefined) return await database.open({ ...options, lock, openNotes });
    await useCopy(options.workspace);
    const { FileStore } = await import('./files/file-store.ts'); // after the lock, because a program that only uses the gateway has none
    return new FileStore({ ...options, lock });
  } catch (error) {
    await lock.release();
    throw error;
  }
}

async function openCallNotes({ workspace, bus }: StoreOptions, name: string, now: () => number): Promise<CallNotes> {
  const { CALL_NOTES, CallParts } = await import('./files/file-store.ts');
  const onFault = (error: unknown): void => bus.emit('workspace.fault', { what: CALL_NOTES, error: (error as Error).message });
  return CallParts.open(join(workspace, CALL_NOTES, name), { onFault, now });
}

/** The bodies of calls of debugged keys, for the process that holds the folder. Nothing of it is read or written yet. */
export async function openDebugFile(workspace: string, bus: CoreBus): Promise<BodyFile> {
  const { DEBUG_FILE, DebugFile } = await import('./files/file-store.ts');
  return new DebugFile(workspace, { onFault: (error) => bus.emit('workspace.fault', { what: DEBUG_FILE, error }) });
}

/** The most processes that share a folder. */
const MAX_SHARERS = 256;

/**
 * Where notifications wait until they are delivered. Nothing of it is read or made yet. With `isShared`, other processes work in the same folder, so each takes a part of it
 * for itself, by a lock: no notice is sent by two, and the next process takes over the part of one that has ended.
 */
export async function openNotices(workspace: string, isShared: boolean): Promise<NoticeFiles> {
  const { NOTICE_FOLDER, NoticeFolder } = await import('./files/file-store.ts');
  const own = join(workspace, NOTICE_FOLDER);
  if (!isShared) return new NoticeFolder(own);
  for (let part = 1; part <= MAX_SHARERS; part += 1) {
    const path = join(own, `part-${part}`);
    try {
      await WorkspaceLock.acquire(path);
      return new NoticeFolder(path);
    } catch (error) {
      if (!(error instanceof BlockhouseError) || error.code !== 'WORKSPACE_BUSY') throw error;
    }
  }
  throw new Error(`More than ${MAX_SHARERS} processes send notifications of ${workspace}.`);
}

/** What keys have spent, for a process that may not hold the workspace: nothing is written. */
export async function readGatewayBook(workspace: string, now?: () => number): Promise<Pick<GatewayBook, 'spent'>> {
  const { GatewayLedger } = await import('./files/file-store.ts');
  const ledger = new GatewayLedger({ workspace, bus: createBus(), now, readsOnly: true });
  await ledger.read();
  return ledger;
}

/**
 * Connects to the database that keeps a workspace; one without the schema gets it. `store` is an address such as
 * `postgres://user@host/database?schema=bh_team`. Rejects with INVALID_REQUEST, STORE_UNREACHABLE, STORE_NOT_MIGRATED, STORE_TOO_NEW.
 */
export async function connectStore(store: string, options?: ConnectOptions): Promise<StoreConnection> {
  const { connectPostgres } = await import('./postgres/postgres-store.ts');
  return connectPostgres(store, options);
}

/** What is wrong with the database that keeps a workspace. Changes nothing, and needs no server. Rejects with INVALID_REQUEST. */
export async function checkStore(store: string, options?: ConnectOptions): Promise<StoreCheck> {
  const { checkPostgres } = await import('./postgres/postgres-store.ts');
  return checkPostgres(store, options);
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
  const { migrate, parseStorePlace, planMigrations } = await import('./postgres/postgres-store.ts');
  const place = parseStorePlace(store);
  return {
    plan: () => planMigrations(place),
    migrate: async (onStep) => void (await migrate(place, ({ name }) => onStep(name))),
  };
}
