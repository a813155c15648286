// The files of an exported block: one list for export and import. Pure: no I/O.
import { isTemporaryName } from './temporary-name.ts';
import { ALL_BLOCK_FOLDERS, BLOCK_FILE_LIMITS, type FileLimits, SKILL_FILES, SKILLS_FOLDER } from './block-layout.ts';

/** Bytes of all files together, before compression. */
export const MAX_BUNDLE_BYTES = 256 * 1024 * 1024;
/** Files and folders. `logs.maxFiles` is 1000 at most, and the archive of a chat grows by one file a month. Each is flushed to the disk, so this many take some seconds. */
export const MAX_BUNDLE_ENTRIES = 2500;

/** Control characters, the replacement for bytes that are not UTF-8, and the characters that separate folders on some systems. */
const UNFIT = /[\p{Cc}\ufffd\\/]/u;
const MAX_NAME_BYTES = 255;

/** How many bytes the file at this path inside the block's folder may have; undefined for a path that a bundle must not hold. */
export function bundledFileLimit(path: string): number | undefined {
  const [first = '', name, ...more] = path.split('/');
  if (name === undefined) return Object.hasOwn(BLOCK_FILE_LIMITS, first) ? (BLOCK_FILE_LIMITS as Record<string, FileLimits>)[first]?.bytes : undefined;
  if (first === SKILLS_FOLDER) return more.length > 0 && isInSkill([name, ...more]) ? SKILL_FILES.bytes : undefined;
  return more.length === 0 && ALL_BLOCK_FOLDERS.includes(first) && isFit(name) ? MAX_BUNDLE_BYTES : undefined;
}

/** True for the path of a folder that a bundle may hold. */
export function isBundledFolder(path: string): boolean {
  const [first = '', ...inner] = path.split('/');
  return ALL_BLOCK_FOLDERS.includes(path) || (first === SKILLS_FOLDER && (inner.length === 0 || (inner.length <= SKILL_FILES.depth && isInSkill(inner))));
}

/** The name of a skill, and what lies in it. Hidden files are no part of a skill. */
function isInSkill(inner: readonly string[]): boolean {
  return inner.length <= SKILL_FILES.depth + 1 && inner.every((name) => isFit(name) && !name.startsWith('.'));
}

function isFit(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !UNFIT.test(name) && Buffer.byteLength(name) <= MAX_NAME_BYTES && !isTemporaryName(name);
}
