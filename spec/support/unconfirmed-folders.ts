// A disk that carries out what happens to folders, and does not confirm it.
import { type FileHandle, open } from 'node:fs/promises';
import type { Test } from 'tap';

/** From now on, until the test ends, the fsync of a folder fails with EIO; that of a file works. */
export async function refuseToSyncFolders(t: Test): Promise<void> {
  const handle = await open('.');
  const prototype = Object.getPrototypeOf(handle) as { sync: FileHandle['sync'] };
  await handle.close();
  const { sync } = prototype;
  t.teardown(() => {
    prototype.sync = sync;
  });
  prototype.sync = async function (this: FileHandle) {
    if ((await this.stat()).isDirectory()) throw Object.assign(new Error('EIO: i/o error, fsync'), { code: 'EIO', syscall: 'fsync' });
    return sync.call(this);
  };
}
