// The log of one block in PostgreSQL. A file of it is a name that lines share, and a line's place is where it would begin in that file, in bytes.
//
// own-files: the name of a file has a part of its server's id, so no two servers write into one.
// bounded-files: no file grows beyond the limit, unless a single line does, and the oldest files beyond the count are deleted. Lines older than a week go with their day.
import type { LogFile, LogPart } from '../../schemas/block-api.ts';
import type { LogRange } from '../port.ts';
import { logLine, logName } from '../parts/log-lines.ts';
import { assertPartSize, noLogFile, startOfLine, textOfEnd, USUAL_PART_BYTES } from '../parts/log-text.ts';
import type { BlockListener, LogFields, LogLevel, LogStore } from '../store.ts';
import { LogTail } from './log-tail.ts';
import type { LogWriter } from './log-writer.ts';
import type { Database } from './pool.ts';
import * as sql from './sql/logs.ts';

/** What a log works with. */
export interface PostgresLogOptions {
  readonly database: Database;
  readonly writer: LogWriter;
  readonly block: number;
  readonly listener: Pick<BlockListener, 'onLogged' | 'onLogFault' | 'logLimits'>;
  /** Calls back when another server has written lines of the block, until the returned function is called. */
  onWritten(listener: () => void): () => void;
  node(): string;
  /** Epoch milliseconds. */
  now(): number;
}

const NEWEST = 20;
const TAIL_BYTES = 65_536;
const NODE_CHARACTERS = 6;

/** The log of a block that is open. */
export class PostgresLog implements LogStore {
  readonly #options: PostgresLogOptions;
  #channel = 'block';
  #file: string | undefined;
  #last = '';
  #count = 0;
  #size = 0;
  #dropped = 0;
  #isFailing = false;
  #isClosed = false;
  #tail: LogTail | undefined;

  constructor(options: PostgresLogOptions) {
    this.#options = options;
  }

  open(channel: string): void {
    this.#channel = channel;
    this.#file = undefined;
  }

  write(level: LogLevel, event: string, fields: LogFields = {}): void {
    if (this.#isClosed) return;
    const now = this.#options.now();
    if (this.#dropped > 0 && this.#add(now, logLine(now, 'WARN', 'log.dropped', { lines: this.#dropped }))) this.#dropped = 0;
    if (!this.#add(now, logLine(now, level, event, fields))) this.#dropped += 1;
  }

  follow(): () => void {
    const { database, block, listener, onWritten } = this.#options;
    const tail = new LogTail({ database, block, onLines: (file, place, text) => listener.onLogged(file, place, text) });
    this.#tail = tail;
    const unhear = onWritten(() => tail.look());
    return () => {
      unhear();
      tail.close();
      if (this.#tail === tail) this.#tail = undefined;
    };
  }

  flush(): Promise<void> {
    return this.#options.writer.flush();
  }

  async clear(): Promise<number> {
    await this.flush();
    this.#file = undefined;
    const names = (await this.#names()).map(({ file }) => file);
    await this.#options.database.query(sql.DELETE, [this.#options.block, names]);
    return names.length;
  }

  async newest(): Promise<LogFile[]> {
    await this.flush();
    const { database, block } = this.#options;
    const files = await database.query<{ file: string; size: number; at: Date }>(sql.FILES, [block, NEWEST]);
    const logs: LogFile[] = [];
    for (const { file, size, at } of files) {
      const from = Math.max(0, size - TAIL_BYTES);
      const bytes = await this.#between(file, from, size);
      logs.push({ file, content: textOfEnd(bytes, from > 0), size, modifiedAt: at.toISOString(), truncated: from > 0 });
    }
    return logs;
  }

  async part(file: string, { before, maxBytes = USUAL_PART_BYTES }: LogRange): Promise<LogPart> {
    assertPartSize(maxBytes);
    await this.flush();
    const { database, block } = this.#options;
    const [found] = await database.query<{ size: number | null; at: Date }>(sql.FILE, [block, file.replaceAll('\0', '')]);
    if (found === undefined || found.size === null) throw noLogFile();
    const to = Math.min(before ?? found.size, found.size);
    // With the byte before it, which says whether a line begins there.
    const from = Math.max(0, to - maxBytes - 1);
    const bytes = await this.#between(file, from, to);
    const start = to <= maxBytes ? 0 : startOfLine(bytes);
    const content = bytes.toString('utf8', start);
    return { file, from: from + start, to: from + bytes.length, size: found.size, content, modifiedAt: found.at.toISOString() };
  }

  /** Writes the lines that wait, and none after them. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.flush();
  }

  reopen(): void {
    this.#isClosed = false;
  }

  #add(now: number, text: string): boolean {
    const { writer, block, listener, node } = this.#options;
    const length = Buffer.byteLength(text);
    if (this.#file === undefined || (this.#size > 0 && this.#size + length > listener.logLimits().maxFileBytes)) this.#begin(now, node());
    const [file, place] = [this.#file as string, this.#size];
    const onEnd = (error: Error | undefined): void => {
      if (error === undefined) {
        this.#isFailing = false;
        if (this.#tail?.given(file, place + length) !== false) listener.onLogged(file, place, text);
      } else this.#fail(error);
    };
    if (!writer.add({ block, at: new Date(now).toISOString(), file, place, text, onEnd })) return false;
    this.#size += length;
    return true;
  }

  /** own-files. */
  #begin(now: number, node: string): void {
    const channel = `${this.#channel}-${node.slice(0, NODE_CHARACTERS)}`;
    const name = logName(now, channel, 0);
    this.#count = name === this.#last ? this.#count + 1 : 0;
    this.#last = name;
    this.#file = logName(now, channel, this.#count);
    this.#size = 0;
    void this.#deleteOldest().catch((error: Error) => this.#fail(error));
  }

  /** Told once, until a line is written again. */
  #fail(error: Error): void {
    if (!this.#isFailing) this.#options.listener.onLogFault(error);
    this.#isFailing = true;
  }

  /** bounded-files. */
  async #deleteOldest(): Promise<void> {
    const { database, block, listener } = this.#options;
    const names = await this.#names();
    const excess = names.length - listener.logLimits().maxFiles + 1;
    if (excess > 0) await database.query(sql.DELETE, [block, names.slice(0, excess).map(({ file }) => file)]);
  }

  /** The oldest first. */
  async #names(): Promise<readonly { readonly file: string }[]> {
    return this.#options.database.query<{ file: string }>(sql.NAMES, [this.#options.block]);
  }

  async #between(file: string, from: number, to: number): Promise<Buffer> {
    const rows = await this.#options.database.query<{ place: number; bytes: Buffer }>(sql.BETWEEN, [this.#options.block, file, from, to]);
    const parts = rows.map(({ place, bytes }) => bytes.subarray(Math.max(0, from - place), Math.max(0, to - place)));
    return Buffer.concat(parts);
  }
}
