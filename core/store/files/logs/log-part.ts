// Reads a part of one log file, for people who scroll back. Only a regular file that lies in the folder is opened, never through a link.

import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { undefinedFor } from '../../../base/undefined-for.ts';
import { BlockhouseError } from '../../../errors.ts';
import type { LogPart } from '../../../schemas/block-api.ts';
import { assertPartSize, noLogFile, startOfLine, USUAL_PART_BYTES } from '../../parts/log-text.ts';
import type { LogRange } from '../../port.ts';
import { hasOwnFolder } from '../regular-file.ts';
import { READ_SAFELY } from '../regular-file.ts';

const undefinedIfGone = undefinedFor('ENOENT', 'ELOOP', 'ENXIO', 'EISDIR');

/**
 * The last whole lines before a place in a file; the beginning of a line only if it alone is longer than the limit. Throws INVALID_REQUEST naming the
 * field, BLOCK_DAMAGED, or the system's own error.
 */
export async function readLogPart(folder: string, name: string, { before, maxBytes = USUAL_PART_BYTES }: LogRange): Promise<LogPart> {
  assertPartSize(maxBytes);
  // The name is compared with those that are there, and so never leads out of the folder.
  const isThere = hasOwnFolder(folder) && (await readdir(folder)).includes(name);
  const file = isThere ? await open(join(folder, name), READ_SAFELY).catch(undefinedIfGone) : undefined;
  if (file === undefined) throw noLogFile();
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw new BlockhouseError('BLOCK_DAMAGED', `logs/${name} is not a file. Remove it by hand.`);
    const to = Math.min(before ?? stats.size, stats.size);
    // With the byte before it, which says whether a line begins there.
    const from = Math.max(0, to - maxBytes - 1);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(to - from), 0, to - from, from);
    const bytes = buffer.subarray(0, bytesRead);
    const start = to <= maxBytes ? 0 : startOfLine(bytes);
    return {
      file: name,
      from: from + start,
      to: from + bytesRead,
      size: stats.size,
      content: bytes.toString('utf8', start),
      modifiedAt: stats.mtime.toISOString(),
    };
  } finally {
    await file.close();
  }
}
