// How much of what conversations contain stays in memory, over all blocks: a block may hold tens of megabytes of messages that others have sent, and hundreds of blocks run.
//
// bounded-together: all contents have so many bytes together. What was used least recently is dropped first, and read again when it is needed.
// small-stays: a small content is not counted, because to read it again costs more than its memory.
// never-kept-alive: the room holds no content by itself. One that is gone is the least recently used, and is noticed then.

/** What may be dropped. */
export interface Droppable {
  /** False while somebody works with the content. */
  drop(): boolean;
}

/** As in a file. In memory, a text may take twice as much. */
const MAX_BYTES = 256 * 1024 * 1024;
/** small-stays. */
const SMALL_BYTES = 64 * 1024;

/** The contents that are in memory. */
export class ContentRoom {
  readonly #maxBytes: number;
  readonly #smallBytes: number;
  /** The least recently used comes first. */
  readonly #used = new Map<WeakRef<Droppable>, number>();
  #bytes = 0;

  constructor(maxBytes = MAX_BYTES, smallBytes = SMALL_BYTES) {
    this.#maxBytes = maxBytes;
    this.#smallBytes = smallBytes;
  }

  /** The bytes of what is counted. */
  get bytes(): number {
    return this.#bytes;
  }

  /** A content was used, and has so many bytes. */
  use(content: WeakRef<Droppable>, bytes: number): void {
    this.leave(content);
    if (bytes < this.#smallBytes) return;
    this.#used.set(content, bytes);
    this.#bytes += bytes;
    if (this.#bytes > this.#maxBytes) this.#makeRoom();
  }

  /** A content is not in memory any more. */
  leave(content: WeakRef<Droppable>): void {
    this.#bytes -= this.#used.get(content) ?? 0;
    this.#used.delete(content);
  }

  /** bounded-together. */
  #makeRoom(): void {
    for (const content of this.#used.keys()) {
      if (this.#bytes <= this.#maxBytes) return;
      if (content.deref()?.drop() !== false) this.leave(content);
    }
  }
}
