// A turn among all processes that have this workspace: a file that only one of them can make.
//
// not-for-ever: a file that is older than any work may take was left by a process that has died, and is removed.
import { open, stat, unlink } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

const LOOK_MS = 50;

/** Does `work` while no other process does work with this file. `longestMs`: no work takes longer. */
export async function inTurn<T>(path: string, longestMs: number, work: () => Promise<T>): Promise<T> {
  while (!(await isMade(path))) {
    const age = await ageOf(path);
    if (age > longestMs)
      await unlink(path).catch(ifGone); // not-for-ever
    else await delay(LOOK_MS);
  }
  try {
    return await work();
  } finally {
    await unlink(path).catch(ifGone);
  }
}

async function isMade(path: string): Promise<boolean> {
  try {
    await (await open(path, 'wx', 0o600)).close();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Milliseconds; 0 once it is gone. */
async function ageOf(path: string): Promise<number> {
  const found = await stat(path).catch(ifGone);
  return found === undefined ? 0 : Math.abs(Date.now() - found.mtimeMs);
}

function ifGone(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
  return undefined;
}
