// The log of one block: files in its `logs` folder, a new one at each start of the monitor and when one is full. An event is one line
// (log-lines.ts).
//
// in-order: lines are written in their order, and waiting lines share one write. A failure goes to `onFault`, once until a write succeeds again,
//   and never to the caller.
// bounded-files: no file grows beyond the limit, unless a single line does, and the oldest files beyond the count are deleted.
// own-folder: nothing is written or deleted through a link, and no folder but `logs` itself is made: a late line must not bring back a block that
//   was moved away.
// bounded-memory: if the disk is slower than the events, lines are dropped and counted, so that they don't use up memory.
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import PQueue from 'p-queue';
import { undefinedFor } from '../../../base/undefined-for.ts';
import type { LogFile, LogPart } from '../../../schemas/block-api.ts';
import type { LogRange } from '../../port.ts';
import type { LogFields, LogLevel, LogStore } from '../../store.ts';
import { hasOwnFolder } from '../regular-file.ts';
import { SAFELY } from '../regular-file.ts';
import { firstNames, isLogName, logLine, logName, newestFirst } from '../../parts/log-lines.ts';
import { readLogPart } from './log-part.ts';
import { newestLogs } from './newest-logs.ts';

export { newestLogs } from './newest-logs.ts';

const MAX_WAITING_CHARACTERS = 4 * 1024 * 1024;
/** Files deleted at one rotation. A folder that somebody filled shrinks step by step. */
const MAX_DELETED = 1000;
/** More files than this in one second mean that something else is wrong. */
const MAX_SAME_SECOND = 1000;
const APPEND_SAFELY = constants.O_WRONLY | constants.O_APPEND | SAFELY;

/** The limits of a log, and the callback for its failures. */
export interface BlockLogOptions {
  /** Asked at each write, so that a change of the configuration takes effect at once. */
  limits(): { readonly maxFileBytes: number; readonly maxFiles: number };
  onFault(error: Error): void;
  /** Called with what stands in a file now, and where it begins in it, in bytes. */
  onWritten?(file: string, offset: number, text: string): void;
  /** Epoch milliseconds. */
  now(): number;
}

/** A line to write, or the channel of a new file. */
type Entry = { readonly line: string } | { readonly channel: string };

/** Writes the events of one block; see above. */
export class BlockLog implements LogStore {
  readonly #folder: string;
  readonly #options: BlockLogOptions;
  #channel = 'block';
  /** The file that is written to; undefined when the next line begins a new one. */
  #name: string | undefined;
  #size = 0;
  /** A failed write may have left a part of a line. */
  #isTorn = false;
  #isFailing = false;
  #waiting: Entry[] = [];
  #waitingCharacters = 0;
  #dropped = 0;
  #isScheduled = false;
  #isClosed = false;
  readonly #queue = new PQueue({ concurrency: 1 });

  /** `folder` is the block's `logs`; it is made with the first line. */
  constructor(folder: string, options: BlockLogOptions) {
    this.#folder = folder;
    this.#options = options;
  }

  /** The next line begins a new file. */
  open(channel: string): void {
    this.#waiting.push({ channel });
  }

