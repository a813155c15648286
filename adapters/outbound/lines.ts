// Splits bytes into lines; chunks may end anywhere. Pure: no I/O.
//
// whole-lines: bytes are decoded once, in whole lines, so that no character is cut.
// any-line-end: LF, CRLF and CR end a line, even if CR and LF arrive in different chunks.
// bounded-line: a line longer than the cap is an error, and its bytes are dropped.
import { Chunks } from '../../core/base/chunks.ts';
import { ANSWER_LIMITS, BlockhouseError } from '../../core/index.ts';

const LF = 10;
const CR = 13;
const BOM = '\ufeff';

/** Text without the byte order mark that some servers put before it, and which is no part of JSON or of an event. */
export function withoutMark(text: string): string {
  return text.startsWith(BOM) ? text.slice(1) : text;
}

/** Reads the lines of one stream; `maxBytes` limits a line. */
export class LineReader {
  readonly #maxBytes: number;
  readonly #pending = new Chunks();
  #skipLineFeed = false;
  #first = true;

  constructor(maxBytes: number = ANSWER_LIMITS.line) {
    this.#maxBytes = maxBytes;
  }

  /** The lines that this chunk completes, without their ends. Throws UPSTREAM_MALFORMED for a line longer than the cap. */
  push(chunk: Buffer): string[] {
    const end = Math.max(chunk.lastIndexOf(LF), chunk.lastIndexOf(CR)) + 1;
    if (end === 0) {
      this.#keep(chunk);
      return [];
    }
    const lines = this.#split(this.#take(chunk.subarray(0, end))); // whole-lines
    if (end < chunk.length) this.#keep(chunk.subarray(end));
    return lines;
  }

  /** The text after the last line end; undefined if there is none. */
  end(): string | undefined {
    const rest = this.#take();
    return rest === '' ? undefined : rest;
  }

  #keep(bytes: Buffer): void {
    if (this.#pending.bytes + bytes.length > this.#maxBytes) throw tooLong(this.#maxBytes);
    this.#pending.add(bytes);
  }

  /** The bytes kept so far, followed by `head`, as text. */
  #take(head?: Buffer): string {
    let text = this.#pending.join(head).toString('utf8');
    this.#pending.clear();
    if (this.#first && text !== '') {
      this.#first = false;
      text = withoutMark(text);
    }
    return text;
  }

  #split(text: string): string[] {
    let from = 0;
    if (this.#skipLineFeed && text.startsWith('\n')) from = 1;
    this.#skipLineFeed = text.endsWith('\r'); // any-line-end
    const plain = text.includes('\r') ? text.slice(from).replace(/\r\n?/g, '\n') : from === 0 ? text : text.slice(from);
    if (plain === '') return [];
    const lines = plain.split('\n');
    lines.pop();
    if (plain.length > this.#maxBytes && lines.some((line) => line.length > this.#maxBytes)) throw tooLong(this.#maxBytes);
    return lines;
  }
}

function tooLong(bytes: number): BlockhouseError {
  return new BlockhouseError('UPSTREAM_MALFORMED', `The provider sent a line longer than ${bytes} bytes.`, { mayHaveRun: true });
}
