// What a folder directly contains, to be compared with what it contained before.
import { type BigIntStats, lstatSync, opendirSync } from 'node:fs';
import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { undefinedFor } from '../../base/undefined-for.ts';

/** For each name, a text that changes with any change of the entry. */
export type FolderContents = ReadonlyMap<string, string>;

/** Names looked at; a block has about ten. */
const MAX_NAMES = 1000;
const LINKED = ':linked';
const undefinedIfGone = undefinedFor('ENOENT', 'ENOTDIR', 'ELOOP');

/** A text that differs from that of another folder with the same name. Undefined when there is no folder, or a link. Throws the system's own error. */
export function folderIdentity(folder: string): string | undefined {
  const stats = ifThere(() => lstatSync(folder, { bigint: true }));
  return stats?.isDirectory() ? `${stats.dev}:${stats.ino}:${stats.birthtimeNs}` : undefined;
}

/** The contents at this moment. Empty when there is no folder. Throws the system's own error. */
export function contentsNow(folder: string): FolderContents {
  const contents = new Map<string, string>();
  const entries = ifThere(() => opendirSync(folder));
  if (entries === undefined) return contents;
  try {
    for (let entry = entries.readSync(); entry !== null && contents.size < MAX_NAMES; entry = entries.readSync()) {
      const path = join(folder, entry.name);
      const stats = ifThere(() => lstatSync(path, { bigint: true }));
      if (stats !== undefined) contents.set(entry.name, textOf(stats));
    }
  } finally {
    entries.closeSync();
  }
  return contents;
}

/** The same, asynchronously, so that a slow disk doesn't block other work. */
export async function readContents(folder: string): Promise<FolderContents> {
  const contents = new Map<string, string>();
  const entries = await opendir(folder).catch(undefinedIfGone);
  if (entries === undefined) return contents;
  // Leaving the loop closes the folder.
  for await (const { name } of entries) {
    const stats = await lstat(join(folder, name), { bigint: true }).catch(undefinedIfGone);
    if (stats !== undefined) contents.set(name, textOf(stats));
    if (contents.size >= MAX_NAMES) break;
  }
  return contents;
}

/** The names that were added, changed or removed. */
export function differences(before: FolderContents, after: FolderContents): string[] {
  const removed = [...before.keys()].filter((name) => !after.has(name));
  return [...[...after.keys()].filter((name) => before.get(name) !== after.get(name)), ...removed];
}

/** True for a file that has other names, too (hard links), by its text. */
export function hasOtherNames(text: string): boolean {
  return text.endsWith(LINKED);
}

function textOf(stats: BigIntStats): string {
  const { ino, size, ctimeNs, nlink } = stats;
  return `${ino}:${size}:${ctimeNs}${stats.isFile() && nlink > 1n ? LINKED : ''}`;
}

function ifThere<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    return undefinedIfGone(error as NodeJS.ErrnoException);
  }
}
