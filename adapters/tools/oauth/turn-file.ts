// A turn among all processes that have this workspace: a file that only one of them can make.
//
// not-for-ever: a file of a process of this machine that is gone, or that is older than any work may take, was left by a process that has died, and is removed.
import { open, readFile, stat, unlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { isObject, tryParseJson } from '../../../core/base/json.ts';

const LOOK_MS = 50;

/** Does `work` while no other process does work with this file. `longestMs`: no work takes longer. */
export async function inTurn<T>(path: string, longestMs: number, work: () => Promise<T>): Promise<T> {
  while (!(await isMade(path))) {
    if ((await ageOf(path)) > longestMs || (await isLeft(path)))
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
    const file = await open(path, 'wx', 0o600);
    await file.writeFile(JSON.stringify({ host: hostname(), pid: process.pid })).finally(() => file.close());
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

/** True if its process was one of this machine, and is gone. A process of another machine can't be looked at. */
async function isLeft(path: string): Promise<boolean> {
  const holder = tryParseJson((await readFile(path, 'utf8').catch(ifGone)) ?? '');
  if (!isObject(holder) || holder['host'] !== hostname() || typeof holder['pid'] !== 'number' || holder['pid'] <= 0) return false;
  try {
    process.kill(holder['pid'], 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

function ifGone(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
  return undefined;
}
