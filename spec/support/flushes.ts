// Counts what this process flushes to the disk: every fsync of the product goes through a FileHandle.
import { type FileHandle, open } from 'node:fs/promises';
import type { Test } from 'tap';

/** Counts from now on until the test ends. Returns the count. */
export async function countFlushes(t: Test): Promise<() => number> {
  const handle = await open('/');
  const prototype = Object.getPrototypeOf(handle) as Pick<FileHandle, 'sync' | 'datasync'>;
  await handle.close();
  const { sync, datasync } = prototype;
  let count = 0;
  prototype.sync = function (this: FileHandle) {
    count += 1;
    return sync.call(this);
  };
  prototype.datasync = function (this: FileHandle) {
    count += 1;
    return datasync.call(this);
  };
  t.teardown(() => Object.assign(prototype, { sync, datasync }));
  return () => count;
}
