// Where a block lies, for commands that must know whether there is one before they call the server.
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { nearest } from '../../core/base/closest.ts';
import { errorCodeOf } from '../terminal/exit-codes.ts';

/** No block has another name, and `..` would lead out of the folder. */
const NAME = /^[a-z0-9][a-z0-9-]{0,31}$/;

/** Whether a text could be the name of a block. */
export function mayBeBlock(text: string): boolean {
  return NAME.test(text);
}

/** Whether the workspace has a block of this name. */
export async function isBlock(workspace: string, name: string): Promise<boolean> {
  if (!mayBeBlock(name)) return false;
  try {
    return (await stat(join(workspace, 'blocks', name))).isDirectory();
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT' || errorCodeOf(error) === 'ENOTDIR') return false;
    throw error;
  }
}

/** The block with the closest name, for 'did you mean'; undefined if no name is close. */
export async function nearestBlock(workspace: string, word: string): Promise<string | undefined> {
  try {
    return nearest(word, (await readdir(join(workspace, 'blocks'))).filter(mayBeBlock));
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT' || errorCodeOf(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}
