// The files of a block's folder as a bundle. Only regular files are packed, never through a link.
import { lstatSync } from 'node:fs';
import { type FileHandle, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { undefinedFor } from '../../../base/undefined-for.ts';
import { ALL_BLOCK_FOLDERS, BLOCK_FILE_LIMITS, SKILLS_FOLDER } from '../../parts/block-layout.ts';
import { bundledFileLimit, isBundledFolder, MAX_BUNDLE_BYTES, MAX_BUNDLE_ENTRIES } from '../../parts/bundle-names.ts';
import { assertBundleSize, type BundleFile, packed, tooLarge } from '../../parts/bundle-pack.ts';
import { hasOwnFolder } from '../regular-file.ts';
import { READ_SAFELY } from '../regular-file.ts';

/** Files whose texts were already checked, by name: these texts are packed, and the disk is not read again. */
export type CheckedFiles = Readonly<Record<string, string>>;

/**
 * The block in `folder`, in a folder named `prefix`. Throws INVALID_REQUEST when it is too large, BLOCK_DAMAGED when one of its folders is a link,
 * otherwise the system's own error.
 */
export async function packFolder(folder: string, prefix: string, checked: CheckedFiles = {}): Promise<Uint8Array> {
  const paths = await pathsIn(folder);
  assertBundleSize(paths.length);
  return packed(prefix, filesOf(folder, prefix, paths, checked));
}

async function* filesOf(folder: string, prefix: string, paths: readonly string[], checked: CheckedFiles): AsyncGenerator<BundleFile> {
  let room = MAX_BUNDLE_BYTES;
  for (const path of paths) {
    const text = checked[path];
    const file =
      text === undefined ? await readFrom(folder, path, (size) => assertRoom(prefix, path, size, room)) : { bytes: Buffer.from(text), mtime: new Date() };
    if (file === undefined) continue;
    room -= file.bytes.length;
    yield { path, ...file };
  }
}

function assertRoom(prefix: string, path: string, size: number, room: number): void {
  const left = Math.min(room, bundledFileLimit(path) ?? 0);
  if (size > left) throw tooLarge(prefix, path, size, left);
}

/** Undefined if it is gone, or no regular file. */
async function readFrom(folder: string, path: string, check: (size: number) => void): Promise<Omit<BundleFile, 'path'> | undefined> {
  const file = await open(join(folder, path), READ_SAFELY).catch(undefinedFor('ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO'));
  if (file === undefined) return undefined;
  try {
    return await readWhole(file, check);
  } finally {
    await file.close();
  }
}

async function readWhole(file: FileHandle, check: (size: number) => void): Promise<Omit<BundleFile, 'path'> | undefined> {
  const stats = await file.stat();
  if (!stats.isFile()) return undefined;
  check(stats.size);
  // Only what `stats` has seen: a log may grow while it is read.
  const { buffer, bytesRead } = await file.read(Buffer.alloc(stats.size), 0, stats.size, 0);
  return { bytes: buffer.subarray(0, bytesRead), mtime: stats.mtime };
}

/** The paths of files that may be packed. They need not exist. */
async function pathsIn(folder: string): Promise<string[]> {
  const paths = Object.keys(BLOCK_FILE_LIMITS);
  for (const inner of ALL_BLOCK_FOLDERS) {
    if (!hasOwnFolder(join(folder, inner))) continue;
    const entries = await readdir(join(folder, inner), { withFileTypes: true });
    const names = entries.filter((entry) => entry.isFile()).map(({ name }) => `${inner}/${name}`);
    paths.push(...names.filter((path) => bundledFileLimit(path) !== undefined).sort());
  }
  await addSkills(folder, SKILLS_FOLDER, paths);
  return paths;
}

/** A link in the place of a folder is no part of the block, as everywhere in skills. */
async function addSkills(folder: string, inner: string, paths: string[]): Promise<void> {
  if (lstatSync(join(folder, inner), { throwIfNoEntry: false })?.isDirectory() !== true) return;
  const entries = await readdir(join(folder, inner), { withFileTypes: true });
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (paths.length > MAX_BUNDLE_ENTRIES) return; // which is refused
    const path = `${inner}/${entry.name}`;
    if (entry.isDirectory() && isBundledFolder(path)) await addSkills(folder, path, paths);
    else if (entry.isFile() && bundledFileLimit(path) !== undefined) paths.push(path);
  }
}
