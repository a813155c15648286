// Picks the store of a workspace: its folder.
import { type CoreBus, createBus } from '../bus.ts';
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

/** The settings of a workspace, which need no lock. `now` in monotonic milliseconds. */
export function openSettings(workspace: string, now?: () => number): SettingStore {
  return new FileSettings(workspace, now);
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
  const { GatewayLedger } = await import('./files/ledger/gateway-ledger.ts');
  const ledger = new GatewayLedger({ workspace, bus: createBus(), now, readsOnly: true });
  await ledger.read();
  return ledger;
}
