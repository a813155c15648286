// Requests that a client sends before the answers to its earlier ones have ended (pipelining). They wait here, so that a client that doesn't read can't fill
// the memory.
//
// Node's parser makes a request of everything that it has read. That is up to 64 KiB at once, which may be thousands of requests.
//
// back-pressure: a waiting request begins when fewer than MAX_AT_ONCE of its connection are in work, and its client has read what it got.
// one-a-turn: in a turn of the event loop at most PER_TURN waiting requests begin, and one of each connection: its answer then counts when the next one is due.
// stop-reading: a connection with READ_UNTIL waiting requests is not read.
// one-burst: once MAX_PARSED waiting requests have come in one turn, or it has read for READ_MS, no other connection is read in it. What a turn parses holds up everybody, and none of it
//   can be freed before the turn ends, even if its connection is closed. 64 KiB of tiny chunks, or of tiny headers, take 10 ms and more, and a turn may read a thousand connections.
// by-owner: connections that are not read are read again by turns: one of each caller, whatever the others have, and first of those of whom nothing was read in the last such turn. Strangers, who
//   have shown no key yet, are one caller, and among them each address has its turns.
// newcomers-first: the system hands over one new connection in each turn. While others are not read, a new one is not read at once, and while they come, for NEWCOMERS_MS at a time nobody is: else
//   a new client would stand behind all connections of a flood that come before it, each with 10 ms of work. A turn in which they come reads for
//   BRIEF_READ_MS only: small requests on hundreds of connections would make each one long.
// kept-first: of one caller's, by turns: one that has had an answer and has never sent ahead, the newest of the others, and the oldest, so that a new client does not wait for all of a flood. One
//   that is held again before its turn to be read came keeps its place. One that had its turn and nothing to read does not: many such would stand before all others for ever.
// quiet-beside: those of known callers that send nothing, or only large pieces of a body, cost next to nothing to read, so many of them come beside each other one.
// all-closed: when a client leaves, the answers behind its oldest one are closed, too. Node closes only that one, and what waits for the end of the others would
//   wait for ever.
// bounded-sum: all connections together have at most `maxWaiting` waiting requests. Beyond that, the connection with the most of them is closed.
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The most requests of one connection that are in work, besides its oldest. */
const MAX_AT_ONCE = 8;
/** With fewer waiting requests a connection is read, so that it is noticed when the client leaves. */
const READ_UNTIL = 32;
const PER_TURN = 16;
const MAX_PARSED = 1024;
/** Much longer than a turn of usual requests. */
const READ_MS = 50;
/** newcomers-first. */
const BRIEF_READ_MS = 5;
/** The most connections that are read again in one turn. */
const RELEASED = 256;
/** quiet-beside. */
const QUIET_BESIDE = 16;
/** newcomers-first. */
const NEWCOMERS_MS = 20;
/** newcomers-first: so long after connections were held others may have to be. */
const FLOOD_MS = 1000;
/** Each takes 2 to 3 KB. One connection can't have that many: 64 KiB are 3,600 of the shortest requests. */
const MAX_WAITING = 32_768;

/** The connections of one caller that are not read, in the order in which they came. */
interface HeldOfOne {
  readonly quiet: Socket[];
  readonly kept: Socket[];
  readonly others: Socket[];
}

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

const ofSockets = new WeakMap<Socket, Pipelines>();

/** Pieces of a body have come on this connection (`Pipelines.noteRead`). */
export function noteBodyRead(socket: Socket): void {
  ofSockets.get(socket)?.noteRead(socket);
}

/** The waiting requests of a server. */
export class Pipelines {
  readonly #onCut: () => void;
  readonly #maxWaiting: number;
  readonly #now: () => number;
  readonly #lines = new WeakMap<Socket, Line>();
  readonly #crowded = new Set<Line>();
  readonly #ready = new Set<Line>();
  readonly #connections = new Set<Socket>();
  readonly #owners = new WeakMap<Socket, string>();
  /** one-burst: those that are not read now, the kept ones (kept-first) and the others. */
  readonly #held: { kept: Set<Socket>; others: Set<Socket> } = { kept: new Set<Socket>(), others: new Set<Socket>() };
  /** Those that were read again in this turn, with what had been read of them before, in bytes. */
  readonly #released = new Map<Socket, number>();
  /** Those that cost something when they were read last (quiet-beside), and in this turn. */
  readonly #busy = new WeakSet<Socket>();
  readonly #noted = new Set<Socket>();
  /** Of whom something was read in the last turn of those that were held (by-owner). */
  #served = new Set<string>();
  /** newcomers-first. */
  #floodEndsAt = Number.NEGATIVE_INFINITY;
  #hasNewcomer = false; // in this turn
  #hadNewcomer = false; // in the one before
  #newcomersSince: number | undefined;
  #waiting = 0;
  #parsed = 0;
  /** When the first read of this turn was noted. */
  #readSince: number | undefined;
  /** True if no other connection is read in this turn. */
  #isHolding = false;
  #isDue = false;

