// A block in its folder, as it is copied. Reads only.
//
// same-ids: entries that a person wrote get the same ids and times each time that the folder is read, so that a copy that is repeated finds nothing to change.
// last-of-each: an id, a clientId or an answer that is there twice, as a crash or a person may leave it, is kept where it stands last.
import { lstatSync } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { tryParseJson } from '../../../base/json.ts';
import { parseBytes } from '../../../base/strict-json.ts';
import { completeEntries, wholeEntry } from '../../../block/conversation/chat-file.ts';
import { EntryIds } from '../../../block/conversation/entry-ids.ts';
import { parseConfig } from '../../../block/documents/document-codecs.ts';
import { BlockhouseError } from '../../../errors.ts';
import type { ArchiveInfo } from '../../../schemas/block-api.ts';
import { ALL_BLOCK_FOLDERS, BLOCK_FILE_LIMITS, type FileLimits } from '../../parts/block-layout.ts';
import type { CopiedBlock, CopiedLog, CopiedRun } from '../../parts/copied.ts';
import { DOCUMENTS, type DocumentCodec, SCHEDULES } from '../../parts/documents.ts';
import { LastOfEach } from '../../parts/last-of-each.ts';
import { MAX_JOURNAL_BYTES, parseRunLines, runFileOf } from '../../parts/run-lines.ts';
import { isTemporaryName } from '../../parts/temporary-name.ts';
import type { BlockContents, Entries } from '../../port.ts';
import { ARCHIVE_INFO } from '../block/archive-info.ts';
import { ChatArchive } from '../chat/chat-archive.ts';
import { hasOwnFolder } from '../regular-file.ts';
import { isPassingFault, readFault, readRegular, READ_SAFELY } from '../regular-file.ts';

type Name = keyof typeof BLOCK_FILE_LIMITS;
/** Entries of chat.json. */
const AT_ONCE = 500;
const PIECE_BYTES = 256 * 1024;
/** A journal of this size has more than the first record of a run. */
const SURELY_RECORDS = 64 * 1024;
/** No server makes such a file, and a database has no such text. */
const NO_NAME = /[\p{Cc}\ufffd]/u;
/** What can be made again where it is damaged. */
const DERIVED: readonly string[] = ['costs', 'pulse'];

/** `name` is that of the block. Rejects with BLOCK_DAMAGED, which names the file. */
export async function readBlock(place: string, folder: string, name: string, archived: ArchiveInfo | undefined): Promise<CopiedBlock> {
  const left: string[] = [];
  const config = await document(folder, 'config.json', (value, at) => {
    if (value === undefined) throw new Error('it is missing');
    return parseConfig(archived === undefined ? value : { ...(value as object), name }, name, at);
  });
  const other = async <K extends 'memory' | 'costs' | 'pulse'>(id: K): Promise<BlockContents[K]> => {
    const { parse, missing } = DOCUMENTS[id] as DocumentCodec<BlockContents[K]>;
    return document(folder, `${id}.json`, (value) => (value === undefined ? missing() : parse(value))).catch((error: unknown) => {
      if (!DERIVED.includes(id) || isPassingFault(error)) throw error;
      left.push(`${place}/${id}.json, which is damaged, and is made again`);
      return missing();
    });
  };
  const schedule = await document(folder, 'schedule.json', (value) => SCHEDULES.parse(value ?? {}));
  const some = Object.keys(schedule).length === 0 ? {} : { schedule };
  const documents = { config, memory: await other('memory'), costs: await other('costs'), pulse: await other('pulse'), ...some };
  left.push(...(await strangers(folder)).map((file) => `${place}/${file}`));
  return { place, documents, archived, left, logs: await logsIn(folder), runs: await runsIn(folder), entries: () => entriesIn(folder) };
}

