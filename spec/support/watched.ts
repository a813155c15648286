// A watched folder, and what was told of it.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Test } from 'tap';
import { FolderWatch, type FolderWatchesOptions } from '../../core/store/files/folder-watch.ts';

export interface Watched {
  readonly watch: FolderWatch;
  /** Names in the order in which they were told. */
  readonly told: string[];
  readonly faults: Error[];
}

export function openWatch(t: Test, folder: string, usePolling = false, system?: FolderWatchesOptions['system']): Watched {
  const told: string[] = [];
  const faults: Error[] = [];
  const watch = new FolderWatch(folder, { onFault: (_folder, error) => faults.push(error), usePolling, system });
  watch.listeners.add((name) => told.push(name));
  t.teardown(() => watch.close());
  return { watch, told, faults };
}

/** Touches files until one is told: from then on the watch stands. */
export async function standing(folder: string, { told }: Watched): Promise<void> {
  for (let n = 0; !told.includes('standing'); n += 1) {
    writeFileSync(join(folder, 'standing'), String(n));
    await delay(20);
  }
  told.length = 0;
}