  /** `onCut` is called when a connection is closed because too many requests wait. `now` in monotonic milliseconds. */
  constructor(onCut: () => void, maxWaiting = MAX_WAITING, now: () => number = () => performance.now()) {
    this.#onCut = onCut;
    this.#maxWaiting = maxWaiting;
    this.#now = now;
  }

  /** How many requests wait. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Must know every connection of the server. One that was handed back to HTTP comes again. */
  add(socket: Socket): void {
    if (this.#connections.has(socket)) return;
    this.#connections.add(socket);
    ofSockets.set(socket, this);
    socket.once('close', () => {
      this.#connections.delete(socket);
      this.#held.kept.delete(socket);
      this.#held.others.delete(socket);
    });
    this.#hasNewcomer = true;
    if (this.#now() < this.#floodEndsAt) this.#holdNewcomer(socket);
    this.#beginSoon();
  }

  /** newcomers-first. */
  #holdNewcomer(socket: Socket): void {
    // Node begins to read it when the listeners of new connections have run.
    socket.once('resume', () => {
      if (socket.destroyed) return;
      socket.pause();
      this.#held.others.add(socket);
      this.#beginSoon();
    });
  }

  /** Says whose connection it is: a key's or the token's (by-owner). */
  belongs(socket: Socket, owner: string): void {
    this.#owners.set(socket, owner);
  }

  /** Calls `begin` when it is the turn of the request of `res`; never if its client leaves before. */
  wait(res: ServerResponse, begin: () => void): void {
    const line = this.#lineOf(res.req.socket);
    line.waiting.push({ res, begin });
    this.#crowded.add(line);
    this.#waiting += 1;
    if (line.waiting.length === READ_UNTIL) line.socket.pause();
    this.#parsed += 1;
    if (this.#parsed === MAX_PARSED) this.#holdOthers();
    if (this.#waiting > this.#maxWaiting) this.#cut();
    else if (hasRoom(line)) this.#ready.add(line);
    this.#beginSoon();
  }

  /** one-burst: something was read of a connection, a head or pieces of a body. */
  noteRead(socket: Socket): void {
    const now = this.#now();
    this.#busy.add(socket);
    this.#noted.add(socket);
    this.#readSince ??= now;
    const most = this.#hasNewcomer || this.#hadNewcomer ? BRIEF_READ_MS : READ_MS;
    if (now - this.#readSince >= most && !this.#isHolding) this.#holdOthers();
    this.#beginSoon();
  }

  /** one-burst. */
  #holdOthers(): void {
    this.#isHolding = true;
    this.#floodEndsAt = this.#now() + FLOOD_MS;
    const again = { kept: new Set<Socket>(), others: new Set<Socket>() };
    const hold = (socket: Socket, held: { readonly kept: Set<Socket>; readonly others: Set<Socket> }): void => {
      if (socket.destroyed || socket.isPaused()) return;
      socket.pause();
      (this.#isKept(socket) ? held.kept : held.others).add(socket);
    };
    for (const socket of this.#unreached()) hold(socket, again); // kept-first
    this.#held.kept = new Set([...again.kept, ...this.#held.kept]);
    this.#held.others = new Set([...again.others, ...this.#held.others]);
    for (const socket of this.#connections) hold(socket, this.#held);
  }

  /** Of the connections that were to be read in this turn, those to which it has not come: the system reads them in their order. */
  #unreached(): Socket[] {
    const released = [...this.#released];
    this.#released.clear();
    this.#served = new Set();
    const reached = released.findLastIndex(([socket, bytesRead]) => socket.bytesRead !== bytesRead) + 1;
    for (const [socket, bytesRead] of released.slice(0, reached)) {
      if (!this.#noted.has(socket)) this.#busy.delete(socket);
      if (socket.bytesRead === bytesRead) continue;
      this.#served.add(this.#ownerOf(socket)).add(addressOf(socket));
    }
    return released.slice(reached).map(([socket]) => socket);
  }

  #ownerOf(socket: Socket): string {
    return this.#owners.get(socket) ?? '';
  }

  /** kept-first. */
  #isKept(socket: Socket): boolean {
    return socket.bytesWritten > 0 && !this.#lines.has(socket);
  }

  /** by-owner. The system reads them in this order. */
  #release(): void {
    const { kept, others } = this.#held;
    if (kept.size + others.size === 0) return;
    const turns = this.#turnsOfOwners();
    for (let round = 0; round < RELEASED; round += 1) {
      for (const own of turns) {
        if (this.#released.size >= RELEASED) return;
        for (const socket of own.next().value ?? []) {
          kept.delete(socket);
          others.delete(socket);
          this.#released.set(socket, socket.bytesRead);
          socket.resume();
        }
      }
    }
  }

  /** by-owner. */
  #turnsOfOwners(): Generator<Socket[], undefined>[] {
    const callers = new Map<string, Map<string, HeldOfOne>>();
    const { kept, others } = this.#held;
    for (const held of [kept, others]) {
      for (const socket of held) {
        const owner = this.#ownerOf(socket);
        const ofOwner = callers.get(owner) ?? new Map<string, HeldOfOne>();
        callers.set(owner, ofOwner);
        const place = owner === '' ? addressOf(socket) : owner;
        const own = ofOwner.get(place) ?? { quiet: [], kept: [], others: [] };
        ofOwner.set(place, own);
        if (!this.#busy.has(socket) && (owner !== '' || held === kept)) own.quiet.push(socket);
        else own[held === kept ? 'kept' : 'others'].push(socket);
      }
    }
    return this.#unservedFirst(callers).map((ofOwner) => oneOfEach(this.#unservedFirst(ofOwner).map(byTurns)));
  }

  #unservedFirst<T>(all: ReadonlyMap<string, T>): T[] {
    const isServed = ([name]: readonly [string, T]): number => (this.#served.has(name) ? 1 : 0);
    return [...all].sort((one, other) => isServed(one) - isServed(other)).map(([, of]) => of);
  }

  /** newcomers-first. True while nobody else is read. */
  #letNewcomersIn(): boolean {
    const now = this.#now();
    this.#newcomersSince = this.#hasNewcomer ? (this.#newcomersSince ?? now) : undefined;
    this.#hadNewcomer = this.#hasNewcomer;
    this.#hasNewcomer = false;
    if (this.#newcomersSince !== undefined && now - this.#newcomersSince < NEWCOMERS_MS) return true;
    this.#newcomersSince = undefined;
    return false;
  }

  #lineOf(socket: Socket): Line {
    const known = this.#lines.get(socket);
    if (known !== undefined) return known;
    const line: Line = { socket, waiting: [], open: new Set() };
    this.#lines.set(socket, line);
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
    this.#readSince = undefined;
    this.#isHolding = false;
    this.#noted.clear();
    this.#released.clear();
    if (!this.#letNewcomersIn()) this.#release();
    const begun: Line[] = [];
    for (const line of this.#ready) {
      if (begun.length === PER_TURN) break;
      this.#ready.delete(line);
      begun.push(line);
      if (hasRoom(line)) this.#begin(line);
    }
    for (const line of begun) this.#wake(line);
    if (this.#hadNewcomer || this.#ready.size + this.#held.kept.size + this.#held.others.size > 0) this.#beginSoon();
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

function addressOf({ remoteAddress }: Socket): string {
  return `at ${remoteAddress}`;
}

/** By turns, until all have ended. */
function* oneOfEach(all: readonly Generator<Socket[], undefined>[]): Generator<Socket[], undefined> {
  for (let left = all; left.length > 0; ) {
    const going: Generator<Socket[], undefined>[] = [];
    for (const one of left) {
      const sockets = one.next().value;
      if (sockets === undefined) continue;
      going.push(one);
      yield sockets;
    }
    left = going;
  }
  return undefined;
}

/** kept-first, quiet-beside. */
function* byTurns({ quiet, kept, others }: HeldOfOne): Generator<Socket[], undefined> {
  kept.reverse();
  const oldest = others.toReversed();
  const taken = new Set<Socket>();
  const next = (sockets: Socket[]): Socket | undefined => {
    const socket = sockets.pop();
    return socket === undefined || !taken.has(socket) ? socket : undefined;
  };
  while (kept.length + others.length + oldest.length > 0) {
    for (const sockets of [kept, others, oldest]) {
      const socket = next(sockets);
      if (socket === undefined) continue;
      taken.add(socket);
      yield [...quiet.splice(0, QUIET_BESIDE), socket];
    }
  }
  while (quiet.length > 0) yield quiet.splice(0, QUIET_BESIDE);
  return undefined;
}

/** back-pressure: also the answers that wait behind others are unread. */
function hasRoom({ socket, open }: Line): boolean {
  if (open.size >= MAX_AT_ONCE) return false;
  let unread = socket.writableLength;
  for (const res of open) if (res.socket === null) unread += res.writableLength;
  return unread < socket.writableHighWaterMark;
}
