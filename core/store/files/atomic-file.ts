// Replaces a file so that a reader, a crash or a power cut finds the old content whole or the new content whole.
//
// A temporary file in the same folder is created exclusively, with mode 0600, never through a link. All bytes are written and the size is checked
// before it is renamed. File and folder are fsynced before the promise resolves, except for files that can be rebuilt from others: a power cut may
// leave those empty. On any failure the temporary file is removed, the old content stays, and the error is thrown.
//
// same-turn: the last check of the old content and its replacement happen in one turn of the event loop, so that an edit by hand is not overwritten
//    because the disk was slow.
// no-overwrite: a copy or a file that is set aside never replaces another file.
import { randomBytes } from 'node:crypto';
import { type BigIntStats, constants, lstatSync, renameSync } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, rename, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { undefinedFor } from '../../base/undefined-for.ts';
import { BlockhouseError } from '../../errors.ts';
import { readRegular } from './regular-file.ts';

export { isTemporaryName } from '../parts/temporary-name.ts';

const WRITE_NEW = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/** Resolves with the metadata of what was written. Throws STORAGE_FULL when the disk has no room, the system's own error otherwise. */
export async function replaceFile(path: string, content: string): Promise<BigIntStats> {
  return (await replaceFileIf(path, content, () => true)) as BigIntStats;
}

/** The same, but `isUnchanged` is called right before the rename. If it returns false, nothing is changed, and it resolves with undefined. */
export async function replaceFileIf(
  path: string,
  content: string,
  isUnchanged: () => boolean,
  { durable = true }: { readonly durable?: boolean } = {},
): Promise<BigIntStats | undefined> {
  const temporary = join(dirname(path), `.${basename(path)}.${randomBytes(8).toString('hex')}.tmp`);
  const bytes = Buffer.from(content, 'utf8');
  const file = await open(temporary, WRITE_NEW, 0o600).catch(storageFault);
  try {
    const written = await writeAll(file, bytes, durable);
    if (await (durable ? renameDurably(temporary, path, isUnchanged) : renameIf(temporary, path, isUnchanged))) return written;
    await unlink(temporary);
    return undefined;
  } catch (error) {
    if (error instanceof BlockhouseError) throw error; // it was renamed
    await unlink(temporary).catch((unlinkError: unknown) => {
      throw new AggregateError([error, unlinkError], `could not replace ${basename(path)}, and its temporary file remains`);
    });
    return storageFault(error);
  }
}

/**
 * Renames durably. `mayRename` is called right before; if it returns false, nothing is changed, and it resolves with false. The folder is opened
 * first, so that after the rename only its flush can fail, which gives STORAGE_FAILED. All other errors are the system's own.
 */
export async function renameDurably(from: string, to: string, mayRename: () => boolean): Promise<boolean> {
  const folder = await open(dirname(to), constants.O_RDONLY);
  try {
    if (!renameIf(from, to, mayRename)) return false;
    await folder.sync().catch(unflushed);
    return true;
  } finally {
    await folder.close();
  }
}

/** same-turn. */
function renameIf(from: string, to: string, mayRename: () => boolean): boolean {
  if (!mayRename()) return false;
  renameSync(from, to);
  return true;
}

/** Throws STORAGE_FAILED for a change that was made but that the disk did not confirm. */
export function unflushed(error: NodeJS.ErrnoException): never {
  const message = `The change was made, but the disk did not confirm it (${error.code ?? error.message}), so a power failure could undo it. If that happens, repeat the change.`;
  throw new BlockhouseError('STORAGE_FAILED', message, { cause: error });
}

/** Writes `bytes`, the content of `path`, to a new file beside it, named by the content's time. Resolves with its name; the same content is kept once. */
export async function keepCopy(path: string, bytes: Buffer): Promise<string> {
  for (const copy of await copyNames(path)) {
    const file = await open(copy, WRITE_NEW, 0o600).catch(undefinedFor('EEXIST')).catch(storageFault);
    if (file === undefined) {
      // no-overwrite: the existing copy has other content from the same instant, or was cut short by a crash.
      if ((await readRegular(copy, bytes.length).catch(() => undefined))?.equals(bytes) === true) return basename(copy);
      continue;
    }
    await writeAll(file, bytes).catch((error: unknown) => unlink(copy).then(() => storageFault(error)));
    return basename(copy);
  }
  throw new Error('there are too many copies already');
}

/** Renames whatever is at `path` to the name that `keepCopy` would give to its copy. Resolves with that name. */
export async function setAside(path: string): Promise<string> {
  for (const copy of await copyNames(path)) {
    if (lstatSync(copy, { throwIfNoEntry: false }) !== undefined) continue; // no-overwrite
    await rename(path, copy);
    return basename(copy);
  }
  throw new Error('there are too many copies already');
}

const MAX_COPIES = 100;

async function copyNames(path: string): Promise<string[]> {
  const { mtime } = await lstat(path);
  const copy = `${path}.corrupt-${mtime.toISOString().replaceAll(/[:.]/g, '-')}`;
  return Array.from({ length: MAX_COPIES }, (_, index) => (index === 0 ? copy : `${copy}-${index + 1}`));
}

/** Writes a file that must not exist yet, mode 0600. Its content is on disk when it resolves; the folder is not synced. */
export async function writeNewFile(path: string, content: string | Uint8Array): Promise<void> {
  const file = await open(path, WRITE_NEW, 0o600).catch(storageFault);
  await writeAll(file, typeof content === 'string' ? Buffer.from(content) : Buffer.from(content.buffer, content.byteOffset, content.length)).catch(
    storageFault,
  );
}

async function writeAll(file: FileHandle, bytes: Buffer, durable = true): Promise<BigIntStats> {
  try {
    await file.writeFile(bytes);
    const stats = await file.stat({ bigint: true });
    if (stats.size !== BigInt(bytes.length)) throw new Error(`wrote ${bytes.length} bytes, but the file has ${stats.size}`);
    if (durable) await file.sync();
    return stats;
  } finally {
    await file.close();
  }
}

/**
 * Makes a folder with its parents, mode 0700. `mkdir` with `recursive` would never return if an existing parent answers ENOENT, as /proc does.
 * Throws the system's own error.
 */
export async function ensureFolder(path: string): Promise<void> {
  const made = await mkdirOnce(path);
  if (made || dirname(path) === path) return;
  await ensureFolder(dirname(path));
  await mkdir(path, { mode: 0o700 });
}

/** False when a folder above it is missing. */
async function mkdirOnce(path: string): Promise<boolean> {
  try {
    await mkdir(path, { mode: 0o700 });
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return false;
    // If it is not a folder, the next step that needs one reports it.
    if (code === 'EEXIST') return true;
    throw error;
  }
}

/** Makes creations, removals and renames in `folder` durable. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, constants.O_RDONLY).catch(storageFault);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Throws STORAGE_FULL when the disk has no room, otherwise the error itself. */
export function storageFault(error: unknown): never {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    throw new BlockhouseError('STORAGE_FULL', 'The disk is full. Nothing was changed. Free some space and try again.', { cause: error });
  }
  throw error;
}

/** The error of a failed write for the caller; `what` begins its sentence, such as "config.json can't be written". */
export function storageFailure(what: string, error: unknown): BlockhouseError {
  try {
    return storageFault(error);
  } catch (fault) {
    if (fault instanceof BlockhouseError) return fault;
    const { code, message } = fault as NodeJS.ErrnoException;
    return new BlockhouseError('STORAGE_FAILED', `${what} (${code ?? message}). Nothing was changed.`, { cause: fault });
  }
}
