// Whole answers that their clients have not read yet: how many bytes of them all connections hold together.
//
// bounded-sum: beyond the limit, of the caller whose answers hold the most, the one that has waited longest is given up, and its connection closed. A client that
//   reads has its answer within moments; what waits longest most likely waits for a client that never reads. The newest is never given up, so one answer alone may
//   be larger.
// own-burden: so a caller that does not read costs no other caller an answer that is being read slowly.
import type { ServerResponse } from 'node:http';

/** The most bytes, as many as bodies have. */
const MAX_UNREAD_BYTES = 256 * 1024 * 1024;

/** The unread answers of a process. */
export class UnreadAnswers {
  readonly #limit: number;
  /** The oldest first. */
  readonly #answers = new Map<ServerResponse, number>();
  readonly #owners = new WeakMap<ServerResponse, string>();
  #bytes = 0;

  constructor(limit = MAX_UNREAD_BYTES) {
    this.#limit = limit;
  }

  /** The bytes that are held now. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Says whose answer it will be: a key's or the token's (own-burden). All others are of one caller. */
  belongs(res: ServerResponse, owner: string): void {
    this.#owners.set(res, owner);
  }

  /** Whose answer it is; empty for all others. */
  ownerOf(res: ServerResponse): string {
    return this.#owners.get(res) ?? '';
  }

  /** Counts an answer that has ended, until it is sent or its connection is closed. */
  add(res: ServerResponse): void {
    if (this.#answers.has(res)) return;
    this.#answers.set(res, res.writableLength);
    this.#bytes += res.writableLength;
    res.once('close', () => this.#leave(res));
    while (this.#bytes > this.#limit) {
      const victim = this.#victim(res);
      if (victim === undefined) return;
      this.#leave(victim);
      victim.req.socket.destroy();
    }
  }

  /** bounded-sum. */
  #victim(newest: ServerResponse): ServerResponse | undefined {
    const sums = new Map<string, number>();
    const oldest = new Map<string, ServerResponse>();
    for (const [res, bytes] of this.#answers) {
      const owner = this.ownerOf(res);
      sums.set(owner, (sums.get(owner) ?? 0) + bytes);
      if (res !== newest && !oldest.has(owner)) oldest.set(owner, res);
    }
    const owners = [...oldest.keys()].sort((one, other) => (sums.get(other) ?? 0) - (sums.get(one) ?? 0));
    return oldest.get(owners[0] ?? '');
  }

  #leave(res: ServerResponse): void {
    this.#bytes -= this.#answers.get(res) ?? 0;
    this.#answers.delete(res);
  }
}

/** Those of this process. */
export const unreadAnswers = new UnreadAnswers();
