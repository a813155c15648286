// What an exported block consists of: the one list for both ways. Pure: no I/O.
import { isTemporaryName } from './atomic-file.ts';

/** The files of a block. */
export const BUNDLED_FILES: readonly string[] = ['config.json', 'memory.json', 'costs.json', 'pulse.json', 'chat.json'];
/** Its folders, each of which holds files only. */
export const BUNDLED_FOLDERS: readonly string[] = ['chat-archive', 'logs'];
/** Together, before compression. */
export const MAX_BUNDLE_BYTES = 256 * 1024 * 1024;
export const MAX_BUNDLE_ENTRIES = 20_000;

/** Control characters, what stands for bytes that are no UTF-8, and what separates folders on some systems. */
const UNFIT = /[\p{Cc}\ufffd\\/]/u;
const MAX_NAME_BYTES = 255;

/** True for a path inside the block's folder that a bundle may hold. */
export function isBundledFile(path: string): boolean {
  const [folder = '', name, ...more] = path.split('/');
  if (name === undefined) return BUNDLED_FILES.includes(folder);
  return more.length === 0 && BUNDLED_FOLDERS.includes(folder) && isFit(name);
}

function isFit(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !UNFIT.test(name) && Buffer.byteLength(name) <= MAX_NAME_BYTES && !isTemporaryName(name);
}
