// A block in PostgreSQL as a bundle, and back: the same files as the file store packs.
//
// one-transaction: a block that is imported is there as a whole, or not at all.
// one-of-each: a conversation that people edited may have an id, a clientId or an answer twice. The last of each keeps it.
// in-turns: a bundle may have millions of lines, so they are read in slices, and others are served between them. One with more lines that are no messages, or more
//   messages, than any conversation has is refused.

import { nextTurn } from '../../base/next-turn.ts';
import { parseBytes } from '../../base/strict-json.ts';
import { completeEntries, formatChat, wholeEntry, withoutKeys } from '../../block/conversation/chat-file.ts';
import { EntryIds } from '../../block/conversation/entry-ids.ts';
import { splitOld } from '../../block/conversation/retention.ts';
import { formatFile } from '../../block/documents/document-codecs.ts';
import { invalidRequest } from '../../errors.ts';
import type { BlockConfig } from '../../schemas/block-config.ts';
import type { ChatEntry } from '../../schemas/chat-entry.ts';
import { BLOCK_FILE_LIMITS, type FileLimits, SKILLS_FOLDER } from '../parts/block-layout.ts';
import { bundleEntries, unreadable } from '../parts/bundle-entries.ts';
import { MAX_BUNDLE_BYTES } from '../parts/bundle-names.ts';
import { assertBundleSize, type BundleFile, packed, tooLarge } from '../parts/bundle-pack.ts';
import type { CopiedRun } from '../parts/copied.ts';
import { DOCUMENTS, type DocumentCodec, SCHEDULES, stoppedConfig } from '../parts/documents.ts';
import { LastOfEach } from '../parts/last-of-each.ts';
import { endOfPiece } from '../parts/log-lines.ts';
import { MAX_ARCHIVED_LINES, parseRunLines } from '../parts/run-lines.ts';
import type { BlockContents, BlockRef, Entries, ScheduleStates } from '../port.ts';
import type { Built } from '../store.ts';
import { listColumns, nameTaken } from './documents.ts';
import { sqlStateOf } from './faults.ts';
import { entryOf, type MessageRow, NO_TEXT, valuesOf, waitingOf } from './message-row.ts';
import type { Database, Run } from './pool.ts';
import { addRunFile, runFilesOf } from './run-files.ts';
import { ADD_MESSAGES, COUNT_MESSAGES } from './sql/archive.ts';
import { CREATE } from './sql/blocks.ts';
import { AFTER } from './sql/conversation.ts';
import { ADD, BETWEEN, NAMES } from './sql/logs.ts';

const IS_THERE = '23505';
const AT_ONCE = 1000;
const MONTH_FILE = /^chat-archive\/\d{4}-\d{2}\.jsonl$/;
const LF = 10;
/** As in a file of chat-archive (ARCHIVE_LIMITS). */
const MAX_LINE_BYTES = 64 * 1024 * 1024;
/** Fields and elements of one message, which has some twenty. */
const MAX_LINE_VALUES = 10_000;
/** A crash cuts one line short, and a person may leave some others. */
const MAX_STRAY_LINES = 10_000;
const MAX_MESSAGES = 500_000;
/** So much is read, or so many messages are looked at, in one turn. */
const SLICE = { bytes: 512 * 1024, messages: 2000 } as const;

/** The block in a folder that has its name. Rejects with INVALID_REQUEST when it is too large. */
export async function packBlock(database: Database, { name, block }: BlockRef, contents: BlockContents, schedule: ScheduleStates): Promise<Uint8Array> {
  const logs = await database.query<{ file: string; at: Date }>(NAMES, [block]);
  const runs = await runFilesOf(database.query, block);
  assertBundleSize(logs.length + runs.length);
  return packed(name, withinLimits(name, filesOf(database, block, { ...contents, schedule }, { logs, runs })));
}

/** A block without schedules has no such document. */
function someSchedules(schedule: ScheduleStates): { readonly schedule?: ScheduleStates } {
  return Object.keys(schedule).length === 0 ? {} : { schedule };
}

