// Reads the bytes of a connection as answers of HTTP/1.x: heads, bodies, and where each answer ends. Pure: no I/O. Source: RFC 9110, RFC 9112.
//
// early: bytes that can't become an answer are refused when they come, and not when their line ends: it may never end.
// strict: what two readers could take differently is refused (two lengths, a length beside chunks, a folded or bare line), because one of them would take
//   the end of an answer for the beginning of the next.
// bounded: a head, all of its 1xx forerunners together, and the trailers each have a cap.
// one-piece: what bytes that came together have of a body is handed over as one piece, however many chunks it came in: a provider may send chunks of one byte.
// no-copies: a piece of one chunk is a view of the bytes that came.
import type { IncomingHttpHeaders } from 'node:http';
import { ANSWER_LIMITS } from '../../core/index.ts';

/** Bytes that are no answer of HTTP/1.x, or one that could be read in two ways. */
export class UnreadableAnswer extends Error {}

/** Takes an answer as it is read. What a member throws goes on to the caller of `read`, and nothing more is read. */
export interface AnswerReader {
  /** Not called for 1xx. */
  head(status: number, headers: IncomingHttpHeaders): void;
  body(piece: Buffer): void;
}

const MAX_SIZE_DIGITS = 12;
const MAX_CHUNK_LINE_BYTES = 1024;
const HEAD_END = '\r\n\r\n';
const LINE_END = '\r\n';
const CR = 13;
const LF = 10;

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [^\r\n\0]*)?$/;
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const BAD_VALUE = /[\0-\x08\x0a-\x1f\x7f]/;
const LENGTH = /^\d{1,15}$/;
const CHUNK_SIZE = /^0*([0-9A-Fa-f]{1,12})[\t ]*(?:;[^\r\n\0]*)?$/;
const CHUNK_SIZE_START = /^[0-9A-Fa-f]+[\t ]*(?:;[^\r\n\0]*)?\r?$/;
const START = 'HTTP/1.';

/** `close`: the body goes on until the connection ends. `ended`: the answer is complete. */
type Part = 'head' | 'length' | 'chunkSize' | 'chunk' | 'chunkEnd' | 'trailers' | 'close' | 'ended';

/** Reads one answer; `begin` prepares it for the next one on the same connection. */
export class AnswerParser {
  #reader: AnswerReader | undefined;
  #part: Part = 'ended';
  /** The beginning of a head or of a line. */
  #rest: Buffer | undefined;
  /** Bytes of the body, or of the present chunk, that are to come. */
  #left = 0;
  /** Of the 1xx heads before the answer. */
  #earlierBytes = 0;
  #trailerBytes = 0;
  #keepsAlive = false;
  #keepAliveSeconds: number | undefined;
  /** What the bytes that are read now have of the body so far (one-piece). */
  #piece: Buffer | undefined;
  /** Where the chunks are copied together, once there are several. */
  #joined: Buffer | undefined;

  /** The bytes that come are those of an answer for `reader`. */
  begin(reader: AnswerReader): void {
    this.#reader = reader;
    this.#part = 'head';
    this.#rest = undefined;
    this.#earlierBytes = 0;
    this.#keepsAlive = false;
    this.#keepAliveSeconds = undefined;
  }

  /** True once the whole answer has been read, or none was expected. */
  get isEnded(): boolean {
    return this.#part === 'ended';
  }

  /** True if only the end of the connection tells the end of the answer. */
  get endsWithConnection(): boolean {
    return this.#part === 'close';
  }

  /** True if the connection may carry another request after this answer. */
  get keepsAlive(): boolean {
    return this.#keepsAlive;
  }

  /** For how long the provider says that it keeps an idle connection, in seconds; undefined if it doesn't say. */
  get keepAliveSeconds(): number | undefined {
    return this.#keepAliveSeconds;
  }

  /** Reads on. Throws UnreadableAnswer. */
  read(bytes: Buffer): void {
    try {
      this.#readAll(bytes);
    } finally {
      this.#handOver();
    }
  }

