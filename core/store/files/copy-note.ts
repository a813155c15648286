// `.copy.json`: the folder holds a copy of another workspace that no server has used yet.
//
// not-half: a copy that is not whole is used by no server.
// used-once: a server that starts removes the note, since from then on the folder is a workspace of its own, which no later copy may replace.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { CopyNote } from '../parts/copied.ts';
import { halfCopy, parseNote } from '../parts/copy-note.ts';
import { readRegular } from './regular-file.ts';

/** The file's name in a workspace. */
export const COPY_NOTE = '.copy.json';
const MAX_BYTES = 16_384;

/** Undefined where there is none. */
export async function readCopyNote(workspace: string): Promise<CopyNote | undefined> {
  const bytes = await readRegular(join(workspace, COPY_NOTE), MAX_BYTES);
  return bytes && parseNote(bytes.toString());
}

/** For a server that has the lock. Rejects with WORKSPACE_DAMAGED (not-half). */
export async function useCopy(workspace: string): Promise<void> {
  const note = await readCopyNote(workspace);
  if (note?.isWhole === false) throw halfCopy(workspace, note);
  if (note !== undefined) await rm(join(workspace, COPY_NOTE), { force: true }); // used-once
}
