// Requests that a client sends before the answers to its earlier ones have ended (pipelining). They wait here, so that a client that doesn't read can't fill
// the memory.
//
// Node's parser makes a request of everything that it has read. That is up to 64 KiB at once, which may be thousands of requests.
//
// back-pressure: a waiting request begins when fewer than MAX_AT_ONCE of its connection are in work, and its client has read what it got.
// one-a-turn: in a turn of the event loop at most PER_TURN waiting requests begin, and one of each connection: its answer then counts when the next one is due.
// stop-reading: a connection with READ_UNTIL waiting requests is not read, and once MAX_PARSED have come in one turn, no other one is read in it (connection-reads.ts).
// all-closed: when a client leaves, the answers behind its oldest one are closed, too. Node closes only that one, and what waits for the end of the others would
//   wait for ever.
// bounded-sum: all connections together have at most `maxWaiting` waiting requests. Beyond that, the connection with the most of them is closed.
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionReads } from './connection-reads.ts';

/** The most requests of one connection that are in work, besides its oldest. */
const MAX_AT_ONCE = 8;
/** With fewer waiting requests a connection is read, so that it is noticed when the client leaves. */
const READ_UNTIL = 32;
const PER_TURN = 16;
const MAX_PARSED = 1024;
/** Each takes 2 to 3 KB. One connection can't have that many: 64 KiB are 3,600 of the shortest requests. */
const MAX_WAITING = 32_768;

interface Waiting {
  readonly res: ServerResponse;
  readonly begin: () => void;
}

/** One connection. */
interface Line {
  readonly socket: Socket;
  waiting: Waiting[];
  /** Answers that have begun and not ended. The connection's oldest one may be missing. */
  readonly open: Set<ServerResponse>;
}

/** The waiting requests of a server. */
export class Pipelines {
  readonly #reads: ConnectionReads;
  readonly #onCut: () => void;
  readonly #maxWaiting: number;
  readonly #lines = new WeakMap<Socket, Line>();
  readonly #crowded = new Set<Line>();
  readonly #ready = new Set<Line>();
  #waiting = 0;
  #parsed = 0;
  #isDue = false;

  /** `onCut` is called when a connection is closed because too many requests wait. */
  constructor(reads: ConnectionReads, onCut: () => void, maxWaiting = MAX_WAITING) {
    this.#reads = reads;
    this.#onCut = onCut;
    this.#maxWaiting = maxWaiting;
  }

  /** How many requests wait. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Calls `begin` when it is the turn of the request of `res`; never if its client leaves before. */
  wait(res: ServerResponse, begin: () => void): void {
    const line = this.#lineOf(res.req.socket);
    line.waiting.push({ res, begin });
    this.#crowded.add(line);
    this.#waiting += 1;
    if (line.waiting.length === READ_UNTIL) line.socket.pause();
    this.#parsed += 1;
    if (this.#parsed === MAX_PARSED) this.#reads.holdOthers();
    if (this.#waiting > this.#maxWaiting) this.#cut();
    else if (hasRoom(line)) this.#ready.add(line);
    this.#beginSoon();
  }

  #lineOf(socket: Socket): Line {
    const known = this.#lines.get(socket);
    if (known !== undefined) return known;
    const line: Line = { socket, waiting: [], open: new Set() };
    this.#lines.set(socket, line);
    this.#reads.noteAhead(socket);
    socket.on('drain', () => this.#wake(line));
    // Node itself reads on after each complete request.
    socket.on('resume', () => {
      if (line.waiting.length >= READ_UNTIL) socket.pause(); // stop-reading
    });
    let { stackTraceLimit } = Error;
    // Then Node makes an error for each request without an answer. Thousands of stack traces that nobody reads would hold up everybody.
    socket.prependOnceListener('close', () => {
      stackTraceLimit = Error.stackTraceLimit;
      Error.stackTraceLimit = 0;
    });
    socket.once('close', () => {
      Error.stackTraceLimit = stackTraceLimit;
      this.#drop(line);
      for (const res of [...line.open]) if (res.socket === null && !res.writableFinished) res.destroy().emit('close'); // all-closed
    });
    return line;
  }

  #wake(line: Line): void {
    if (line.waiting.length === 0 || !hasRoom(line)) return;
    this.#ready.add(line);
    this.#beginSoon();
  }

  #beginSoon(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(this.#turn);
  }

  /** one-a-turn. */
  readonly #turn = (): void => {
    this.#isDue = false;
    this.#parsed = 0;
    const begun: Line[] = [];
    for (const line of this.#ready) {
      if (begun.length === PER_TURN) break;
      this.#ready.delete(line);
      begun.push(line);
      if (hasRoom(line)) this.#begin(line);
    }
    for (const line of begun) this.#wake(line);
    if (this.#ready.size > 0) this.#beginSoon();
  };

  #begin(line: Line): void {
    const next = line.waiting.shift();
    if (next === undefined) return;
    this.#waiting -= 1;
    if (line.waiting.length === 0) this.#crowded.delete(line);
    if (line.waiting.length === READ_UNTIL - 1) line.socket.resume();
    line.open.add(next.res);
    next.res.once('close', () => {
      line.open.delete(next.res);
      this.#wake(line);
    });
    next.begin();
  }

  /** bounded-sum. */
  #cut(): void {
    let most: Line | undefined;
    for (const line of this.#crowded) if (most === undefined || line.waiting.length > most.waiting.length) most = line;
    if (most === undefined) return;
    this.#drop(most);
    most.socket.destroy();
    this.#onCut();
  }

  #drop(line: Line): void {
    this.#waiting -= line.waiting.length;
    line.waiting = [];
    this.#crowded.delete(line);
    this.#ready.delete(line);
  }
}

/** back-pressure: also the answers that wait behind others are unread. */
function hasRoom({ socket, open }: Line): boolean {
  if (open.size >= MAX_AT_ONCE) return false;
  let unread = socket.writableLength;
  for (const res of open) if (res.socket === null) unread += res.writableLength;
  return unread < socket.writableHighWaterMark;
}