async function* withinLimits(name: string, files: AsyncIterable<BundleFile>): AsyncGenerator<BundleFile> {
  let room = MAX_BUNDLE_BYTES;
  for await (const file of files) {
    if (file.bytes.length > room) throw tooLarge(name, file.path, file.bytes.length, room);
    room -= file.bytes.length;
    yield file;
  }
}

async function* filesOf(
  database: Database,
  block: number,
  { config, memory, costs, pulse, schedule }: BlockContents & { readonly schedule: ScheduleStates },
  { logs, runs }: { readonly logs: readonly { readonly file: string; readonly at: Date }[]; readonly runs: readonly CopiedRun[] },
): AsyncGenerator<BundleFile> {
  const mtime = new Date(config.updatedAt);
  const text = (path: string, content: string, at = mtime): BundleFile => ({ path, bytes: Buffer.from(content), mtime: at });
  for (const [id, value] of Object.entries({ config, memory, costs, pulse, ...someSchedules(schedule) })) yield text(`${id}.json`, formatFile(value));
  const { kept, old } = splitOld(await allEntries(database, block));
  yield text('chat.json', formatChat(kept), timeOf(kept.at(-1)) ?? mtime);
  const ids = old.flatMap(({ id, clientId }) => (clientId === undefined ? [] : [`${JSON.stringify({ id, clientId })}\n`]));
  for (const [month, entries] of byMonth(old)) {
    yield text(`chat-archive/${month}.jsonl`, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''), timeOf(entries.at(-1)) ?? mtime);
  }
  if (ids.length > 0) yield text('chat-archive/client-ids.jsonl', ids.join(''), timeOf(old.at(-1)) ?? mtime);
  for (const { file, at } of logs.toSorted((a, b) => (a.file < b.file ? -1 : 1))) {
    const lines = await database.query<{ bytes: Buffer }>(BETWEEN, [block, file, 0, Number.MAX_SAFE_INTEGER]);
    yield { path: `logs/${file}`, bytes: Buffer.concat(lines.map(({ bytes }) => bytes)), mtime: at };
  }
  for (const { file, at = mtime, bytes } of runs) yield { path: `runs/${file}`, bytes: await bytes(), mtime: at };
}

async function allEntries(database: Database, block: number): Promise<Entries> {
  const entries: ChatEntry[] = [];
  for (let after = -1; ; ) {
    const rows = await database.query<MessageRow>(AFTER, [block, after, AT_ONCE]);
    entries.push(...rows.map(entryOf));
    after = rows.at(-1)?.seq ?? after;
    if (rows.length < AT_ONCE) return entries;
  }
}

/** The months in which entries were made, which never go back: the order of the files is that of the conversation. */
function byMonth(entries: Entries): Map<string, ChatEntry[]> {
  const months = new Map<string, ChatEntry[]>();
  let month = '';
  for (const entry of entries) {
    const own = entry.timestamp.slice(0, '2026-11'.length);
    if (own > month) month = own;
    const entries = months.get(month);
    if (entries === undefined) months.set(month, [entry]);
    else entries.push(entry);
  }
  return months;
}

function timeOf(entry: ChatEntry | undefined): Date | undefined {
  return entry === undefined ? undefined : new Date(entry.timestamp);
}

/** How a bundle becomes a block. */
export interface UnpackOptions {
  readonly wanted: string | undefined;
  /** Epoch milliseconds. */
  readonly now: number;
  accept(config: BlockConfig): Promise<void>;
}

interface Unpacked {
  /** The months of the conversation go as they are read. */
  readonly files: Map<string, Buffer>;
  readonly times: ReadonlyMap<string, Date>;
}

