// What a server writes to its standard error: a file that does not grow for ever, with secrets masked.
//
// slow-reader: the next piece is read when the last one is written, so that a flood waits in the pipe and not in memory.
import { appendFile, mkdir, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Readable } from 'node:stream';
import { redact } from '../../core/base/redact.ts';
import { cleanText } from './mcp-result.ts';

/** A file of this size is moved away; one old file is kept. */
const MAX_FILE_BYTES = 1024 * 1024;
/** The rest of a longer line is left out. */
const MAX_LINE = 4000;
const MAX_LAST_LINE = 300;
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

  constructor(path: string, secrets: readonly string[]) {
    this.#path = path;
    this.#secrets = secrets;
  }

  /** Reads to the end. Resolves then; never rejects. */
  async follow(stderr: Readable): Promise<void> {
    stderr.setEncoding('utf8');
    try {
      for await (const piece of stderr) await this.#take(piece as string); // slow-reader
      await this.#take(this.#rest === '' ? '' : '\n');
    } catch (error) {
      this.lastLine ||= `Its log can't be written: ${(error as Error).message}`;
      stderr.resume(); // it must not wait for us
    }
  }

  async #take(piece: string): Promise<void> {
    const lines = `${this.#rest}${piece}`.split('\n');
    this.#rest = lines.pop() ?? '';
    let text = '';
    for (const line of lines) {
      if (!this.#skips) text += this.#clean(line);
      this.#skips = false;
    }
    if (this.#rest.length > MAX_LINE) {
      if (!this.#skips) text += this.#clean(this.#rest);
      this.#skips = true;
      this.#rest = '';
    }
    if (text !== '') await this.#write(text);
  }

  #clean(line: string): string {
    const clean = redact(cleanText(line.slice(0, MAX_LINE)).trimEnd(), this.#secrets);
    if (clean === '') return '';
    if (!(IS_ERROR.test(this.lastLine) && BELOW_AN_ERROR.test(clean)))
      this.lastLine = clean.length > MAX_LAST_LINE ? `${clean.slice(0, MAX_LAST_LINE)}…` : clean;
    return `${new Date().toISOString()} ${clean}\n`;
  }

  async #write(text: string): Promise<void> {
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
