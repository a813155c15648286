// Collects chunks that arrive one after the other, to be read as one buffer. Pure: no I/O.
//
// bytes-only: the chunks take little more memory than their bytes. A Buffer object alone takes a hundred bytes, and it keeps the whole network read
//   that it is part of in memory, so small chunks, and small parts of large reads, are copied together.
// no-early-copy: the first few chunks and large ones are kept uncopied. Most answers have only such chunks and are copied once, by `join`.
// joined-once: what was joined is kept in place of its chunks, for an answer is read more than once.
// known-size: if the total size is known, all chunks are copied into one buffer of that size, and `join` needs no second copy.

/** Memory that one chunk may waste; also the size of the first buffer for copied chunks. */
const SMALL_BYTES = 4096;
const FEW_CHUNKS = 16;
const NO_BYTES = Buffer.alloc(0);

/** Chunks that are read as one buffer. It has no limit of its own: check `bytes` before adding. */
export class Chunks {
  /** Whole chunks; they come before the bytes in `#copies`. */
  #list: Buffer[] = [];
  /** Takes copies; doubles when it is full. */
  #copies: Buffer;
  #used = 0;
  #bytes = 0;

  /** Allocates `expected` bytes at once, so don't pass a size that a client announces. */
  constructor(expected = 0) {
    this.#copies = expected === 0 ? NO_BYTES : Buffer.allocUnsafeSlow(expected); // known-size
  }

  /** How many bytes have been added since the last `clear`. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Adds a chunk at the end. It must not be changed afterwards. */
  add(chunk: Buffer): void {
    const { length } = chunk;
    if (length === 0) return;
    const beside = chunk.buffer.byteLength - length;
    const fits = this.#used + length <= this.#copies.length; // known-size
    const isKept = !fits && (this.#list.length < FEW_CHUNKS || length >= SMALL_BYTES) && beside <= Math.max(length, SMALL_BYTES); // bytes-only, no-early-copy
    this.#bytes += length;
    if (isKept) {
      this.#listCopies();
      this.#list.push(chunk);
    } else {
      this.#growBy(length);
      chunk.copy(this.#copies, this.#used);
      this.#used += length;
    }
  }

  /** All chunks as one buffer, followed by `end`, which is not kept. A single chunk is returned as it is. */
  join(end: Buffer = NO_BYTES): Buffer {
    if (this.#bytes === 0) return end;
    this.#listCopies();
    const first = this.#list[0] as Buffer;
    if (this.#list.length === 1 && end.length === 0) return first;
    const joined = Buffer.concat([...this.#list, end], this.#bytes + end.length);
    if (end.length === 0) this.#list = [joined]; // joined-once
    return joined;
  }

  /** The first bytes, at most `most` of them, without joining the others. */
  start(most: number): Buffer {
    this.#listCopies();
    const parts: Buffer[] = [];
    let left = most;
    for (const chunk of this.#list) {
      if (left <= 0) break;
      parts.push(chunk.subarray(0, left));
      left -= chunk.length;
    }
    return Buffer.concat(parts);
  }

  /** Forgets everything. */
  clear(): void {
    if (this.#bytes === 0) return;
    this.#list = [];
    this.#copies = NO_BYTES;
    this.#used = 0;
    this.#bytes = 0;
  }

  #growBy(bytes: number): void {
    const needed = this.#used + bytes;
    if (needed <= this.#copies.length) return;
    const copies = Buffer.allocUnsafe(Math.max(needed, this.#copies.length * 2, SMALL_BYTES));
    this.#copies.copy(copies, 0, 0, this.#used);
    this.#copies = copies;
  }

  /** Moves the copies to the list, so that the next chunk comes after them. */
  #listCopies(): void {
    if (this.#used === 0) return;
    this.#list.push(this.#copies.subarray(0, this.#used));
    this.#copies = NO_BYTES;
    this.#used = 0;
  }
}
