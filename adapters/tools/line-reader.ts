// Splits the output of a server into lines, and skips those that are too long. Pure: no I/O.
//
// bounded: of a line that is too long only its first and last bytes are kept, in which the id of its message may stand.
// all-counted: the listener also hears of bytes that belong to no line that is handed on, so that a flood of them can be ended: blank lines, and the rest of a line that is too
//   long, which may never end.
// few-pieces: a line that comes byte by byte takes no more memory than its bytes: pieces are joined, so many at a time.

const LINE_FEED = 0x0a;
/** So much of the beginning and of the end of a line is looked through for an id. */
const EDGE_BYTES = 256;
/** few-pieces. */
const MAX_SMALL = 1024;
const ID = /"id"\s*:\s*(-?\d{1,15}|"(?:[^"\\]|\\.){0,200}")/g;

/** What hears of lines. */
export interface LineListener {
  /** A whole line, without its line feed. */
  line(bytes: Buffer): void;
  /** A line that was skipped, and the ids that stand at its beginning or end, as JSON. */
  tooLong(ids: readonly string[]): void;
  /** A blank line. */
  blank(): void;
  /** So many bytes more of a line that is being skipped. */
  skips(bytes: number): void;
}

/** Takes the output piece by piece. */
export class LineReader {
  readonly #most: number;
  readonly #listener: LineListener;
  #pieces: Buffer[] = [];
  #length = 0;
  /** How many pieces have come since some were joined. */
  #small = 0;
  /** The edges of a line that is being skipped. */
  #skipped: { readonly head: Buffer; tail: Buffer } | undefined;

  /** `most`: the bytes of the longest line that is handed on. */
  constructor(most: number, listener: LineListener) {
    this.#most = most;
    this.#listener = listener;
  }

  read(bytes: Buffer): void {
    let from = 0;
    for (let end = bytes.indexOf(LINE_FEED, from); end !== -1; end = bytes.indexOf(LINE_FEED, from)) {
      this.#add(bytes.subarray(from, end));
      this.#end();
      from = end + 1;
    }
    if (from < bytes.length) this.#add(bytes.subarray(from));
  }

  #add(piece: Buffer): void {
    if (this.#skipped !== undefined) {
      this.#skipped.tail = lastOf(this.#skipped.tail, piece);
      this.#listener.skips(piece.length); // all-counted
      return;
    }
    this.#pieces.push(piece);
    this.#length += piece.length;
    if (++this.#small >= MAX_SMALL) {
      this.#pieces.push(Buffer.concat(this.#pieces.splice(-this.#small)));
      this.#small = 0;
    }
    if (this.#length <= this.#most) return;
    const whole = this.#take(); // bounded
    this.#skipped = { head: Buffer.from(whole.subarray(0, EDGE_BYTES)), tail: lastOf(Buffer.alloc(0), whole) };
  }

  #end(): void {
    const skipped = this.#skipped;
    if (skipped === undefined) {
      const line = this.#take();
      if (line.length > 0) this.#listener.line(line);
      else this.#listener.blank(); // all-counted
      return;
    }
    this.#skipped = undefined;
    this.#listener.tooLong(idsIn(`${skipped.head.toString('utf8')}\n${skipped.tail.toString('utf8')}`));
  }

  #take(): Buffer {
    const [first] = this.#pieces;
    const line = this.#pieces.length === 1 && first !== undefined ? first : Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#length = 0;
    this.#small = 0;
    return line;
  }
}

function lastOf(tail: Buffer, piece: Buffer): Buffer {
  return Buffer.from(piece.length >= EDGE_BYTES ? piece.subarray(-EDGE_BYTES) : Buffer.concat([tail, piece]).subarray(-EDGE_BYTES));
}

function idsIn(text: string): readonly string[] {
  return [...new Set([...text.matchAll(ID)].map(([, id = '']) => id))];
}