  #handOver(): void {
    const piece = this.#piece;
    this.#piece = undefined;
    this.#joined = undefined;
    if (piece !== undefined) this.#reader?.body(piece);
  }

  #readAll(bytes: Buffer): void {
    let at = 0;
    while (at < bytes.length) {
      if (this.#part === 'length') at = this.#readBody(bytes, at, 'ended');
      else if (this.#part === 'chunk') at = this.#readBody(bytes, at, 'chunkEnd');
      else if (this.#part === 'head') at = this.#readHead(bytes, at);
      else if (this.#part === 'close') {
        this.#addToPiece(bytes, at, bytes.length);
        return;
      } else if (this.#part === 'ended') {
        this.#keepsAlive = false; // no request asked for the bytes that follow
        return;
      } else at = this.#readLine(bytes, at);
    }
  }

  #readBody(bytes: Buffer, at: number, next: Part): number {
    const end = Math.min(bytes.length, at + this.#left);
    this.#left -= end - at;
    if (this.#left === 0) this.#part = next;
    this.#addToPiece(bytes, at, end);
    return end;
  }

  /** one-piece. */
  #addToPiece(bytes: Buffer, start: number, end: number): void {
    const before = this.#piece;
    if (before === undefined) {
      this.#piece = start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end);
      return;
    }
    if (this.#joined === undefined) {
      this.#joined = Buffer.allocUnsafe(before.length + bytes.length - start);
      before.copy(this.#joined);
    }
    bytes.copy(this.#joined, before.length, start, end);
    this.#piece = this.#joined.subarray(0, before.length + end - start);
  }

  #readHead(bytes: Buffer, at: number): number {
    const before = this.#rest?.length ?? 0;
    const all = this.#rest === undefined ? bytes : Buffer.concat([this.#rest, bytes.subarray(at)]);
    const from = this.#rest === undefined ? at : 0;
    const end = all.indexOf(HEAD_END, Math.max(from, before - HEAD_END.length + 1), 'latin1');
    assertHeadBytes((end < 0 ? all.length : end) - from);
    if (end < 0) {
      if (before < START.length) assertStart(all.toString('latin1', from, from + START.length));
      assertLineEnds(all, from + before);
      this.#rest = from === 0 ? all : all.subarray(from);
      return bytes.length;
    }
    this.#rest = undefined;
    this.#takeHead(all.toString('latin1', from, end));
    return end + HEAD_END.length - (all === bytes ? 0 : before - at);
  }

  #takeHead(text: string): void {
    let end = text.indexOf(LINE_END);
    if (end < 0) end = text.length;
    const line = STATUS_LINE.exec(text.slice(0, end));
    if (line === null) throw new UnreadableAnswer('no status line of HTTP/1.x');
    const status = Number(line[2]);
    const headers: Record<string, string> = {};
    while (end < text.length) {
      const start = end + LINE_END.length;
      end = text.indexOf(LINE_END, start);
      if (end < 0) end = text.length;
      const colon = text.indexOf(':', start);
      const name = text.slice(start, colon).toLowerCase();
      const value = withoutBlanks(text, colon + 1, end);
      if (colon < 0 || colon > end || !NAME.test(name) || BAD_VALUE.test(value)) throw new UnreadableAnswer('a header line that is none');
      const other = headers[name];
      const isRepeated = typeof other === 'string';
      if (isRepeated && name === 'content-length') throw new UnreadableAnswer('two lengths');
      headers[name] = isRepeated ? `${other}, ${value}` : value;
    }
    if (status === 101) throw new UnreadableAnswer('a switch of protocols');
    if (status < 200) {
      this.#earlierBytes += text.length + HEAD_END.length;
      assertHeadBytes(this.#earlierBytes);
      return; // the answer itself is yet to come
    }
    this.#takeFraming(status, line[1] === '1', headers);
    this.#reader?.head(status, headers);
  }

  #takeFraming(status: number, isNewest: boolean, headers: Readonly<Record<string, string>>): void {
    const { connection, 'content-length': length, 'transfer-encoding': coding, 'keep-alive': keepAlive } = headers;
    this.#keepsAlive = isNewest && (connection === undefined || !/\bclose\b/i.test(connection));
    if (keepAlive !== undefined) this.#keepAliveSeconds = secondsOf(keepAlive);
    if (length !== undefined && (coding !== undefined || !LENGTH.test(length))) throw new UnreadableAnswer('a length that is none, or beside chunks');
    this.#left = 0;
    if (status === 204 || status === 304) this.#part = 'ended';
    else if (coding !== undefined) this.#takeCoding(coding);
    else if (length === undefined) this.#endWithConnection();
    else {
      this.#left = Number(length);
      this.#part = this.#left === 0 ? 'ended' : 'length';
    }
  }

  #takeCoding(coding: string): void {
    this.#trailerBytes = 0;
    const names = coding === 'chunked' ? [coding] : codingsOf(coding);
    if (names.every((name) => name === 'identity')) this.#endWithConnection();
    else if (names.every((name) => name === 'chunked')) this.#part = 'chunkSize';
    else throw new UnreadableAnswer('a transfer coding that was not asked for');
  }

  #endWithConnection(): void {
    this.#keepsAlive = false;
    this.#part = 'close';
  }

  /** The size of a chunk, the line end after a chunk, or a line of the trailers. */
  #readLine(bytes: Buffer, at: number): number {
    const before = this.#rest?.length ?? 0;
    if (before === 0) {
      const usual = this.#readUsualLine(bytes, at);
      if (usual > at) return usual;
    }
    const all = this.#rest === undefined ? bytes : Buffer.concat([this.#rest, bytes.subarray(at)]);
    const from = this.#rest === undefined ? at : 0;
    const end = all.indexOf(LF, from);
    if ((end < 0 ? all.length : end) - from > MAX_CHUNK_LINE_BYTES) throw new UnreadableAnswer('a line between chunks that does not end');
    if (end < 0) {
      this.#assertLineStart(all.toString('latin1', from));
      this.#rest = from === 0 ? all : all.subarray(from);
      return bytes.length;
    }
    if (end === from || all[end - 1] !== CR) throw new UnreadableAnswer('a line between chunks without its end');
    this.#rest = undefined;
    this.#takeLine(all.toString('latin1', from, end - 1));
    return end + 1 - (all === bytes ? 0 : before - at);
  }

  /** Fast path: the index after a complete line that is empty or holds only a chunk size; otherwise `at`. Most chunks are one frame, so this runs twice for each of them. */
  #readUsualLine(bytes: Buffer, at: number): number {
    let end = at;
    let size = 0;
    if (this.#part === 'chunkSize') {
      for (let digit = hexDigit(bytes[end]); digit >= 0 && end - at < MAX_SIZE_DIGITS; digit = hexDigit(bytes[end])) {
        size = size * 16 + digit;
        end += 1;
      }
      if (end === at) return at;
    }
    if (bytes[end] !== CR || bytes[end + 1] !== LF) return at;
    if (this.#part === 'chunkSize') this.#beginChunk(size);
    else if (this.#part === 'chunkEnd') this.#part = 'chunkSize';
    else this.#part = 'ended';
    return end + 2;
  }

  #beginChunk(size: number): void {
    this.#left = size;
    this.#part = size === 0 ? 'trailers' : 'chunk';
  }

  /** early. */
  #assertLineStart(text: string): void {
    if (this.#part === 'chunkEnd' && text !== '\r') throw tooLong();
    if (this.#part === 'chunkSize' && !CHUNK_SIZE_START.test(text)) throw withoutSize();
  }

  #takeLine(line: string): void {
    if (this.#part === 'chunkEnd') {
      if (line !== '') throw tooLong();
      this.#part = 'chunkSize';
    } else if (this.#part === 'trailers') {
      this.#trailerBytes += line.length;
      if (this.#trailerBytes > ANSWER_LIMITS.head) throw new UnreadableAnswer(`trailers of more than ${ANSWER_LIMITS.head} bytes`);
      if (line === '') this.#part = 'ended';
    } else {
      const size = CHUNK_SIZE.exec(line)?.[1];
      if (size === undefined) throw withoutSize();
      this.#beginChunk(Number.parseInt(size, 16));
    }
  }
}

