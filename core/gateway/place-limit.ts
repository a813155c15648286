// How many places one key, or the keys of one group, may hold in all lines together. Pure: no I/O.
//
// one-count: a place counts from when it is taken to when it is given back, in whatever line it is.
// freed-wakes: when a place is given back, or the limit grows, the lines in which calls wait for it look again, the one that got a place longest ago first.

/** A line in which calls may wait for a limit. */
export interface WaitingLine {
  /** Starts the waiting calls that may start now. */
  startWaiting(): void;
}

/** No limits. */
export const UNLIMITED: readonly PlaceLimit[] = [];

/** A limit, and the places that are held under it. */
export class PlaceLimit {
  #most = Number.POSITIVE_INFINITY;
  #held = 0;
  /** Calls that wait, by line; the line that got a place longest ago comes first. */
  readonly #lines = new Map<WaitingLine, number>();

  get held(): number {
    return this.#held;
  }

  get hasRoom(): boolean {
    return this.#held < this.#most;
  }

  /** Places that are held already stay. */
  allow(most: number): void {
    const grows = most > this.#most;
    this.#most = most;
    if (grows) this.#wake();
  }

  take(): void {
    this.#held += 1;
  }

  leave(): void {
    this.#held -= 1;
    if (this.#lines.size > 0) this.#wake();
  }

  /** A call waits in this line. */
  wait(line: WaitingLine): void {
    this.#lines.set(line, (this.#lines.get(line) ?? 0) + 1);
  }

  /** It no longer does. */
  endWait(line: WaitingLine): void {
    const waiting = (this.#lines.get(line) ?? 0) - 1;
    if (waiting > 0) this.#lines.set(line, waiting);
    else this.#lines.delete(line);
  }

  /** freed-wakes. */
  #wake(): void {
    for (const line of [...this.#lines.keys()]) {
      if (!this.hasRoom) return;
      const before = this.#held;
      line.startWaiting();
      const waiting = this.#lines.get(line);
      if (this.#held === before || waiting === undefined) continue;
      this.#lines.delete(line);
      this.#lines.set(line, waiting);
    }
  }
}

/** True if each limit has room for one more place. */
export function haveRoom(limits: readonly PlaceLimit[]): boolean {
  for (const limit of limits) if (!limit.hasRoom) return false;
  return true;
}
