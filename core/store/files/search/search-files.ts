// The index of what was said: `search.index` has all texts as they are compared, and `search.text` the same texts as they are. Who deletes them loses nothing.
//
// Each record of the index belongs to one block: a line `#<key> <stamp> <bytes>`, and then, in so many bytes, a line for each text. A search reads the index from
// its beginning to its end, at a gigabyte a second, and holds none of it: an inverted index of as many texts takes half a minute to make and a gigabyte to hold.
//
// append-only: the record of a block that has changed is appended, and its older one counts no more. When half of the index counts no more, it is made again.
// text-first: texts are on the disk before the index that points to them.
// few-bytes: what is written is held a piece at a time, because a block may have gigabytes of texts.
// same-pair: both files begin with the same random line, else both are made again.
import { randomBytes } from 'node:crypto';
import { constants, lstatSync } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { undefinedFor } from '../../../base/undefined-for.ts';
import type { SaidBy } from '../../store.ts';
import { foldedInSteps, wellFormed } from '../../parts/search-text.ts';
import { SAFELY } from '../regular-file.ts';
import type { SaidText } from './block-texts.ts';

/** The names of the files in the workspace. */
export const SEARCH_FILES = ['search.index', 'search.text'] as const;

/** A text that fits. */
export interface Fit {
  readonly key: string;
  readonly by: SaidBy;
  readonly id: string;
  readonly at: string;
  /** Where its text is in `search.text`. */
  readonly from: number;
  readonly bytes: number;
}

interface RecordOf {
  readonly stamp: number;
  /** Of its lines. */
  readonly from: number;
  readonly bytes: number;
}

/** Who gets what was found. */
export interface Finder {
  wants(key: string, at: string): boolean;
  onFit(fit: Fit): void;
}

const NO_RECORD: readonly [string, RecordOf] = ['', { stamp: 0, from: Number.POSITIVE_INFINITY, bytes: 0 }];
const READ_WRITE = constants.O_RDWR | constants.O_CREAT | SAFELY;
const HEADER = /^blockhouse search 1 [0-9a-f]{32}\n$/;
const HEADER_BYTES = 53;
const PIECE_BYTES = 1024 * 1024;
/** An index of fewer bytes is never made again. */
const SMALL_BYTES = 8 * 1024 * 1024;
const NEWLINE = 0x0a;
const TAB = 0x09;
const LINE_END = Buffer.from('\n');
/** Of the length of a record, which is known when its lines are written. */
const LENGTH_DIGITS = 16;
const LETTERS: Readonly<Record<SaidBy, string>> = { message: 'm', answer: 'a', summary: 's', fact: 'f' };
const SAID_BY = new Map(Object.entries(LETTERS).map(([by, letter]) => [letter, by as SaidBy]));
const NO_TIME = '0000-00-00T00:00:00.000Z';

/** The index itself could not be written, which says nothing of a block. `cause` is the system's own error. */
export class IndexFault extends Error {}

/** Both files, open. */
export class SearchFiles {
  readonly #index: FileHandle;
  readonly #text: FileHandle;
  readonly #records = new Map<string, RecordOf>();
  #indexEnd = HEADER_BYTES;
  #textEnd = HEADER_BYTES;
  #dead = 0;

  private constructor(index: FileHandle, text: FileHandle) {
    this.#index = index;
    this.#text = text;
  }

