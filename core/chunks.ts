// Chunks that arrive one after the other and are read as one. Pure: no I/O.
//
// K1 What is kept costs little more memory than its bytes, however they are cut. The object of a chunk costs a hundred bytes, and a chunk
//    keeps the whole read that it is a part of: so small ones, and small parts of a read, are copied together.
// K2 The first few chunks and large ones are kept as they came: most answers are nothing else, and cost no copy before they are joined.
// K3 Where their size is known, all of them are copied into room of that size, and joining them costs no second one.

/** What may be wasted on one chunk; also the first room for those that are copied. */
const SMALL_BYTES = 4096;
const FEW_CHUNKS = 16;
const NO_BYTES = Buffer.alloc(0);

/** Has no cap of its own: whoever adds looks at `bytes` first. */
export class Chunks {
  /** In front of what is in the room. */
  #list: Buffer[] = [];
  /** Doubles when it is full. */
  #room: Buffer;
  #used = 0;
  #bytes = 0;

  /** `expected` bytes are set aside at once: not for what a stranger announces. */
  constructor(expected = 0) {
    this.#room = expected === 0 ? NO_BYTES : Buffer.allocUnsafeSlow(expected); // K3
  }

  /** Of all that was added since it was cleared. */
  get bytes(): number {
    return this.#bytes;
  }

  add(chunk: Buffer): void {
    const { length } = chunk;
    if (length === 0) return;
    const beside = chunk.buffer.byteLength - length;
    const fits = this.#used + length <= this.#room.length;
    const isKept = !fits && (this.#list.length < FEW_CHUNKS || length >= SMALL_BYTES) && beside <= Math.max(length, SMALL_BYTES); // K1, K2
    this.#bytes += length;
    if (isKept) {
      this.#leaveRoom();
      this.#list.push(chunk);
    } else {
      this.#growBy(length);
      chunk.copy(this.#room, this.#used);
      this.#used += length;
    }
  }

  /** All of them as one, and `end` behind them, which is not kept. One chunk alone is handed out as it is. */
  join(end: Buffer = NO_BYTES): Buffer {
    if (this.#bytes === 0) return end;
    this.#leaveRoom();
    const first = this.#list[0] as Buffer;
    if (this.#list.length === 1 && end.length === 0) return first;
    return Buffer.concat([...this.#list, end], this.#bytes + end.length);
  }

  clear(): void {
    if (this.#bytes === 0) return;
    this.#list = [];
    this.#room = NO_BYTES;
    this.#used = 0;
    this.#bytes = 0;
  }

  #growBy(bytes: number): void {
    const needed = this.#used + bytes;
    if (needed <= this.#room.length) return;
    const room = Buffer.allocUnsafe(Math.max(needed, this.#room.length * 2, SMALL_BYTES));
    this.#room.copy(room, 0, 0, this.#used);
    this.#room = room;
  }

  /** What comes next stands behind the room. */
  #leaveRoom(): void {
    if (this.#used === 0) return;
    this.#list.push(this.#room.subarray(0, this.#used));
    this.#room = NO_BYTES;
    this.#used = 0;
  }
}
