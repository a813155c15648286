// archive/.rename.json: a rename that is under way, so that the next start can end what a crash has interrupted.
//
// noted-first: the note is on disk before anything moves, and leaves when the block is where it belongs and runs as it did.
// not-acknowledged: a rename whose block was still in the archive did not happen, since nobody has been told that it did: the block gets its old name back.
import { lstatSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { parseBytes } from '../../../base/strict-json.ts';
import { formatFile } from '../../../block/documents/document-codecs.ts';
import { BlockhouseError, toBlockhouseError } from '../../../errors.ts';
import type { ArchiveInfo } from '../../../schemas/block-api.ts';
import { compile, type Validator } from '../../../schemas/validate.ts';
import type { Rename } from '../../store.ts';
import { replaceFile } from '../atomic-file.ts';
import { readRegular } from '../regular-file.ts';
import type { BlockFolders } from './block-folders.ts';
import { configIn } from './config-in-folder.ts';

/** The file's name in the archive. */
export const RENAME_NOTE = '.rename.json';
const MAX_BYTES = 4096;
const check: Validator<Rename> = compile({
  type: 'object',
  required: ['from', 'to', 'wasRunning', 'at'],
  properties: { from: { type: 'string' }, to: { type: 'string' }, wasRunning: { type: 'boolean' }, at: { type: 'string' } },
});

const pathOf = ({ archive }: BlockFolders): string => join(archive, RENAME_NOTE);

/** Rejects with STORAGE_FULL or STORAGE_FAILED; then nothing may move. noted-first. */
export async function noteRename(folders: BlockFolders, note: Rename): Promise<void> {
  await replaceFile(pathOf(folders), formatFile(note));
}

/** The rename is over. */
export async function forgetRename(folders: BlockFolders): Promise<void> {
  await rm(pathOf(folders), { force: true });
}

/**
 * Ends a rename that a crash has interrupted; without one, nothing happens. Resolves with the rename if its block has the new name: its note stays until
 * `forgetRename`. Rejects when the block can't be moved; the note stays then, and the block is where it was.
 */
export async function endRename(folders: BlockFolders, now: number): Promise<Rename | undefined> {
  const bytes = await readRegular(pathOf(folders), MAX_BYTES);
  if (bytes === undefined) return undefined;
  const note = parseBytes(bytes);
  check(note);
  const left = (await folders.list()).find(({ originalName, archivedAt }) => originalName === note.from && archivedAt >= note.at);
  if (left !== undefined) await putBack(folders, left, note, now);
  else if (note.wasRunning) await runAgain(folders, note, now);
  if (left === undefined && isThere(folders, note.to) && !isThere(folders, note.from)) return note;
  await forgetRename(folders);
  return undefined;
}

/** not-acknowledged. */
async function putBack(folders: BlockFolders, left: ArchiveInfo, { from, to, wasRunning }: Rename, now: number): Promise<void> {
  const { archiveName } = left;
  const config = await configIn(folders.archivedFolder(left), from, now);
  const unconfirmed = await folders.restore(left, { ...config, enabled: wasRunning }).catch((error: unknown) => {
    if (toBlockhouseError(error).code !== 'NAME_TAKEN') throw error;
    const cure = `Restore it with \`blockhouse restore ${archiveName} --as ${to}\`, or free the name and start the server again.`;
    const problem = `The rename of ${from} to ${to} was interrupted, and the block is in the archive as ${archiveName}, because another block is called ${from} now.`;
    throw new BlockhouseError('NAME_TAKEN', `${problem} ${cure}`, { cause: error });
  });
  if (unconfirmed !== undefined) throw unconfirmed;
}

/** A move switches the wish off, and the start after it had no time to switch it on. A younger block that took one of the names meanwhile is another one. */
async function runAgain(folders: BlockFolders, { from, to, at }: Rename, now: number): Promise<void> {
  for (const name of [to, from]) {
    if (!isThere(folders, name)) continue;
    const folder = folders.folderOf(name);
    const config = await configIn(folder, name, now);
    if (config.createdAt > at) continue;
    await replaceFile(join(folder, 'config.json'), formatFile({ ...config, enabled: true }));
    return;
  }
}

function isThere(folders: BlockFolders, name: string): boolean {
  return lstatSync(folders.folderOf(name), { throwIfNoEntry: false })?.isDirectory() === true;
}
