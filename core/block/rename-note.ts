// archive/.rename.json: a rename that is under way, so that the next start can end what a crash has interrupted.
//
// noted-first: the note is on disk before anything moves, and leaves when the block is where it belongs and runs as it did.
// not-acknowledged: a rename whose block was still in the archive did not happen, since nobody has been told that it did: the block gets its old name back.
import { lstatSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { compile, type Validator } from '../schemas/validate.ts';
import { replaceFile } from '../workspace/atomic-file.ts';
import { parseBytes } from '../workspace/json-bytes.ts';
import { readRegular } from '../workspace/regular-file.ts';
import type { BlockFolders } from './block-folders.ts';
import { configIn } from './config-in-folder.ts';
import { formatFile } from './document-codecs.ts';

/** A rename that has begun. */
export interface RenameNote {
  readonly from: string;
  readonly to: string;
  /** Whether the block's monitor ran. */
  readonly wasRunning: boolean;
  /** ISO 8601: the block was archived after this. */
  readonly at: string;
}

/** The file's name in the archive. */
export const RENAME_NOTE = '.rename.json';
const MAX_BYTES = 4096;
const check: Validator<RenameNote> = compile({
  type: 'object',
  required: ['from', 'to', 'wasRunning', 'at'],
  properties: { from: { type: 'string' }, to: { type: 'string' }, wasRunning: { type: 'boolean' }, at: { type: 'string' } },
});

const pathOf = ({ archive }: BlockFolders): string => join(archive, RENAME_NOTE);

/** Rejects with STORAGE_FULL or STORAGE_FAILED; then nothing may move. noted-first. */
export async function noteRename(folders: BlockFolders, note: RenameNote): Promise<void> {
  await replaceFile(pathOf(folders), formatFile(note));
}

/** The rename is over. */
export async function forgetRename(folders: BlockFolders): Promise<void> {
  await rm(pathOf(folders), { force: true });
}

/**
 * Ends a rename that a crash has interrupted. Resolves with the name that the block has now; undefined without one. Rejects when the block can't be
 * moved; the note stays then, and the block is where it was.
 */
export async function endRename(folders: BlockFolders, now: number): Promise<string | undefined> {
  const bytes = await readRegular(pathOf(folders), MAX_BYTES);
  if (bytes === undefined) return undefined;
  const note = parseBytes(bytes);
  check(note);
  const { from, to, wasRunning, at } = note;
  const left = (await folders.list()).find(({ originalName, archivedAt }) => originalName === from && archivedAt >= at);
  if (left !== undefined) {
    const config = await configIn(folders.archivedFolder(left), from, now);
    const unconfirmed = await folders.restore(left, { ...config, enabled: wasRunning }); // not-acknowledged
    if (unconfirmed !== undefined) throw unconfirmed;
  }
  const name = left !== undefined || isThere(folders, from) ? from : to;
  if (left === undefined && wasRunning && isThere(folders, name)) await runAgain(folders, name, now);
  await forgetRename(folders);
  return name;
}

/** The move switches the wish off, and the start after it had no time to switch it on. */
async function runAgain(folders: BlockFolders, name: string, now: number): Promise<void> {
  const folder = folders.folderOf(name);
  const config = await configIn(folder, name, now);
  await replaceFile(join(folder, 'config.json'), formatFile({ ...config, enabled: true }));
}

function isThere(folders: BlockFolders, name: string): boolean {
  return lstatSync(folders.folderOf(name), { throwIfNoEntry: false })?.isDirectory() === true;
}
