// Whole answers that their clients have not read yet: how many bytes of them all connections hold together.
//
// bounded-sum: beyond the limit the answer that has waited longest is given up, and its connection closed. A client that reads has its answer within moments;
//   what waits longest most likely waits for a client that never reads. The newest is never given up, so one answer alone may be larger.
import type { ServerResponse } from 'node:http';

/** The most bytes, as many as bodies have. */
const MAX_UNREAD_BYTES = 256 * 1024 * 1024;

/** The unread answers of a process. */
export class UnreadAnswers {
  readonly #limit: number;
  /** The oldest first. */
  readonly #answers = new Map<ServerResponse, number>();
  #bytes = 0;

  constructor(limit = MAX_UNREAD_BYTES) {
    this.#limit = limit;
  }

  /** The bytes that are held now. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Counts an answer that has ended, until it is sent or its connection is closed. */
  add(res: ServerResponse): void {
    if (this.#answers.has(res)) return;
    this.#answers.set(res, res.writableLength);
    this.#bytes += res.writableLength;
    res.once('close', () => this.#leave(res));
    for (const oldest of this.#answers.keys()) {
      if (this.#bytes <= this.#limit || oldest === res) return; // bounded-sum
      this.#leave(oldest);
      oldest.req.socket.destroy();
    }
  }

  #leave(res: ServerResponse): void {
    this.#bytes -= this.#answers.get(res) ?? 0;
    this.#answers.delete(res);
  }
}

/** Those of this process. */
export const unreadAnswers = new UnreadAnswers();
