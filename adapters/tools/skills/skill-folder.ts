// Reads the folder of a skill: at most 20 text files of 64 KiB, never through a link, and never by waiting.
//
// no-links: no folder on the way from the workspace, and no file, is a link or has a second name; `blocks` alone may be a link, as for all that blocks have. After a file is opened, the way is looked at again: what was opened must
//   be what stands there, so that nothing can be put in between.
// all-or-nothing: a skill with one file that can't be read is not offered at all, because its hash would not say what it is.
// bounded: no more is listed, opened or read than a skill may have, whatever lies there.
import { type BigIntStats, closeSync, constants, fstatSync, lstatSync, opendirSync, openSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { undefinedFor } from '../../../core/base/undefined-for.ts';
import { canonicalJson, sha256 } from '../../../core/index.ts';
import { NAME_RULE, readSkillText, SKILL_FILE, SKILL_NAME, SkillFault } from './front-matter.ts';

const MAX_FILES = 20;
const MAX_BYTES = 65_536;
/** Folders inside of a skill. */
const MAX_DEPTH = 4;
const MAX_NAME = 255;
/** What is looked at of one folder, hidden files included. */
const MAX_ENTRIES = 1000;
/** The most skills of a block or of the workspace. */
export const MAX_SKILLS = 200;
const NOT_WAITING = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const ifThere = undefinedFor('ENOENT', 'ENOTDIR');

/** A skill as it lies in its folder. */
export interface SkillFolder {
  readonly name: string;
  /** Of all its files; '' where they can't be read. */
  readonly hash: string;
  readonly description: string;
  /** The text of SKILL.md after the front matter. */
  readonly body: string;
  /** By their paths, sorted. */
  readonly files: ReadonlyMap<string, string>;
  /** Why it can't be used, and what helps. */
  readonly problem?: string | undefined;
}

/** Where skills lie: folders from the workspace on, such as `blocks/ada/skills`. */
export interface SkillRoot {
  readonly workspace: string;
  readonly way: readonly string[];
}

/** What stands in the folder of skills. `problem`: nothing of it is read, for this reason. */
export interface SkillNames {
  readonly names: readonly string[];
  readonly problem?: string | undefined;
}

/** The names of the folders, sorted. Loose and hidden files are no skills. */
export function skillNames({ workspace, way }: SkillRoot): SkillNames {
  const place = way.join('/');
  try {
    if (!isOwnWay(workspace, way)) return { names: [] };
    const entries = listed(join(workspace, ...way)).filter(({ isFile }) => !isFile);
    if (entries.length > MAX_SKILLS) throw new Error(`has more than ${MAX_SKILLS} folders; remove some`);
    return { names: entries.map(({ name }) => name).sort() };
  } catch (error) {
    return { names: [], problem: `${place} ${reasonOf(error)}` };
  }
}

/** Undefined where there is no such folder. Throws nothing: what is wrong is its `problem`. */
export function readSkillFolder({ workspace, way }: SkillRoot, name: string): SkillFolder | undefined {
  const place = [...way, name].join('/');
  let files: ReadonlyMap<string, string> = new Map();
  try {
    if (!isOwnWay(workspace, [...way, name])) return undefined;
    if (!SKILL_NAME.test(name)) throw new Error(`is no name for a skill: it ${NAME_RULE}; rename the folder`);
    files = filesIn(workspace, [...way, name]);
    const text = files.get(SKILL_FILE);
    if (text === undefined) throw new Error(`has no ${SKILL_FILE}; add one, or remove the folder`);
    const { description, body } = readSkillText(text, name);
    return { name, description, body, files, hash: sha256(canonicalJson([...files])) };
  } catch (error) {
    return {
      name,
      hash: '',
      description: '',
      body: '',
      files,
      problem: error instanceof SkillFault ? `${place}/${error.message}` : `${place} ${reasonOf(error)}`,
    };
  }
}

/** False where there is nothing. Throws an Error for a way through a link or a file (no-links). */
function isOwnWay(workspace: string, way: readonly string[]): boolean {
  for (let at = 1; at <= way.length; at += 1) {
    const stats = look(join(workspace, ...way.slice(0, at)), at === 1 && way[0] === 'blocks');
    if (stats === undefined) return false;
    const what = at === way.length ? '' : `lies in ${way.slice(0, at).join('/')}, which `;
    if (stats.isSymbolicLink()) throw new Error(`${what}is a link, and links are not read; put a folder there`);
    if (!stats.isDirectory()) throw new Error(`${what}is no folder; put a folder there`);
  }
  return true;
}

function look(path: string, follows = false): BigIntStats | undefined {
  try {
    return (follows ? statSync : lstatSync)(path, { bigint: true });
  } catch (error) {
    return ifThere(error as NodeJS.ErrnoException);
  }
}

interface Listed {
  readonly name: string;
  readonly isFile: boolean;
  readonly isFolder: boolean;
}

/** Without hidden files. Throws an Error. */
function listed(folder: string): Listed[] {
  const found: Listed[] = [];
  const entries = opendirSync(folder);
  try {
    let count = 0;
    for (let entry = entries.readSync(); entry !== null; entry = entries.readSync()) {
      count += 1;
      if (count > MAX_ENTRIES) throw new Error(`has more than ${MAX_ENTRIES} entries; remove what is no part of it`); // bounded
      if (entry.name.startsWith('.')) continue;
      if (/[\p{Cc}\ufffd\\]/u.test(entry.name) || Buffer.byteLength(entry.name) > MAX_NAME)
        throw new Error('has a file whose name is no plain text; rename it');
      found.push({ name: entry.name, isFile: entry.isFile(), isFolder: entry.isDirectory() });
    }
  } finally {
    entries.closeSync();
  }
  return found;
}

function filesIn(workspace: string, way: readonly string[]): ReadonlyMap<string, string> {
  const paths: string[] = [];
  const visit = (inner: readonly string[]): void => {
    if (inner.length > MAX_DEPTH) throw new Error(`has folders that nest deeper than ${MAX_DEPTH}; move the files up`);
    for (const { name, isFile, isFolder } of listed(join(workspace, ...way, ...inner))) {
      const path = [...inner, name].join('/');
      if (isFolder) visit([...inner, name]);
      else if (isFile) paths.push(path);
      else throw new Error(`has ${path}, which is a link or no plain file; put a copy of the file there`);
      if (paths.length > MAX_FILES) throw new Error(`has more than ${MAX_FILES} files; remove some`);
    }
  };
  visit([]);
  paths.sort();
  const lower = paths.map((path) => path.toLowerCase());
  const twin = paths.find((_, index) => lower.indexOf(lower[index] ?? '') !== index);
  if (twin !== undefined) throw new Error(`has two files ${twin} that differ in case only, of which other machines keep one; rename one`);
  return new Map(paths.map((path) => [path, textOf(workspace, way, path)]));
}

/** no-links. Throws an Error. */
function textOf(workspace: string, way: readonly string[], path: string): string {
  const whole = join(workspace, ...way, path);
  const descriptor = openSync(whole, NOT_WAITING);
  try {
    const stats = fstatSync(descriptor, { bigint: true });
    if (!stats.isFile()) throw new Error(`has ${path}, which is no plain file; put a copy of the file there`);
    if (stats.nlink > 1n) throw new Error(`has ${path}, which is another name of a file elsewhere (a hard link); put a copy of the file there`);
    if (stats.size > BigInt(MAX_BYTES)) throw new Error(`has ${path} with ${stats.size} bytes; shorten it to ${MAX_BYTES}`);
    const bytes = Buffer.alloc(MAX_BYTES + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length <= MAX_BYTES; length += read) read = readSync(descriptor, bytes, length, bytes.length - length, length);
    if (length > MAX_BYTES) throw new Error(`has ${path}, which grows; try again`);
    const now = look(whole);
    const isOwn = isOwnWay(workspace, [...way, ...path.split('/').slice(0, -1)]) && now?.ino === stats.ino && now.dev === stats.dev;
    if (!isOwn) throw new Error(`has ${path}, which was replaced while it was read; try again`);
    return decoded(bytes.subarray(0, length), path);
  } finally {
    closeSync(descriptor);
  }
}

function decoded(bytes: Uint8Array, path: string): string {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Error(`has ${path}, which is no text in UTF-8; remove it, or save it as UTF-8`);
  }
  if (/(?![\t\n\f\r])\p{Cc}/u.test(text)) throw new Error(`has ${path}, which has control characters and so is no text; remove it`);
  return text;
}

/** Without the path, which is private to this machine. */
function reasonOf(error: unknown): string {
  const { code, syscall, message } = error as NodeJS.ErrnoException;
  if (code === 'ELOOP') return 'has a link, and links are not read; put a copy of the file there';
  return code !== undefined && syscall !== undefined ? `can't be read (${code}); make it readable` : message;
}