/** `parse` gets undefined where there is no file, and when the file was written. */
async function document<T>(folder: string, name: Name, parse: (value: unknown, at: string) => T): Promise<T> {
  const { bytes: limit, values }: FileLimits = BLOCK_FILE_LIMITS[name];
  try {
    const bytes = await readRegular(join(folder, name), limit);
    const at = bytes === undefined ? new Date(0) : (await stat(join(folder, name))).mtime;
    return parse(bytes === undefined ? undefined : parseBytes(bytes, values), at.toISOString());
  } catch (error) {
    if (isPassingFault(error)) throw error;
    throw new BlockhouseError('BLOCK_DAMAGED', `${name} can't be used: ${readFault(error as Error).replace(/\.$/, '')}. Repair it by hand.`, { cause: error });
  }
}

/** Files that are no files of a block. */
async function strangers(folder: string): Promise<string[]> {
  const names = await readdir(folder);
  const known = new Set<string>([...Object.keys(BLOCK_FILE_LIMITS), ...ALL_BLOCK_FOLDERS, ARCHIVE_INFO]);
  return names.filter((name) => !known.has(name) && !isTemporaryName(name)).sort();
}

async function logsIn(folder: string): Promise<CopiedLog[]> {
  const logs = join(folder, 'logs');
  if (!hasOwnFolder(logs)) return [];
  const names = (await readdir(logs, { withFileTypes: true })).filter((entry) => entry.isFile()).map(({ name }) => name);
  return names
    .filter((name) => !isTemporaryName(name) && !NO_NAME.test(name))
    .sort()
    .map((file) => ({ file, at: lstatSync(join(logs, file)).mtime, pieces: () => piecesOf(join(logs, file)) }));
}

async function runsIn(folder: string): Promise<CopiedRun[]> {
  const runs = join(folder, 'runs');
  if (!hasOwnFolder(runs)) return [];
  const names = (await readdir(runs, { withFileTypes: true })).filter((entry) => entry.isFile()).map(({ name }) => name);
  const all: CopiedRun[] = [];
  for (const file of names.filter((name) => runFileOf(name) !== undefined).sort()) {
    const path = join(runs, file);
    const { mtime: at, size } = lstatSync(path);
    const bytes = (): Promise<Buffer> => runBytes(path, file);
    if (size > SURELY_RECORDS || (await bytes()).length > 0) all.push({ file, at, bytes }); // a crash may leave a journal without a record
  }
  return all;
}

/** Of a journal, what was confirmed. */
async function runBytes(path: string, file: string): Promise<Buffer> {
  const whole = (await readRegular(path, MAX_JOURNAL_BYTES)) ?? Buffer.alloc(0);
  if (runFileOf(file)?.ref !== undefined) return whole;
  try {
    return whole.subarray(0, (await parseRunLines(whole)).size);
  } catch (error) {
    const text = `runs/${file} can't be used: ${readFault(error as Error).replace(/\.$/, '')}. Repair it by hand, or remove it: then nobody knows what its calls did.`;
    throw new BlockhouseError('BLOCK_DAMAGED', text, { cause: error });
  }
}

async function* piecesOf(path: string): AsyncGenerator<Buffer> {
  const file = await open(path, READ_SAFELY);
  try {
    for (let at = 0; ; ) {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(PIECE_BYTES), 0, PIECE_BYTES, at);
      if (bytesRead === 0) return;
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

async function* entriesIn(folder: string): AsyncGenerator<Entries> {
  const archive = new ChatArchive(join(folder, 'chat-archive'));
  const active = await document(folder, 'chat.json', (value, at) => {
    const ids = new EntryIds(
      () => Date.parse(at),
      () => '00000000',
    ); // same-ids
    return completeEntries(value === undefined ? [] : DOCUMENTS.chat.parse(value), ids, at);
  });
  const each = new LastOfEach(); // last-of-each
  const months = archive.months();
  for await (const entries of archived(archive, months)) each.look(entries);
  each.look(active);
  for await (const entries of archived(archive, months)) yield each.kept(entries);
  for (let from = 0; from < active.length; from += AT_ONCE) yield each.kept(active.slice(from, from + AT_ONCE));
}

/** Damaged lines are left out, as where they are read; `doctor` names them. */
async function* archived(archive: ChatArchive, months: readonly string[]): AsyncGenerator<Entries> {
  for (const month of months) {
    for await (const lines of archive.lines(month)) yield lines.flatMap((line) => wholeEntry(tryParseJson(line)) ?? []);
  }
}
