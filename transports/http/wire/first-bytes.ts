// New connections whose first bytes are looked at before HTTP has them, while somebody floods.
//
// few-lines: to look is cheap. What is dear to parse has thousands of lines in 64 KiB: tiny chunks, headers and requests. First bytes with at most CHEAP_LINES are parsed at the end of the turn, and
//   then their client is known by its key. The dear ones wait, and each turn parses one.
// not-at-once: until the tick after the look, Node takes a connection for paused. HTTP could not pause it, and it would be read without end.
// silent: one that says nothing is nobody's burden. HTTP gets it after SILENCE_MS, and closes it in time.
import type { Socket } from 'node:net';

/** The headers of a request can have hardly more. As tiny chunks, so many lines take less than half a millisecond. */
const CHEAP_LINES = 256;
/** The most that are parsed at the end of a turn. */
const CHEAP_PER_TURN = 32;
const SILENCE_MS = 1000;
const LINE_END = 0x0a;

/** The connections of a server that HTTP does not have yet. */
export class FirstBytes {
  readonly #onSeen: () => void;
  /** With what lets HTTP have them. */
  readonly #waiting = new Map<Socket, () => void>();
  readonly #cheap = new Set<Socket>();
  readonly #dear = new Set<Socket>();
  #begun: Socket[] = [];

  /** `onSeen` is called when something has come that the end of the turn is to see. */
  constructor(onSeen: () => void) {
    this.#onSeen = onSeen;
  }

  has(socket: Socket): boolean {
    return this.#waiting.has(socket);
  }

  /** True if the end of a turn has to begin some of them. */
  get areDue(): boolean {
    return this.#cheap.size + this.#dear.size > 0;
  }

  get dear(): Iterable<Socket> {
    return this.#dear;
  }

  /** `begin` lets HTTP have it. */
  lookAt(socket: Socket, begin: () => void): void {
    let isLookedAt = false;
    const look = (): void => {
      isLookedAt = true;
      clearTimeout(silence);
      const bytes = socket.read() as Buffer | null;
      if (bytes === null) {
        this.begin(socket); // it has ended, and HTTP hears of that in this turn
        return;
      }
      socket.unshift(bytes);
      (hasFewLines(bytes) ? this.#cheap : this.#dear).add(socket); // not-at-once
      this.#onSeen();
    };
    const silence = setTimeout(() => this.begin(socket), SILENCE_MS).unref();
    socket.on('error', ignored);
    socket.once('readable', look);
    this.#waiting.set(socket, () => {
      clearTimeout(silence);
      if (!isLookedAt) socket.off('readable', look); // Node resumes it then, even if it is paused meanwhile
      begin();
      socket.off('error', ignored);
    });
  }

  /** It is closed. */
  drop(socket: Socket): void {
    this.#waiting.delete(socket);
    this.#cheap.delete(socket);
    this.#dear.delete(socket);
  }

  begin(socket: Socket): void {
    const begin = this.#waiting.get(socket);
    this.drop(socket);
    if (socket.destroyed) return;
    begin?.();
    this.#begun.push(socket);
    this.#onSeen();
  }

  /** few-lines. */
  beginCheap(): void {
    for (const socket of [...this.#cheap].slice(0, CHEAP_PER_TURN)) this.begin(socket);
  }

  beginAll(): void {
    for (const socket of [...this.#waiting.keys()]) this.begin(socket);
  }

  /** Those that have begun since the last call. */
  takeBegun(): readonly Socket[] {
    const begun = this.#begun;
    this.#begun = [];
    return begun;
  }
}

/** Its 'close' follows. */
function ignored(): void {}

function hasFewLines(bytes: Buffer): boolean {
  let at = -1;
  for (let lines = 0; lines <= CHEAP_LINES; lines += 1) {
    at = bytes.indexOf(LINE_END, at + 1);
    if (at === -1) return true;
  }
  return false;
}
