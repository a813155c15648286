// The disk space of a block.
import { lstatSync } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { join } from 'node:path';

/** The number of files in a folder and its subfolders, and their bytes; links are not followed. Empty if part of it can't be read. */
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
