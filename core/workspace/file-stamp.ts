// What tells a file from itself after a change, without reading it.
import { type BigIntStats, lstatSync } from 'node:fs';

/** Of no file at all. */
export const MISSING = 'missing';
/** Equal to no other: for a file that is not the one that was `written`. */
const UNKNOWN = 'unknown';

/** Never throws: a file that can't be looked at has the stamp of that fault. */
export function stampOf(path: string, written?: BigIntStats): string {
  try {
    const found = lstatSync(path, { bigint: true });
    if (written !== undefined && (found.ino !== written.ino || found.size !== written.size || found.mtimeNs !== written.mtimeNs)) return UNKNOWN;
    // ctime: an edit may put the modification time back, but this one no program can set.
    return `${found.ino}:${found.size}:${found.mtimeNs}:${found.ctimeNs}`;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ENOTDIR' ? MISSING : `!${code}`;
  }
}

/** Whoever fills a file that was emptied does so within this time. */
const FRESH_MS = 1000;

/** True for a file that was written a moment ago, by the clock that gave it its time. */
export function isFresh(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found !== undefined && Math.abs(Date.now() - found.mtimeMs) < FRESH_MS;
}
