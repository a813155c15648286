// Reads a part of one log file, for people who scroll back. Only a regular file that lies in the folder is opened, never through a link.

import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { undefinedFor } from '../../../base/undefined-for.ts';
import { BlockhouseError, invalidRequest } from '../../../errors.ts';
import type { LogPart } from '../../../schemas/block-api.ts';
import type { LogRange } from '../../port.ts';
import { hasOwnFolder } from '../own-folder.ts';
import { READ_SAFELY } from '../regular-file.ts';

/** The most that one part has, in bytes, and what it has by default. */
export const MAX_LOG_PART_BYTES = 1024 * 1024;
const USUAL_BYTES = 65_536;
const LF = 10;

const undefinedIfGone = undefinedFor('ENOENT', 'ELOOP', 'ENXIO', 'EISDIR');

/**
 * The last whole lines before a place in a file; the beginning of a line only if it alone is longer than the limit. Throws INVALID_REQUEST naming the
 * field, BLOCK_DAMAGED, or the system's own error.
 */
export async function readLogPart(folder: string, name: string, { before, maxBytes = USUAL_BYTES }: LogRange): Promise<LogPart> {
  if (maxBytes < 1 || maxBytes > MAX_LOG_PART_BYTES) throw invalidRequest('max', `must be a number of bytes from 1 to ${MAX_LOG_PART_BYTES}`);
  // The name is compared with those that are there, and so never leads out of the folder.
  const isThere = hasOwnFolder(folder) && (await readdir(folder)).includes(name);
  const file = isThere ? await open(join(folder, name), READ_SAFELY).catch(undefinedIfGone) : undefined;
  if (file === undefined) throw invalidRequest('file', 'names no log file of this block; GET …/logs lists them');
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

/** The index after the first line end, or else of the next whole UTF-8 character. */
function startOfLine(bytes: Buffer): number {
  const end = bytes.indexOf(LF) + 1;
  if (end > 0 && end < bytes.length) return end;
  let start = 1;
  while (start < 4 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return start;
}