  /** Opens the files of a workspace, and makes them again where they don't fit together or are cut. */
  static async open(workspace: string): Promise<SearchFiles> {
    const [index, text] = await Promise.all(SEARCH_FILES.map((name) => open(join(workspace, name), READ_WRITE, 0o600)));
    const files = new SearchFiles(index as FileHandle, text as FileHandle);
    if (!(await files.#read())) await files.clear();
    return files;
  }

  /** True while the workspace has these files, and not others of their names. */
  async isThere(workspace: string): Promise<boolean> {
    const [index, text] = await Promise.all([this.#index.stat(), this.#text.stat()]);
    return [index, text].every(({ ino }, at) => lstatSync(join(workspace, SEARCH_FILES[at] ?? ''), { throwIfNoEntry: false })?.ino === ino);
  }

  /** The stamp that the texts of a block had; undefined if it is not in the index. */
  stampOf(key: string): number | undefined {
    return this.#records.get(key)?.stamp;
  }

  get keys(): IterableIterator<string> {
    return this.#records.keys();
  }

  /** More than half of it counts no more. */
  get isWorn(): boolean {
    return this.#dead > SMALL_BYTES && this.#dead > this.#indexEnd / 2;
  }

  async clear(): Promise<void> {
    const header = Buffer.from(`blockhouse search 1 ${randomBytes(16).toString('hex')}\n`);
    for (const file of [this.#text, this.#index]) {
      await file.truncate(0);
      await file.write(header, 0, HEADER_BYTES, 0);
    }
    this.#records.clear();
    this.#indexEnd = HEADER_BYTES;
    this.#textEnd = HEADER_BYTES;
    this.#dead = 0;
  }

  forget(key: string): void {
    this.#dead += this.#records.get(key)?.bytes ?? 0;
    this.#records.delete(key);
  }

  /** append-only. What a failure leaves is cut off again, so that a full disk is not kept full. Throws an IndexFault, or what `texts` throws. */
  async put(key: string, stamp: number, texts: AsyncIterable<SaidText>): Promise<void> {
    try {
      await this.#append(key, stamp, texts);
    } catch (error) {
      for (const [file, end] of [[this.#index, this.#indexEnd] as const, [this.#text, this.#textEnd] as const]) await file.truncate(end);
      throw error;
    }
  }

  /** few-bytes. */
  async #append(key: string, stamp: number, texts: AsyncIterable<SaidText>): Promise<void> {
    const headOf = (bytes: number): Buffer => Buffer.from(`#${key} ${stamp} ${String(bytes).padStart(LENGTH_DIGITS, '0')}\n`);
    const from = this.#indexEnd + headOf(0).length;
    const [index, text] = [new Tail(this.#index, from), new Tail(this.#text, this.#textEnd)];
    for await (const said of texts) {
      const original = Buffer.from(said.text);
      const time = said.at.length === NO_TIME.length ? said.at : NO_TIME;
      const place = `${text.end.toString(36)}\t${original.length.toString(36)}`;
      await text.add(original);
      await index.add(Buffer.from(`${time}\t${LETTERS[said.by]}\t${encodeURIComponent(wellFormed(said.id))}\t${place}\t`));
      for await (const piece of foldedInSteps(wellFormed(said.text))) await index.add(Buffer.from(piece));
      await index.add(LINE_END);
    }
    await text.flush(); // text-first
    await index.flush();
    await writeAll(this.#index, headOf(index.end - from), this.#indexEnd); // the last, for without it there is no record
    this.forget(key);
    this.#records.set(key, { stamp, from, bytes: index.end - from });
    this.#indexEnd = index.end;
    this.#textEnd = text.end;
  }

  /** Calls `wants` with the block and the time of each text that has all words, in no order, and `onFit` with the texts that are wanted. */
  async find(words: readonly string[], { wants, onFit }: Finder, signal: AbortSignal): Promise<void> {
    const needles = words.map((word) => Buffer.from(word)).sort((a, b) => b.length - a.length);
    const records = [...this.#records].sort(([, a], [, b]) => a.from - b.from);
    let next = 0;
    for await (const { bytes, from } of this.#pieces()) {
      signal.throwIfAborted();
      for (const line of linesWith(bytes, needles)) {
        const at = from + line.byteOffset - bytes.byteOffset;
        while (endOf(records[next]) <= at) next += 1;
        const [key, record] = records[next] ?? NO_RECORD;
        if (record.from > at) continue; // the line before a record, or in one that counts no more
        const start = textStart(line);
        if (needles.some((needle) => line.indexOf(needle, start) < 0)) continue;
        if (wants(key, timeOf(line))) onFit({ key, ...readLine(line, start) });
      }
    }
  }

  /** The text of a fit; undefined if it can't be read. */
  async textOf({ from, bytes }: Fit): Promise<string> {
    const buffer = Buffer.alloc(bytes);
    const { bytesRead } = await this.#text.read(buffer, 0, bytes, from);
    return buffer.toString('utf8', 0, bytesRead);
  }

  async close(): Promise<void> {
    await Promise.all([this.#index.close(), this.#text.close()]);
  }

  /** False for files that must be made again. */
  async #read(): Promise<boolean> {
    const [index, text] = await Promise.all([this.#index.stat(), this.#text.stat()]);
    if (!index.isFile() || !text.isFile() || !(await this.#isPair())) return false;
    const head = Buffer.alloc(4096);
    for (let at = HEADER_BYTES; at < index.size; ) {
      const { bytesRead } = await this.#index.read(head, 0, head.length, at);
      const end = head.subarray(0, bytesRead).indexOf(NEWLINE);
      const [, key, stamp, bytes] = /^#(\S+) (-?\d+) (\d+)$/.exec(head.toString('latin1', 0, Math.max(end, 0))) ?? [];
      if (key === undefined) return false;
      const record = { stamp: Number(stamp), from: at + end + 1, bytes: Number(bytes) };
      this.forget(key);
      this.#records.set(key, record);
      at = record.from + record.bytes;
      if (at > index.size) return false;
    }
    this.#indexEnd = index.size;
    this.#textEnd = text.size;
    return true;
  }

  async #isPair(): Promise<boolean> {
    const [one, other] = await Promise.all([headerOf(this.#index), headerOf(this.#text)]);
    return HEADER.test(one) && one === other;
  }

  /** The index in pieces that end with a line. */
  async *#pieces(): AsyncGenerator<{ readonly bytes: Buffer; readonly from: number }> {
    let buffer = Buffer.allocUnsafe(PIECE_BYTES);
    let kept = 0;
    for (let at = HEADER_BYTES; at < this.#indexEnd; ) {
      if (kept === buffer.length) buffer = Buffer.concat([buffer], buffer.length * 2); // a line that is longer than the buffer
      const { bytesRead } = await this.#index.read(buffer, kept, Math.min(buffer.length - kept, this.#indexEnd - at), at);
      if (bytesRead === 0) return;
      const from = at - kept;
      at += bytesRead;
      const filled = buffer.subarray(0, kept + bytesRead);
      const end = filled.lastIndexOf(NEWLINE) + 1;
      if (end > 0) yield { bytes: filled.subarray(0, end), from };
      kept = filled.length - end;
      filled.copy(buffer, 0, end);
    }
  }
}

/** Removes the files of a workspace. */
export async function removeSearchFiles(workspace: string): Promise<void> {
  for (const name of SEARCH_FILES) await rm(join(workspace, name), { force: true }).catch(undefinedFor('ENOENT'));
}

async function headerOf(file: FileHandle): Promise<string> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, 0);
  return buffer.toString('latin1', 0, bytesRead);
}

/** few-bytes: what is added to a file, from a place on. */
class Tail {
  readonly #file: FileHandle;
  #pieces: Buffer[] = [];
  #waiting = 0;
  /** Where the next bytes stand. */
  end: number;

  constructor(file: FileHandle, end: number) {
    this.#file = file;
    this.end = end;
  }

  async add(bytes: Buffer): Promise<void> {
    this.#pieces.push(bytes);
    this.#waiting += bytes.length;
    this.end += bytes.length;
    if (this.#waiting > PIECE_BYTES) await this.flush();
  }

  async flush(): Promise<void> {
    await writeAll(this.#file, Buffer.concat(this.#pieces), this.end - this.#waiting);
    this.#pieces = [];
    this.#waiting = 0;
  }
}

async function writeAll(file: FileHandle, bytes: Buffer, at: number): Promise<void> {
  try {
    for (let written = 0; written < bytes.length; ) written += (await file.write(bytes, written, bytes.length - written, at + written)).bytesWritten;
  } catch (error) {
    throw new IndexFault('the index is not written', { cause: error });
  }
}

function endOf(record: readonly [string, RecordOf] | undefined): number {
  return record === undefined ? Number.POSITIVE_INFINITY : record[1].from + record[1].bytes;
}

/** The lines in which the longest word stands. */
function* linesWith(bytes: Buffer, [longest]: readonly Buffer[]): Generator<Buffer> {
  if (longest === undefined) return;
  for (let at = bytes.indexOf(longest); at >= 0; ) {
    const end = bytes.indexOf(NEWLINE, at);
    yield bytes.subarray(bytes.lastIndexOf(NEWLINE, at) + 1, end);
    at = bytes.indexOf(longest, end + 1);
  }
}

function textStart(line: Buffer): number {
  let start = 0;
  for (let field = 0; field < 5; field += 1) start = line.indexOf(TAB, start) + 1;
  return start;
}

function timeOf(line: Buffer): string {
  const at = line.toString('latin1', 0, NO_TIME.length);
  return at === NO_TIME ? '' : at;
}

/** What the fields before the text say. */
function readLine(line: Buffer, start: number): Omit<Fit, 'key'> {
  const [, letter = '', id = '', from = '', bytes = ''] = line.toString('latin1', 0, start).split('\t');
  const by = SAID_BY.get(letter) ?? 'message';
  return { by, id: decodeURIComponent(id), at: timeOf(line), from: Number.parseInt(from, 36), bytes: Number.parseInt(bytes, 36) };
}
