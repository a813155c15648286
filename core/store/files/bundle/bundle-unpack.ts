// Unpacks a bundle into files. The archive may come from anywhere, so nothing in it is trusted; the rules are in bundle-entries.ts.
import { constants } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { ParsedTarEntry } from 'modern-tar';
import { storageFault, syncFolder } from '../atomic-file.ts';
import { bundleEntries, unreadable } from '../../parts/bundle-entries.ts';

const WRITE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/**
 * Writes the files of a bundle into an existing, empty folder, mode 0600. All entries are checked before the first one is written, because writing
 * takes far longer. Throws INVALID_REQUEST, which names the entry, for anything that is not the bundle of a block, STORAGE_FULL, or the system's own
 * error; what was written by then stays, for the caller to remove with the folder.
 */
export async function unpackInto(bytes: Uint8Array, folder: string): Promise<void> {
  for await (const { entry } of bundleEntries(bytes)) await entry.body.cancel().catch(unreadable);
  const made = new Set<string>();
  for await (const { path, isFolder, entry } of bundleEntries(bytes)) {
    const inner = isFolder ? path : path.split('/').slice(0, -1).join('/');
    for (const each of withParents(inner)) if (!made.has(each)) await mkdir(join(folder, each), { mode: 0o700 }).catch(storageFault);
    for (const each of withParents(inner)) made.add(each);
    if (isFolder) await entry.body.cancel().catch(unreadable);
    else await writeEntry(join(folder, path), entry).catch(fault);
  }
  for (const inner of made) await syncFolder(join(folder, inner));
  await syncFolder(folder);
}

/** A folder and those that it lies in, the outermost first. */
function withParents(path: string): string[] {
  const names = path.split('/').filter((name) => name !== '');
  return names.map((_, index) => names.slice(0, index + 1).join('/'));
}

/** Never writes over a file. On disk when it resolves. */
async function writeEntry(path: string, { header, body }: ParsedTarEntry): Promise<void> {
  const file = await open(path, WRITE, 0o600);
  try {
    for await (const chunk of body) await file.writeFile(chunk);
    // Logs are sorted by their time.
    if (header.mtime !== undefined && !Number.isNaN(header.mtime.getTime())) await file.utimes(header.mtime, header.mtime);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Errors of the system have a system call; all others come from reading the archive. */
function fault(error: unknown): never {
  if ((error as NodeJS.ErrnoException).syscall !== undefined) storageFault(error);
  unreadable(error);
}
