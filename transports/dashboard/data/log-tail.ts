// The log of a block as it grows: lines come over the socket, and older ones are read as somebody scrolls up.
//
// no-gap: the lines that are shown follow each other in their file without a hole. What was missed is read; where it is too much, the newest part replaces all.
// bounded: there are never more than MAX_LINES. While the end is shown, the oldest go; while somebody reads further up, the newest are only counted, and read
//   when the reader comes down to them.
import { batch, type Signal, signal } from '@preact/signals';
import type { LogFrame, LogList, LogPart } from '../../../core/types.ts';
import type { Frame } from './frame.ts';
import { bytesOf, type LogLine, readLines } from './log-lines.ts';

export const MAX_LINES = 2000;
/** Read at a time. */
const PART_BYTES = 65_536;
/** The most that the server gives at a time. */
const LARGEST_PART_BYTES = 1024 * 1024;
const MAX_FILES = 20;

/** Reads from the server: a path below the block's logs. Rejects with an ApiError. */
export type Read = <T>(query: string) => Promise<T>;

/** The lines of one file. */
export class LogTail {
  readonly name: string;
  readonly files: Signal<readonly string[]> = signal([]);
  readonly file: Signal<string | undefined> = signal(undefined);
  readonly lines: Signal<readonly LogLine[]> = signal([]);
  /** Lines that follow those in `lines` and are not there (bounded). */
  readonly uncounted: Signal<number> = signal(0);
  readonly isRead: Signal<boolean> = signal(false);
  readonly error: Signal<unknown> = signal(undefined);
  /** Where in the file the first line begins and the last one ends. */
  #from = 0;
  #to = 0;
  /** The end is shown, so old lines may go and another file may come. */
  #follows = true;
  /** Something has come that `lines` does not have, although it should. */
  #isBehind = false;
  #reading: Promise<void> | undefined;
  readonly #read: Read;

  constructor(name: string, read: Read) {
    this.name = name;
    this.#read = read;
  }

  get hasOlder(): boolean {
    return this.#from > 0;
  }

  /** The frame that begins the subscription. What was missed is read when the server answers it. */
  begin(): object {
    this.#isBehind = true;
    return { type: 'subscribe', block: this.name, logs: true };
  }

