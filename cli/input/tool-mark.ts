// The mark that the processes of tools of a workspace have in their environment, as its running server has written it down.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isObject, tryParseJson } from '../../core/base/json.ts';

/** Undefined where no tools have run. Rejects with the error of the system where the file can't be read. */
export async function markOf(workspace: string): Promise<string | undefined> {
  const text = await readFile(join(workspace, '.servers.json'), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  const book = tryParseJson(text);
  return isObject(book) && typeof book['mark'] === 'string' ? book['mark'] : undefined;
}
