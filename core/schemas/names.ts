// Names of blocks and of archives. Pure: no I/O.
import { nearest } from '../base/closest.ts';
import { BlockhouseError, invalidRequest } from '../errors.ts';
import { BLOCK_NAME_PATTERN } from './block-config.ts';

const BLOCK_NAME = new RegExp(BLOCK_NAME_PATTERN);
/** Windows opens its devices under these names in every folder. */
const RESERVED = /^(con|prn|aux|nul|conin|conout|com[0-9]|lpt[0-9])$/;
const RULE = 'must be 1 to 32 characters from a-z, 0-9 and -, must not start with -, and must not be a name that Windows reserves (con, nul, com1, …)';

/** True for a name that matches BLOCK_NAME_PATTERN and that Windows doesn't reserve. */
export function isBlockName(name: string): boolean {
  return BLOCK_NAME.test(name) && !RESERVED.test(name);
}

/** Throws INVALID_REQUEST, with the rule, for a name that no block may have. `path` is the field in the request. */
export function assertNewName(name: string, path = 'name'): void {
  if (!isBlockName(name)) throw invalidRequest(path, RULE);
}

/** BLOCK_NOT_FOUND, with the name of `names` that was probably meant, or else with what lists and makes blocks. `name` may be any text of a caller. */
export function blockNotFound(name: string, names: readonly string[] = []): BlockhouseError {
  const isName = isBlockName(name);
  const meant = isName ? nearest(name, names) : undefined;
  const hint = isName ? `\`blockhouse ls\` lists them, and \`blockhouse new ${name}\` makes one.` : '`blockhouse ls` lists them.';
  return new BlockhouseError('BLOCK_NOT_FOUND', `There is no block ${shown(name)}; ${meant === undefined ? hint : `did you mean ${shown(meant)}?`}`);
}

/** ARCHIVE_NOT_FOUND, with the name of `names`, those of the archived blocks, that was probably meant. `name` may be any text of a caller. */
export function archiveNotFound(name: string, names: readonly string[]): BlockhouseError {
  const meant = isBlockName(name) ? nearest(name, names) : undefined;
  const hint = names.length === 0 ? ', because the archive is empty.' : '; `blockhouse archive ls` lists them.';
  return new BlockhouseError('ARCHIVE_NOT_FOUND', `There is no archived block ${shown(name)}${meant === undefined ? hint : `; did you mean ${shown(meant)}?`}`);
}

/** A caller's text as one short JSON string, because it may contain anything. */
function shown(name: string): string {
  return JSON.stringify(name.slice(0, 64));
}

const ARCHIVE_NAME = /^([a-z0-9][a-z0-9-]{0,31})_(\d{4}-\d{2}-\d{2})T(\d{2})-(\d{2})-(\d{2})-(\d{3})Z$/;

/** The archive name, such as `support_2026-11-20T14-03-22-123Z`. */
export function archiveName(name: string, at: Date): string {
  return `${name}_${at.toISOString().replaceAll(/[:.]/g, '-')}`;
}

/** The block name inside an archive name; undefined if `archive` is not an archive name. */
export function nameInArchive(archive: string): string | undefined {
  const name = ARCHIVE_NAME.exec(archive)?.[1];
  return name !== undefined && isBlockName(name) ? name : undefined;
}

/** When the block was archived, by its archive name, as ISO 8601; undefined if the name has no such time. */
export function timeInArchive(archive: string): string | undefined {
  const [, , day, hours, minutes, seconds, ms] = ARCHIVE_NAME.exec(archive) ?? [];
  if (day === undefined) return undefined;
  const time = `${day}T${hours}:${minutes}:${seconds}.${ms}Z`;
  const at = Date.parse(time);
  // Digits of this form may be no time, such as 31 February, which Date.parse moves to March.
  return Number.isNaN(at) || new Date(at).toISOString() !== time ? undefined : time;
}
