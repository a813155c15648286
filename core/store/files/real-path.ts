// Where a path really leads, also one that does not exist yet.
import { lstat, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { undefinedFor } from '../../base/undefined-for.ts';

/**
 * The absolute path with the links of its existing parents resolved; undefined for a link that leads nowhere, and where a parent can't be looked at or is no
 * folder.
 */
export async function realPathOf(path: string): Promise<string | undefined> {
  try {
    return await realpath(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(path) === path) return undefined;
    if ((await lstat(path).catch(undefinedFor('ENOENT'))) !== undefined) return undefined;
    const parent = await realPathOf(dirname(path));
    return parent === undefined ? undefined : join(parent, basename(path));
  }
}
