// How long the answers of providers are read in one turn of the event loop, so that no provider holds up everybody else: one that fills a network read with
// thousands of frames makes work of some tens of milliseconds, and it may answer on many connections at once.
//
// bounded-turn: once reading has taken TURN_MS of a turn, what comes on further connections waits for a later turn. One read is never divided, and what begins to
//   wait in a turn is not read in it.
// by-group: groups take turns, and the connections of a group among themselves, so that the flood of one provider delays answers of another by a read or two.
// no-trace: a group without a connection that waits is not in memory.

/** Much more than a turn of a busy server needs for answers of usual providers. */
const TURN_MS = 20;

/** Has bytes that are read later. */
export interface LateReader {
  readonly group: object;
  /** Reads them now; nothing if they were read or dropped meanwhile. */
  readLate(): void;
}

/** The turns of a process. */
export class ReadTurns {
  readonly #turnMs: number;
  readonly #groups = new Map<object, LateReader[]>();
  #waiting = 0;
  #usedMs = 0;
  #isDue = false;

  constructor(turnMs = TURN_MS) {
    this.#turnMs = turnMs;
  }

  /** False when this turn is used up, or others wait. */
  get hasRoom(): boolean {
    return this.#usedMs < this.#turnMs && this.#groups.size === 0;
  }

  /** Counts what a read has taken of this turn, in milliseconds. */
  took(ms: number): void {
    this.#usedMs += ms;
    this.#beginSoon();
  }

  /** Calls `readLate` in a later turn. */
  add(reader: LateReader): void {
    const waiting = this.#groups.get(reader.group);
    if (waiting === undefined) this.#groups.set(reader.group, [reader]);
    else waiting.push(reader);
    this.#waiting += 1;
    this.#beginSoon();
  }

  #beginSoon(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(this.#turn);
  }

  readonly #turn = (): void => {
    this.#isDue = false;
    this.#usedMs = 0;
    let most = this.#waiting;
    for (const [group, waiting] of this.#groups) {
      if (most === 0 || this.#usedMs >= this.#turnMs) break; // bounded-turn
      most -= 1;
      this.#waiting -= 1;
      const reader = waiting.shift();
      this.#groups.delete(group); // no-trace
      if (waiting.length > 0) this.#groups.set(group, waiting); // by-group
      reader?.readLate();
    }
    if (this.#groups.size > 0) this.#beginSoon();
  };
}

/** Those of this process. */
export const readTurns = new ReadTurns();
