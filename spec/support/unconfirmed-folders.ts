// A disk that carries out what happens to folders, and does not confirm it, or not soon.
import { lstatSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import type { Test } from 'tap';
import { gate } from './stepped-adapter.ts';
import { until } from './until.ts';

/** From now on, until the test ends, the fsync of a folder fails with EIO, or of `only` this one; that of a file works. What is returned ends it. */
export async function refuseToSyncFolders(t: Test, only?: string): Promise<() => void> {
  const inode = only === undefined ? undefined : lstatSync(only).ino;
  return onFolderSync(t, async (found) => {
    if (inode === undefined || found === inode) throw Object.assign(new Error('EIO: i/o error, fsync'), { code: 'EIO', syscall: 'fsync' });
  });
}

export interface HeldFolders {
  /** Resolves when a folder waits for its fsync. */
  reached(): Promise<void>;
  release(): void;
}

/** From now on, until `release` or the end of the test, the fsync of a folder waits; that of a file works. */
export async function holdFolderSyncs(t: Test): Promise<HeldFolders> {
  const held = gate();
  let waiting = 0;
  t.teardown(held.open);
  await onFolderSync(t, async () => {
    waiting += 1;
    await held.opened;
  });
  return { reached: () => until('a folder waits for its fsync', () => waiting > 0), release: held.open };
}

async function onFolderSync(t: Test, before: (inode: number) => Promise<void>): Promise<() => void> {
  const handle = await open('.');
  const prototype = Object.getPrototypeOf(handle) as { sync: FileHandle['sync'] };
  await handle.close();
  const { sync } = prototype;
  const end = (): void => {
    prototype.sync = sync;
  };
  t.teardown(end);
  prototype.sync = async function (this: FileHandle) {
    const stats = await this.stat();
    if (stats.isDirectory()) await before(stats.ino);
    return sync.call(this);
  };
  return end;
}
