// The folder of notifications, `notify/`: a small JSON file for each thing, mode 0600, because some hold what opens a decision.
import { readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { undefinedFor } from '../../base/undefined-for.ts';
import { parseBytes } from '../../base/strict-json.ts';
import { ensureFolder, isTemporaryName, replaceFile, syncFolder } from './atomic-file.ts';
import { readRegular } from './regular-file.ts';

/** Its name in a workspace. */
export const NOTICE_FOLDER = 'notify';
const MAX_BYTES = 64 * 1024;
const ENDING = '.json';

/** The folder of one workspace. */
export class NoticeFolder {
  readonly #path: string;
  readonly #made = new Set<string>();

  constructor(workspace: string) {
    this.#path = join(workspace, NOTICE_FOLDER);
  }

  async all(folder: string, onBad: (name: string, error: unknown) => void): Promise<readonly (readonly [name: string, value: unknown])[]> {
    const path = join(this.#path, folder);
    const files = (await readdir(path).catch(undefinedFor('ENOENT'))) ?? [];
    const found: (readonly [string, unknown])[] = [];
    for (const file of files.sort()) {
      if (isTemporaryName(file)) {
        await unlink(join(path, file)).catch(undefinedFor('ENOENT')); // of a write that a crash has cut off
        continue;
      }
      if (!file.endsWith(ENDING)) continue;
      try {
        const bytes = await readRegular(join(path, file), MAX_BYTES);
        if (bytes !== undefined) found.push([file.slice(0, -ENDING.length), parseBytes(bytes)]);
      } catch (error) {
        onBad(`${NOTICE_FOLDER}/${folder}/${file}`, error);
      }
    }
    return found;
  }

  async write(folder: string, name: string, value: unknown): Promise<void> {
    const path = join(this.#path, folder);
    if (!this.#made.has(folder)) await ensureFolder(path);
    this.#made.add(folder);
    await replaceFile(join(path, `${name}${ENDING}`), `${JSON.stringify(value)}\n`).catch((error: unknown) => {
      this.#made.delete(folder); // somebody may have removed it
      throw error;
    });
  }

  async remove(folder: string, name: string): Promise<void> {
    const path = join(this.#path, folder);
    await unlink(join(path, `${name}${ENDING}`)).catch(undefinedFor('ENOENT'));
    await syncFolder(path).catch(undefinedFor('ENOENT'));
  }
}
