// The folders inside a block. A link in place of one would lead reads, writes and deletions out of the workspace.
import { lstatSync, type Stats } from 'node:fs';
import { basename } from 'node:path';
import { BlockhouseError } from '../../errors.ts';

/** True when there is a folder at `path`, false when there is nothing. Throws BLOCK_DAMAGED for a link and for anything else, or the system's own error. */
export function hasOwnFolder(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return false;
  if (stats.isDirectory()) return true;
  throw new BlockhouseError(
    'BLOCK_DAMAGED',
    `${basename(path)} ${foreignKind(stats)}, so nothing in it is read, written or deleted. Replace it with a folder.`,
  );
}

/** What stands where a folder should be, as the end of a sentence. */
export function foreignKind(stats: Stats): string {
  return stats.isSymbolicLink() ? 'is a link' : 'is not a folder';
}