  take(frame: Frame): boolean {
    if (frame['block'] !== this.name) return false;
    if (frame.type === 'log') this.#grow(frame as Frame & LogFrame);
    else if (frame.type === 'gone' || (frame.type === 'refresh' && this.#isBehind)) void this.catchUp();
    return frame.type === 'log' || frame.type === 'gone' || frame.type === 'refresh';
  }

  /** Whether the end is shown. */
  follow(follows: boolean): void {
    this.#follows = follows;
    if (!follows) return;
    if (this.uncounted.peek() > 0) void this.catchUp();
    else this.#trim();
  }

  /** Shows another file. */
  async choose(file: string): Promise<void> {
    batch(() => {
      this.file.value = file;
      this.lines.value = [];
    });
    this.#to = 0;
    await this.catchUp();
  }

  /** Reads what is missing at the end. Never rejects. One at a time: what comes meanwhile is read afterwards. */
  catchUp(): Promise<void> {
    this.#isBehind = true;
    this.#reading ??= this.#catchUp().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  /** Reads the lines before the first one. Never rejects. */
  async older(): Promise<void> {
    const { file } = this;
    const name = file.peek();
    if (name === undefined || !this.hasOlder) return;
    const before = this.#from;
    try {
      const part = await this.#part(name, `&before=${before}&max=${PART_BYTES}`);
      if (file.peek() !== name || this.#from !== before) return;
      this.#from = part.from;
      const lines = [...readLines(part.content, part.from), ...this.lines.peek()];
      const left = lines.slice(MAX_LINES);
      batch(() => {
        this.lines.value = lines.slice(0, MAX_LINES);
        this.uncounted.value += left.length;
      });
      this.#to = left[0]?.offset ?? this.#to;
    } catch (error) {
      this.error.value = error;
    }
  }

  /** Reads the lines that follow the last one, where they were only counted. Never rejects. */
  async newer(): Promise<void> {
    const { file } = this;
    const name = file.peek();
    if (name === undefined || this.uncounted.peek() === 0) return;
    const from = this.#to;
    try {
      const part = await this.#part(name, `&before=${from + PART_BYTES}&max=${PART_BYTES}`);
      if (file.peek() !== name || this.#to !== from) return;
      // The part may end in the middle of a line.
      const content = part.content.slice(0, part.content.lastIndexOf('\n') + 1);
      const added = readLines(content, part.from).filter(({ offset }) => offset >= from);
      if (added.length === 0) return void (await this.catchUp());
      const lines = [...this.lines.peek(), ...added].slice(-MAX_LINES);
      this.#to = part.from + bytesOf(content);
      this.#from = lines[0]?.offset ?? this.#from;
      batch(() => {
        this.lines.value = lines;
        this.uncounted.value = this.#to >= part.size ? 0 : Math.max(1, this.uncounted.peek() - added.length);
      });
    } catch (error) {
      this.error.value = error;
    }
  }

  /** The whole file as bytes, for a download. Rejects with an ApiError. */
  async whole(file: string): Promise<Blob> {
    const parts: string[] = [];
    for (let before: number | undefined; before !== 0; ) {
      const part = await this.#part(file, `&max=${LARGEST_PART_BYTES}${before === undefined ? '' : `&before=${before}`}`);
      parts.unshift(part.content);
      before = part.from;
    }
    return new Blob(parts, { type: 'text/plain' });
  }

  #part(file: string, query: string): Promise<LogPart> {
    return this.#read<LogPart>(`?file=${encodeURIComponent(file)}${query}`);
  }

  async #catchUp(): Promise<void> {
    try {
      while (this.#isBehind) {
        this.#isBehind = false;
        const { logs } = await this.#read<LogList>('');
        const files = logs.map(({ file }) => file);
        const chosen = this.file.peek();
        const name = chosen !== undefined && files.includes(chosen) ? chosen : files[0];
        const part = name === undefined ? undefined : await this.#part(name, `&max=${PART_BYTES}`);
        batch(() => {
          this.files.value = files;
          this.error.value = undefined;
          this.isRead.value = true;
          this.file.value = name;
          if (part === undefined) this.lines.value = [];
          else this.#join(part);
        });
      }
    } catch (error) {
      this.error.value = error;
    }
  }

  /** no-gap. */
  #join({ from, to, content }: LogPart): void {
    const lines = readLines(content, from);
    if (this.lines.peek().length === 0 || from > this.#to || this.uncounted.peek() > 0) {
      this.#from = from;
      this.lines.value = lines;
    } else this.lines.value = [...this.lines.peek(), ...lines.filter(({ offset }) => offset >= this.#to)];
    this.#to = to;
    this.uncounted.value = 0;
    this.#trim();
  }

  #grow({ file, offset, text }: LogFrame): void {
    const files = this.files.peek();
    if (!files.includes(file)) {
      const newest = files[0];
      this.files.value = [file, ...files].slice(0, MAX_FILES);
      if (!this.#follows || this.file.peek() !== newest) return;
      // The log goes on in the next file.
      batch(() => {
        this.file.value = file;
        this.lines.value = [];
        this.isRead.value = true;
      });
      this.#from = 0;
      this.#to = 0;
    }
    if (file !== this.file.peek() || offset < this.#to) return;
    if (this.uncounted.peek() > 0) {
      this.uncounted.value += countOf(text);
      return;
    }
    if (offset > this.#to || this.#reading !== undefined) {
      if (this.#follows) void this.catchUp();
      else this.uncounted.value += Math.max(1, countOf(text));
      return;
    }
    const lines = this.lines.peek();
    if (!this.#follows && lines.length >= MAX_LINES) {
      this.uncounted.value += countOf(text); // bounded
      return;
    }
    this.lines.value = [...lines, ...readLines(text, offset)];
    this.#to = offset + bytesOf(text);
    this.#trim();
  }

  /** bounded. */
  #trim(): void {
    const lines = this.lines.peek();
    if (!this.#follows || lines.length <= MAX_LINES) return;
    const kept = lines.slice(-MAX_LINES);
    this.#from = kept[0]?.offset ?? this.#from;
    this.lines.value = kept;
  }
}

function countOf(text: string): number {
  return text.split('\n').length - 1;
}
