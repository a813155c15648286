// The stamp of a file: a text that changes with any change of the file, found without reading it.
import { type BigIntStats, lstatSync } from 'node:fs';

/** The stamp of a missing file. */
export const MISSING = 'missing';
/** For a file that is not the one that was `written`; no file has this stamp. */
const UNKNOWN = 'unknown';

/**
 * The stamp of the file at `path`. With `written`, the metadata of what was just written there, the stamp is unknown if another file has come in its
 * place. Never throws: a file that can't be looked at has the stamp of that fault.
 */
export function stampOf(path: string, written?: BigIntStats): string {
  const found = look(path);
  if (typeof found === 'string') return found;
  if (written !== undefined && (found.ino !== written.ino || found.size !== written.size || found.mtimeNs !== written.mtimeNs)) return UNKNOWN;
  // An edit may restore the modification time, but no program can set ctime.
  return `${found.ino}:${found.size}:${found.mtimeNs}:${found.ctimeNs}`;
}

/** The stamps of several files as one number, which is cheap to make and to keep for thousands of them. Never throws. */
export function stampOfAll(paths: Iterable<string>): number {
  let stamp = 0;
  const mix = (value: number): void => {
    stamp = Math.imul(stamp ^ value, 0x01000193) ^ (stamp >>> 15);
  };
  for (const path of paths) {
    const found = look(path);
    if (typeof found === 'string') mix(found.length);
    else for (const part of [found.ino, found.size, found.mtimeNs, found.ctimeNs]) mix(Number(BigInt.asUintN(32, part)));
  }
  return stamp;
}

/** An exception costs ten times what the look costs, and a block that has never run lacks most of its files. */
function look(path: string): BigIntStats | string {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false }) ?? MISSING;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ENOTDIR' ? MISSING : `!${code}`;
  }
}

/** A program that empties a file and then fills it does so within this time. */
const FRESH_MS = 1000;

/** True for a file that was written a moment ago, by the clock that gave it its time. */
export function isFresh(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found !== undefined && Math.abs(Date.now() - found.mtimeMs) < FRESH_MS;
}
