// Whether the disk takes a few bytes, how long that takes, and how much room it has.
import { randomUUID } from 'node:crypto';
import { open, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { toBlockhouseError } from '../../errors.ts';
import type { DeepHealth } from '../../types.ts';

/** A disk that takes longer is as good as none. */
const PATIENCE_MS = 5000;

/** Writes some bytes to the disk, flushes them, and takes them away. */
export async function lookAtDisk(workspace: string): Promise<DeepHealth['disk']> {
  const path = join(workspace, `.health-${randomUUID()}.tmp`);
  const begin = performance.now();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`The disk did not take a few bytes within ${PATIENCE_MS / 1000} s.`)), PATIENCE_MS);
  });
  try {
    await Promise.race([writeThrough(path), late]);
    const { bavail, bsize } = await Promise.race([statfs(workspace), late]);
    return { freeBytes: bavail * bsize, writeMs: Math.round(performance.now() - begin), error: null };
  } catch (error) {
    return { freeBytes: null, writeMs: null, error: toBlockhouseError(error).code === 'STORAGE_FULL' ? 'The disk is full.' : (error as Error).message };
  } finally {
    clearTimeout(timer);
  }
}

async function writeThrough(path: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile('ok\n');
    await file.sync();
  } finally {
    await file.close();
    await rm(path, { force: true });
  }
}