/** Makes a block. Rejects with INVALID_REQUEST, NAME_TAKEN, or what `accept` rejects with. */
export async function unpackBlock(database: Database, bundle: Uint8Array, { wanted, now, accept }: UnpackOptions): Promise<Pick<Built, 'name' | 'leftSkills'>> {
  const unpacked = await filesIn(bundle);
  const { files } = unpacked;
  const config = checked('config.json', () => stoppedConfig(valueIn(files, 'config.json'), wanted, now));
  const schedules = checked('schedule.json', () => SCHEDULES.parse(valueIn(files, 'schedule.json') ?? {}));
  const documents = {
    ...{ config, memory: documentIn(files, 'memory'), costs: documentIn(files, 'costs'), pulse: documentIn(files, 'pulse') },
    ...someSchedules(schedules),
  };
  const entries = await entriesIn(files, now);
  for (const [path, bytes] of files) if (/^runs\/.*\.jsonl$/.test(path)) await parseRunLines(bytes, MAX_ARCHIVED_LINES).catch(unusable(path));
  await accept(config);
  await database
    .transaction(async (run) => {
      const block = await create(run, config, documents);
      await addEntries(run, block, entries);
      await addLogs(run, block, unpacked);
      await addRuns(run, block, unpacked);
    })
    .catch((error: unknown) => {
      throw sqlStateOf(error) === IS_THERE ? nameTaken(config.name) : error;
    });
  const leftSkills = [...files.keys()].some((path) => path.startsWith(`${SKILLS_FOLDER}/`));
  return { name: config.name, ...(leftSkills && { leftSkills }) };
}

async function filesIn(bundle: Uint8Array): Promise<Unpacked> {
  const files = new Map<string, Buffer>();
  const times = new Map<string, Date>();
  for await (const { path, isFolder, entry } of bundleEntries(bundle)) {
    if (isFolder) await entry.body.cancel().catch(unreadable);
    else files.set(path, await bytesOf(entry.body).catch(unreadable));
    const { mtime } = entry.header;
    if (mtime !== undefined && !Number.isNaN(mtime.getTime())) times.set(path, mtime);
  }
  return { files, times };
}