/** Without the blanks at both ends; a control character there stays, and is refused. */
function withoutBlanks(text: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isBlank(text.charCodeAt(start))) start += 1;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

/** Throws for a beginning that can't become a status line. */
function assertStart(text: string): void {
  if (!START.startsWith(text)) throw new UnreadableAnswer('no status line of HTTP/1.x');
}

function codingsOf(value: string): string[] {
  const names = value.split(',').map((name) => withoutBlanks(name, 0, name.length).toLowerCase());
  return names.filter((name) => name !== '');
}

/** early: throws for a line feed, at or after `from`, that has no CR before it. */
function assertLineEnds(bytes: Buffer, from: number): void {
  for (let at = bytes.indexOf(LF, from); at >= 0; at = bytes.indexOf(LF, at + 1)) {
    if (bytes[at - 1] !== CR) throw new UnreadableAnswer('a line feed without a carriage return');
  }
}

function assertHeadBytes(count: number): void {
  if (count > ANSWER_LIMITS.head) throw new UnreadableAnswer(`headers of more than ${ANSWER_LIMITS.head} bytes`);
}

const tooLong = (): Error => new UnreadableAnswer('a chunk that is longer than its size');
const withoutSize = (): Error => new UnreadableAnswer('a chunk without a size');

function secondsOf(keepAlive: string): number | undefined {
  const seconds = /(?:^|[,;\t ])timeout=(\d{1,6})/i.exec(keepAlive)?.[1];
  return seconds === undefined ? undefined : Number(seconds);
}

/** -1 for any other byte. */
function hexDigit(byte = 0): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}
