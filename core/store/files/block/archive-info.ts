// archive.json: facts about an archived block that are not in its other files. Reads only.
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parseBytes } from '../../../base/strict-json.ts';
import { undefinedFor } from '../../../base/undefined-for.ts';
import { BlockhouseError } from '../../../errors.ts';
import { ArchiveInfo } from '../../../schemas/block-api.ts';
import { archiveNotFound, nameInArchive, timeInArchive } from '../../../schemas/names.ts';
import { compile, type Validator } from '../../../schemas/validate.ts';
import { readRegular } from '../regular-file.ts';

/** The file's name in the folder of an archived block. */
export const ARCHIVE_INFO = 'archive.json';
const MAX_INFO_BYTES = 65_536;
/** The number of archives that are read in one turn. */
const SLICE = 50;

const checkInfo: Validator<ArchiveInfo> = compile(ArchiveInfo);

/** The archived blocks in `archive`, the newest first. */
export async function listArchives(archive: string): Promise<ArchiveInfo[]> {
  const names = (await readdir(archive, { withFileTypes: true })).filter((item) => item.isDirectory()).map(({ name }) => name);
  const infos: ArchiveInfo[] = [];
  // One after the other, because a process can't have ten thousand files open at once.
  for (const name of names) {
    const info = await archiveInfo(archive, name);
    if (info !== undefined) infos.push(info);
    if (infos.length % SLICE === 0) await nextTurn();
  }
  return infos.sort((a, b) => (a.archivedAt < b.archivedAt ? 1 : -1));
}

/** The archived block with this archive name, or with this original name if only one has it. Throws ARCHIVE_NOT_FOUND, AMBIGUOUS_ARCHIVE. */
export async function findArchive(archive: string, given: string): Promise<ArchiveInfo> {
  const info = await archiveInfo(archive, given);
  if (info !== undefined) return info;
  const archives = await listArchives(archive);
  const named = archives.filter(({ originalName }) => originalName === given);
  if (named.length > 1) {
    const choices = named.map((one) => one.archiveName).join(', ');
    throw new BlockhouseError('AMBIGUOUS_ARCHIVE', `There are ${named.length} archived blocks named ${given}. Use one of the archive names ${choices}.`);
  }
  if (named[0] === undefined) {
    throw archiveNotFound(
      given,
      archives.map(({ originalName }) => originalName),
    );
  }
  return named[0];
}

/** Undefined if there is no archived block with this name. */
async function archiveInfo(archive: string, name: string): Promise<ArchiveInfo | undefined> {
  const originalName = nameInArchive(name);
  if (originalName === undefined) return undefined;
  const stats = await lstat(join(archive, name)).catch(undefinedFor('ENOENT', 'ENOTDIR'));
  if (stats?.isDirectory() !== true) return undefined;
  const info = await readInfo(join(archive, name, ARCHIVE_INFO));
  if (info === undefined) return { archiveName: name, originalName, archivedAt: timeInArchive(name) ?? stats.mtime.toISOString() };
  return { ...info, archiveName: name, originalName };
}

/** Undefined for a file that is missing or can't be used: the block can be restored without it. */
async function readInfo(path: string): Promise<ArchiveInfo | undefined> {
  try {
    const bytes = await readRegular(path, MAX_INFO_BYTES);
    const info = bytes === undefined ? undefined : parseBytes(bytes);
    checkInfo(info);
    return info;
  } catch {
    return undefined; // the doctor and the restore check the files that matter
  }
}
