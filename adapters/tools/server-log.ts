// What a server writes to its standard error: a file that does not grow for ever, with secrets masked.
//
// slow-reader: the next piece is read when the last one is written, so that a flood waits in the pipe and not in memory. After some large pieces in a minute it waits a while,
//   and of very many lines in a piece the last ones are kept, some in a turn of the event loop: others are served meanwhile, however much a server writes.
// last-words: the first large pieces are read without a wait. A program that ends with an error may write much before its message, such as the one line of its whole source.
import { appendFile, mkdir, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import { redact } from '../../core/base/redact.ts';
import { cleanText } from './mcp-result.ts';
import { MinuteCount } from './minute-count.ts';

/** A file of this size is moved away; one old file is kept. */
const MAX_FILE_BYTES = 1024 * 1024;
/** The rest of a longer line is left out. */
const MAX_LINE = 4000;
const MAX_LAST_LINE = 300;
/** What is read at once of a server that writes as fast as it can has 65,536. */
const LARGE_PIECE = 16_384;
const AFTER_LARGE_MS = 200;
/** last-words. In a minute. */
const MAX_UNPAUSED = 16;
/** Lines of a piece that are kept. */
const MAX_LINES = 500;
/** To mask a line takes up to a tenth of a millisecond. */
const LINES_IN_A_TURN = 50;
/** Below the message of an error: its stack, what it has besides, and the version of Node. */
const BELOW_AN_ERROR = /^(?:\s|[\])}]+[,;]?$|Node\.js v\d)/;
const IS_ERROR = /^(?:Uncaught )?\w*(?:Error|Exception)\b/;

/** The log of one server. */
export class ServerErrors {
  /** The last line that says something, masked; of an error that ends with its stack, the message. */
  lastLine = '';
  readonly #path: string;
  readonly #secrets: readonly string[];
  #size: number | undefined;
  #rest = '';
  /** True while the rest of a long line is left out. */
  #skips = false;
  readonly #large = new MinuteCount();
  readonly #pause: (ms: number) => Promise<unknown>;

  /** `pause` is for tests. */
  constructor(path: string, secrets: readonly string[], pause: (ms: number) => Promise<unknown> = delay) {
    this.#path = path;
    this.#secrets = secrets;
    this.#pause = pause;
  }

  /** Reads to the end. Resolves then; never rejects. */
  async follow(stderr: Readable): Promise<void> {
    stderr.setEncoding('utf8');
    try {
      for await (const piece of stderr) {
        await this.#take(piece as string);
        if ((piece as string).length >= LARGE_PIECE && this.#large.add(1) > MAX_UNPAUSED) await this.#pause(AFTER_LARGE_MS); // slow-reader
      }
      await this.#take(this.#rest === '' ? '' : '\n');
    } catch (error) {
      this.lastLine ||= `Its log can't be written: ${(error as Error).message}`;
      stderr.resume(); // it must not wait for us
    }
  }

  async #take(piece: string): Promise<void> {
    const lines = `${this.#rest}${piece}`.split('\n');
    this.#rest = lines.pop() ?? '';
    if (this.#skips && lines.length > 0) {
      lines.shift();
      this.#skips = false;
    }
    const leftOut = lines.length - MAX_LINES;
    if (leftOut > 0) lines.splice(0, leftOut, `(${leftOut} lines are left out: it writes very many)`);
    for (let from = 0; from < lines.length; from += LINES_IN_A_TURN) {
      if (from > 0) await nextTurn();
      await this.#write(lines.slice(from, from + LINES_IN_A_TURN));
    }
    if (this.#rest.length <= MAX_LINE) return;
    if (!this.#skips) await this.#write([this.#rest]);
    this.#skips = true;
    this.#rest = '';
  }

  #clean(line: string): string {
    const clean = redact(cleanText(line.slice(0, MAX_LINE)).trimEnd(), this.#secrets);
    if (clean === '') return '';
    if (!(IS_ERROR.test(this.lastLine) && BELOW_AN_ERROR.test(clean)))
      this.lastLine = clean.length > MAX_LAST_LINE ? `${clean.slice(0, MAX_LAST_LINE)}…` : clean;
    return `${new Date().toISOString()} ${clean}\n`;
  }

  async #write(lines: readonly string[]): Promise<void> {
    const text = lines.map((line) => this.#clean(line)).join('');
    if (text === '') return;
    if (this.#size === undefined) {
      await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
      this.#size = await sizeOf(this.#path);
    }
    if (this.#size > MAX_FILE_BYTES) {
      await rm(`${this.#path}.1`, { force: true });
      await rename(this.#path, `${this.#path}.1`);
      this.#size = 0;
    }
    await appendFile(this.#path, text, { mode: 0o600 });
    this.#size += Buffer.byteLength(text);
  }
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0;
    throw error;
  }
}
