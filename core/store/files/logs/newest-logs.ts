// Reads the newest log files of a block. The folder may hold anything, in any number. Only regular files are opened, never through a link, and
// never by waiting (FIFO, device). However many names there are, only the files that are newest by name are looked at. Our names contain their
// time; other names come last.
import { lstat, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { undefinedFor } from '../../../base/undefined-for.ts';
import type { LogFile } from '../../../schemas/block-api.ts';
import { hasOwnFolder } from '../regular-file.ts';
import { READ_SAFELY } from '../regular-file.ts';
import { compareLogNames, firstNames, isLogName, newestFirst } from '../../parts/log-lines.ts';
import { textOfEnd } from '../../parts/log-text.ts';

/** Names that are looked at beyond the limit, since some of the newest may not be files. */
const SPARE = 200;
/** Control characters, and the replacement for bytes that are not UTF-8. */
const UNFIT_NAME = /[\p{Cc}\ufffd]/u;
/** The file is gone, was replaced, or may not be read: one file must not hide the others. */
const undefinedIfSkipped = undefinedFor('ENOENT', 'ELOOP', 'ENXIO', 'EISDIR', 'EACCES', 'EPERM');

/**
 * The newest log files by time of modification, with the last `tailBytes` of each. A folder that does not exist has none. Throws BLOCK_DAMAGED when
 * a link or a file stands in its place, or the system's own error.
 */
export async function newestLogs(folder: string, limit = 20, tailBytes = 65536): Promise<LogFile[]> {
  const names = hasOwnFolder(folder) ? await readdir(folder) : [];
  const found = await Promise.all(newestNames(names, limit + SPARE).map((name) => look(folder, name)));
  const files = found.filter((file) => file !== undefined).sort(compareTimes);
  const logs: LogFile[] = [];
  for (const { name } of files) {
    if (logs.length >= limit) break;
    const log = await readLog(folder, name, tailBytes);
    if (log !== undefined) logs.push(log);
  }
  return logs;
}

function newestNames(names: readonly string[], count: number): string[] {
  const fit = names.filter((name) => !UNFIT_NAME.test(name));
  const ours = firstNames(fit.filter(isLogName), count, newestFirst);
  if (ours.length >= count) return ours;
  const foreign = fit.filter((name) => !isLogName(name));
  return [...ours, ...firstNames(foreign, count - ours.length, newestFirst)];
}

interface Found {
  readonly name: string;
  readonly mtimeNs: bigint;
}

/** Undefined if it is not a regular file, or is gone. */
async function look(folder: string, name: string): Promise<Found | undefined> {
  const stats = await lstat(join(folder, name), { bigint: true }).catch(undefinedIfSkipped);
  return stats?.isFile() ? { name, mtimeNs: stats.mtimeNs } : undefined;
}

/** Newest first; names decide between equal times. */
function compareTimes(a: Found, b: Found): number {
  return a.mtimeNs === b.mtimeNs ? compareLogNames(a.name, b.name) : a.mtimeNs < b.mtimeNs ? 1 : -1;
}

async function readLog(folder: string, name: string, tailBytes: number): Promise<LogFile | undefined> {
  const file = await open(join(folder, name), READ_SAFELY).catch(undefinedIfSkipped);
  if (file === undefined) return undefined;
  try {
    const stats = await file.stat();
    if (!stats.isFile()) return undefined;
    const from = Math.max(0, stats.size - tailBytes);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(stats.size - from), 0, stats.size - from, from);
    const content = textOfEnd(buffer.subarray(0, bytesRead), from > 0);
    return { file: name, content, size: stats.size, modifiedAt: stats.mtime.toISOString(), truncated: from > 0 };
  } finally {
    await file.close();
  }
}
