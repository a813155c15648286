// How much of the disk a block takes.
import { lstatSync } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { join } from 'node:path';

/** The files in a folder, also in the folders inside it, and their bytes together; links are not followed. Empty when not all of it can be looked at. */
export async function measure(folder: string): Promise<{ readonly sizeBytes?: number; readonly files?: number }> {
  let sizeBytes = 0;
  let files = 0;
  try {
    for await (const item of await opendir(folder, { recursive: true })) {
      if (!item.isFile()) continue;
      sizeBytes += lstatSync(join(item.parentPath, item.name), { throwIfNoEntry: false })?.size ?? 0;
      files += 1;
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    return {};
  }
  return { sizeBytes, files };
}
