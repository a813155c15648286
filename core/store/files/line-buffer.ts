// Lines that wait to be written to a file, as bytes. As texts, each would be many objects that live until the write, and that doubled the work of the garbage
// collector where thousands come in a second. Pure: no I/O.

const FIRST_BYTES = 16 * 1024;
/** UTF-8 needs no more for one unit of a text. */
const MAX_BYTES_A_UNIT = 3;
const NEWLINE = 0x0a;

/** Whole lines, up to a number of bytes. */
export class LineBuffer {
  readonly #most: number;
  #bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #used = 0;

  /** Keeps `most` bytes. */
  constructor(most: number) {
    this.#most = most;
  }

  /** How many bytes wait. */
  get size(): number {
    return this.#used;
  }

  /** Adds a line, which ends with a newline. False if there is no room for it. */
  add(line: string): boolean {
    if (!this.#hasRoom(line.length * MAX_BYTES_A_UNIT) && !this.#hasRoom(Buffer.byteLength(line))) return false;
    this.#used += this.#bytes.write(line, this.#used);
    return true;
  }

  /** Returns all lines and forgets them. */
  take(): Buffer {
    const lines = Buffer.from(this.#bytes.subarray(0, this.#used));
    this.#used = 0;
    return lines;
  }

  /** Puts lines that were taken before those that have come since. Of the latter, the last are dropped when there is no room for all; then this is false. */
  putBack(lines: Buffer): boolean {
    const since = this.take();
    this.#append(lines);
    const room = this.#most - lines.length;
    const fits = since.length <= room;
    this.#append(fits ? since : since.subarray(0, since.lastIndexOf(NEWLINE, Math.max(room - 1, 0)) + 1));
    return fits;
  }

  #append(lines: Buffer): void {
    if (this.#hasRoom(lines.length)) this.#used += lines.copy(this.#bytes, this.#used);
  }

  #hasRoom(bytes: number): boolean {
    const needed = this.#used + bytes;
    if (needed > this.#most) return false;
    if (needed > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.min(this.#most, Math.max(needed, this.#bytes.length * 2)));
      this.#bytes.copy(larger, 0, 0, this.#used);
      this.#bytes = larger;
    }
    return true;
  }
}