  /** Queues one event; never fails. After `close` nothing is written. */
  write(level: LogLevel, event: string, fields: LogFields = {}): void {
    if (this.#isClosed) return;
    const line = logLine(this.#options.now(), level, event, fields);
    if (this.#waitingCharacters + line.length > MAX_WAITING_CHARACTERS) {
      this.#dropped += 1; // bounded-memory
      return;
    }
    this.#waiting.push({ line });
    this.#waitingCharacters += line.length;
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    void this.#queue.add(() => this.#drain());
  }

  /** Nobody else writes into it. */
  follow(): () => void {
    return () => undefined;
  }

  /** Resolves when every queued line is in its file, or its failure was reported. */
  async flush(): Promise<void> {
    await this.#queue.add(async () => undefined);
  }

  /** Deletes all files of the folder, and resolves with their number. The next line begins a new file. Throws BLOCK_DAMAGED, or the system's own error. */
  clear(): Promise<number> {
    return this.#queue.add(async () => {
      this.#name = undefined;
      let count = 0;
      if (!hasOwnFolder(this.#folder)) return count; // own-folder
      for (const entry of await readdir(this.#folder, { withFileTypes: true, encoding: 'buffer' })) {
        if (!entry.isFile()) continue;
        await unlink(Buffer.concat([Buffer.from(`${this.#folder}/`), entry.name]));
        count += 1;
      }
      return count;
    });
  }

  async newest(): Promise<LogFile[]> {
    await this.flush();
    return newestLogs(this.#folder);
  }

  async part(file: string, range: LogRange): Promise<LogPart> {
    await this.flush();
    return readLogPart(this.#folder, file, range);
  }

  /** Writes the queued lines, and nothing after them. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.flush();
  }

  /** Takes lines again, after a move that failed. */
  reopen(): void {
    this.#isClosed = false;
  }

  /** in-order. */
  async #drain(): Promise<void> {
    await Promise.resolve(); // lines of the same turn are written together
    const entries = this.#waiting;
    if (this.#dropped > 0) entries.push({ line: logLine(this.#options.now(), 'WARN', 'log.dropped', { lines: this.#dropped }) });
    this.#waiting = [];
    this.#waitingCharacters = 0;
    this.#dropped = 0;
    this.#isScheduled = false;
    let lines: string[] = [];
    let bytes = this.#name === undefined ? 0 : this.#size;
    for (const entry of entries) {
      const length = 'line' in entry ? Buffer.byteLength(entry.line) : 0;
      if ('channel' in entry || (bytes > 0 && bytes + length > this.#options.limits().maxFileBytes)) {
        await this.#append(lines);
        this.#name = undefined; // bounded-files
        lines = [];
        bytes = 0;
      }
      if ('channel' in entry) this.#channel = entry.channel;
      else lines.push(entry.line);
      bytes += length;
    }
    await this.#append(lines);
  }

  async #append(lines: readonly string[]): Promise<void> {
    if (lines.length === 0) return;
    try {
      hasOwnFolder(this.#folder); // own-folder
      const file = (await this.#openCurrent()) ?? (await this.#openNew());
      const [name, offset] = [this.#name ?? '', this.#size];
      const text = `${this.#isTorn ? '\n' : ''}${lines.join('')}`;
      await this.#writeTo(file, Buffer.from(text)).finally(() => file.close());
      this.#isFailing = false;
      this.#options.onWritten?.(name, offset, text);
    } catch (error) {
      if (!this.#isFailing) this.#options.onFault(error instanceof Error ? error : new Error(String(error)));
      this.#isFailing = true;
    }
  }

  async #writeTo(file: FileHandle, bytes: Buffer): Promise<void> {
    this.#isTorn = true;
    for (let offset = 0; offset < bytes.length; ) {
      const { bytesWritten } = await file.write(bytes, offset);
      offset += bytesWritten;
      this.#size += bytesWritten;
    }
    this.#isTorn = false;
  }

  /** The file of the last line; undefined when there is none, or somebody has removed it. */
  async #openCurrent(): Promise<FileHandle | undefined> {
    if (this.#name === undefined) return undefined;
    return open(join(this.#folder, this.#name), APPEND_SAFELY).catch(undefinedFor('ENOENT'));
  }

  async #openNew(): Promise<FileHandle> {
    await mkdir(this.#folder, { mode: 0o700 }).catch(undefinedFor('EEXIST')); // own-folder
    for (let count = 0; ; count += 1) {
      const name = logName(this.#options.now(), this.#channel, count);
      const taken = count < MAX_SAME_SECOND ? ['EEXIST'] : [];
      const file = await open(join(this.#folder, name), APPEND_SAFELY | constants.O_CREAT | constants.O_EXCL, 0o600).catch(undefinedFor(...taken));
      if (file === undefined) continue;
      this.#name = name;
      this.#size = 0;
      this.#isTorn = false;
      await this.#deleteOldest(name).catch((error: unknown) => file.close().then(() => Promise.reject(error)));
      return file;
    }
  }

  /** bounded-files. */
  async #deleteOldest(current: string): Promise<void> {
    const names = (await readdir(this.#folder)).filter((name) => isLogName(name) && name !== current);
    const excess = names.length + 1 - this.#options.limits().maxFiles;
    if (excess <= 0) return;
    for (const name of firstNames(names, Math.min(excess, MAX_DELETED), (a, b) => newestFirst(b, a))) await unlink(join(this.#folder, name));
  }
}