async function bytesOf(body: ReadableStream<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function valueIn(files: Unpacked['files'], path: keyof typeof BLOCK_FILE_LIMITS): unknown {
  const bytes = files.get(path);
  const { values }: FileLimits = BLOCK_FILE_LIMITS[path];
  return bytes === undefined ? undefined : parseBytes(bytes, values);
}

function documentIn(files: Unpacked['files'], kind: 'memory' | 'costs' | 'pulse'): unknown {
  return checked(`${kind}.json`, () => {
    const value = valueIn(files, `${kind}.json`);
    const { parse, missing }: DocumentCodec<unknown> = DOCUMENTS[kind];
    return value === undefined ? missing() : parse(value);
  });
}

/** The archived entries, and then the active ones. */
async function entriesIn(files: Unpacked['files'], now: number): Promise<Entries> {
  const ids = new EntryIds(() => now);
  const active = checked('chat.json', () => activeIn(files));
  const entries = await archivedIn(files);
  ids.follow(entries);
  for (const entry of completeEntries(active, ids, new Date(now).toISOString())) entries.push(entry);
  return oneOfEach(entries);
}

function activeIn(files: Unpacked['files']): Entries {
  const value = valueIn(files, 'chat.json');
  const entries = value === undefined ? [] : DOCUMENTS.chat.parse(value);
  for (const [index, entry] of entries.entries()) {
    const unfit = unkeepable(entry);
    if (unfit !== undefined) throw new Error(`[${index}]: ${unfit} has a NUL or half a character, which a database can't keep`);
  }
  return entries;
}

/** in-turns. */
async function archivedIn(files: Unpacked['files']): Promise<ChatEntry[]> {
  const entries: ChatEntry[] = [];
  let strays = 0;
  for (const path of [...files.keys()].filter((each) => MONTH_FILE.test(each)).sort()) {
    for await (const line of linesIn(files.get(path) ?? Buffer.alloc(0))) {
      const entry = wholeEntry(parsedLine(line));
      if (entry !== undefined && unkeepable(entry) === undefined) entries.push(entry);
      else strays += 1;
      if (strays > MAX_STRAY_LINES) throw invalidRequest('', `The ${path} in the archive has more than ${MAX_STRAY_LINES} lines that are no messages.`);
      if (entries.length > MAX_MESSAGES)
        throw invalidRequest('', `The archive has more than ${MAX_MESSAGES} messages, the limit for an import into a database.`);
    }
    files.delete(path);
  }
  return entries;
}

/** The lines that are not blank. */
async function* linesIn(bytes: Buffer): AsyncGenerator<Buffer> {
  let pause = SLICE.bytes;
  for (let at = 0; at < bytes.length; ) {
    if (bytes[at] === LF) at += 1;
    else {
      const found = bytes.indexOf(LF, at);
      const end = found === -1 ? bytes.length : found;
      yield bytes.subarray(at, end);
      at = end + 1;
    }
    if (at < pause) continue;
    pause = at + SLICE.bytes;
    await nextTurn();
  }
}

function parsedLine(line: Buffer): unknown {
  if (line.length > MAX_LINE_BYTES) return undefined;
  try {
    return parseBytes(line, MAX_LINE_VALUES);
  } catch {
    return undefined; // no message: a crash may have cut it short
  }
}

/** The field by which a message is found, if it holds what is no text for PostgreSQL. */
function unkeepable({ id, clientId, replyTo }: Partial<ChatEntry>): string | undefined {
  return Object.entries({ id, clientId, replyTo }).find(([, text]) => text !== undefined && NO_TEXT.test(text))?.[0];
}

/** one-of-each. */
async function oneOfEach(entries: Entries): Promise<Entries> {
  const each = new LastOfEach();
  const kept: ChatEntry[] = [];
  for await (const some of slicesOf(entries)) each.look(some);
  for await (const some of slicesOf(entries)) kept.push(...withoutKeys(each.kept(some)));
  return kept;
}

/** in-turns. */
async function* slicesOf(entries: Entries): AsyncGenerator<Entries> {
  for (let from = 0; from < entries.length; from += SLICE.messages) {
    yield entries.slice(from, from + SLICE.messages);
    await nextTurn();
  }
}

async function create(run: Run, config: BlockConfig, documents: object): Promise<number> {
  const [description, provider, model, tags] = listColumns(config);
  const texts = Object.values(documents).map((value) => JSON.stringify(value));
  const [row] = await run<{ block: number }>(CREATE, [config.name, false, Object.keys(documents), texts, description, provider, model, tags]);
  if (row === undefined) throw new Error('the block was not made');
  return row.block;
}

async function addEntries(run: Run, block: number, entries: Entries): Promise<void> {
  for (let from = 0; from < entries.length; from += AT_ONCE) {
    const rows = entries.slice(from, from + AT_ONCE).map((entry, index) => [from + index + 1, ...valuesOf(entry), waitingOf(entry)]);
    const columns = rows[0]?.map((_, column) => rows.map((row) => row[column])) ?? [];
    await run(ADD_MESSAGES, [block, ...columns]);
  }
  await run(COUNT_MESSAGES, [block]);
}

async function addLogs(run: Run, block: number, { files, times }: Unpacked): Promise<void> {
  for (const [path, bytes] of files) {
    const [folder, file] = path.split('/');
    if (folder !== 'logs' || file === undefined) continue;
    const at = (times.get(path) ?? new Date()).toISOString();
    for (let from = 0; from < bytes.length; ) {
      const to = endOfPiece(bytes, from);
      await run(ADD, ['', [at], [block], [file], [from], [bytes.subarray(from, to)]]);
      from = to;
    }
  }
}

async function addRuns(run: Run, block: number, { files, times }: Unpacked): Promise<void> {
  for (const [path, bytes] of files) {
    const [folder, file = ''] = path.split('/');
    if (folder === 'runs') await addRunFile(run, block, { file, at: times.get(path), bytes: async () => bytes });
  }
}

function checked<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    return unusable(file)(error);
  }
}

function unusable(file: string): (error: unknown) => never {
  return (error) => {
    throw invalidRequest('', `The ${file} in the archive can't be used: ${(error as Error).message.replace(/\.$/, '')}.`);
  };
}
