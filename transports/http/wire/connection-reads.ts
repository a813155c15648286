// Which connections are read in a turn of the event loop while somebody floods. Outside of a flood all are.
//
// one-burst: once a turn has read for READ_MS, or it is said to have parsed enough, no other connection is read in it. What a turn parses holds up everybody, and none of it
//   can be freed before the turn ends, even if its connection is closed. 64 KiB of tiny chunks, or of tiny headers, take 10 ms and more, and a turn may read a thousand connections.
// by-owner: connections that are not read are read again by turns: one of each caller, whatever the others have. The caller comes first whose last read that cost time is longest ago. Strangers, who have
//   shown no key yet, are one caller, and among them each address has its turns.
// newcomers-first: the system hands over one new connection in each turn. While others are not read, and new ones come, nobody is read for NEWCOMERS_MS at a time: else
//   a new client would stand behind all connections of a flood that come before it, each with 10 ms of work. A turn in which they come reads for
//   BRIEF_READ_MS only: small requests on hundreds of connections would make each one long.
// looked-at-first: the first bytes of a new connection are looked at before HTTP has them (first-bytes.ts). Once HTTP has them, the connection waits with those that are not read. Of those whose first
//   bytes are dear to parse, each turn takes one, from the address that has waited longest.
// kept-first: of one caller's, by turns: one that has had an answer and has never sent ahead, the newest of the others, and the oldest, so that a new client does not wait for all of a flood. One
//   that is held again before its turn to be read came keeps its place. One that had its turn and nothing to read does not: many such would stand before all others for ever.
// long-bodies: a body with a Content-Length is one piece for each read. That is cheap, so of a known caller's, LONG_BODIES are read in each turn, all but their last LONG_BYTES.
// quiet-beside: those of known callers that send nothing, or little, cost next to nothing to read, so many of them come before each other one.
import type { Socket } from 'node:net';
import { FirstBytes } from './first-bytes.ts';

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
/** So long after connections were held, new ones are looked at first. */
const FLOOD_MS = 1000;
/** long-bodies: what comes behind a body may be dear, and one read takes up to 64 KiB. */
const LONG_BYTES = 65_536;
/** long-bodies: of a caller. Up to 2 MB are read of each in a turn, which takes two milliseconds. */
const LONG_BODIES = 8;
/** by-owner: the most callers and addresses of which it is known when they had their turn. */
const MAX_SERVED = 1024;

/** The connections of one caller that are not read, in the order in which they came. */
interface HeldOfOne {
  readonly quiet: Socket[];
  readonly kept: Socket[];
  readonly others: Socket[];
}

/** Those that are not read now, the kept ones (kept-first) and the others. */
interface Held {
  readonly kept: Set<Socket>;
  readonly others: Set<Socket>;
}

const ofSockets = new WeakMap<Socket, ConnectionReads>();

/** Many pieces of a body, or a large one, have come on this connection (one-burst). */
export function noteBodyRead(socket: Socket): void {
  ofSockets.get(socket)?.noteBody(socket);
}

/** So many bytes of a body with a Content-Length have not come on this connection (long-bodies). */
export function noteBodyLeft(socket: Socket, bytes: number): void {
  ofSockets.get(socket)?.noteBodyLeft(socket, bytes);
}

/** The reading of a server's connections. */
export class ConnectionReads {
  readonly #now: () => number;
  readonly #connections = new Set<Socket>();
  readonly #owners = new WeakMap<Socket, string>();
  readonly #sentAhead = new WeakSet<Socket>();
  /** Those that are read in each turn, by their callers (long-bodies). */
  readonly #longBodies = new Map<string, Set<Socket>>();
  readonly #held: Held = { kept: new Set(), others: new Set() };
  readonly #firstBytes = new FirstBytes(() => this.#endSoon());
  /** Those that were read again in this turn, with what had been read of them before, in bytes. */
  readonly #released = new Map<Socket, number>();
  /** Those that cost something when they were read last (quiet-beside), and in this turn. */
  readonly #busy = new WeakSet<Socket>();
  readonly #noted = new Set<Socket>();
  /** In which turn something that cost time was last read of a caller or an address (by-owner). The longest ago first. */
  readonly #served = new Map<string, number>();
  #turn = 0;
  /** newcomers-first. */
  #floodEndsAt = Number.NEGATIVE_INFINITY;
  #hasNewcomer = false; // in this turn
  #hadNewcomer = false; // in the one before
  #newcomersSince: number | undefined;
  /** When the first read of this turn was noted. */
  #readSince: number | undefined;
  /** True if no other connection is read in this turn. */
  #isHolding = false;
  #isEnding = false;
  #isDue = false;

  /** `now` in monotonic milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Must know every connection of the server. `begin` lets HTTP have it. One that was handed back to HTTP comes again. */
  add(socket: Socket, begin: () => void): void {
    if (this.#connections.has(socket)) {
      begin();
      return;
    }
    this.#connections.add(socket);
    ofSockets.set(socket, this);
    socket.once('close', () => {
      this.#connections.delete(socket);
      this.#held.kept.delete(socket);
      this.#held.others.delete(socket);
      this.#firstBytes.drop(socket);
      this.noteBodyLeft(socket, 0);
    });
    this.#hasNewcomer = true;
    if (this.#now() < this.#floodEndsAt && !this.#isEnding) this.#firstBytes.lookAt(socket, begin);
    else begin();
    this.#endSoon();
  }

  /** The server closes: HTTP gets all connections, so that it can close them. */
  end(): void {
    this.#isEnding = true;
    this.#firstBytes.beginAll();
  }

  /** Says whose connection it is: a key's or the token's (by-owner). */
  belongs(socket: Socket, owner: string): void {
    this.#owners.set(socket, owner);
  }

  /** Says that its client sends requests before it has the answers to earlier ones (kept-first). */
  noteAhead(socket: Socket): void {
    this.#sentAhead.add(socket);
  }

  /** Something was read of a connection, a head or pieces of a body (one-burst). */
  note(socket: Socket): void {
    const now = this.#now();
    this.#busy.add(socket);
    this.#noted.add(socket);
    this.#readSince ??= now;
    const most = this.#hasNewcomer || this.#hadNewcomer ? BRIEF_READ_MS : READ_MS;
    if (now - this.#readSince >= most) this.holdOthers();
    this.#endSoon();
  }

  /** Many pieces of a body, or a large one, have come on this connection (one-burst). */
  noteBody(socket: Socket): void {
    if (!this.#isLongBody(socket)) this.note(socket);
  }

  /** So many bytes of a body with a Content-Length have not come on this connection (long-bodies). */
  noteBodyLeft(socket: Socket, bytes: number): void {
    const owner = this.#ownerOf(socket);
    if (owner === '') return;
    const long = this.#longBodies.get(owner) ?? new Set<Socket>();
    if (bytes > LONG_BYTES) {
      if (long.size < LONG_BODIES) this.#longBodies.set(owner, long.add(socket));
    } else if (long.delete(socket)) {
      if (long.size === 0) this.#longBodies.delete(owner);
      if (this.#isHolding) this.#hold(socket, this.#held);
    }
  }

  /** No other connection is read in this turn (one-burst). */
  holdOthers(): void {
    if (this.#isHolding) return;
    this.#isHolding = true;
    this.#floodEndsAt = this.#now() + FLOOD_MS;
    const first: Held = { kept: new Set(), others: new Set() };
    for (const socket of this.#unreached()) this.#hold(socket, first); // kept-first
    for (const list of ['kept', 'others'] as const) {
      const later = [...this.#held[list]];
      this.#held[list].clear();
      for (const socket of [...first[list], ...later]) this.#held[list].add(socket);
    }
    for (const socket of this.#connections) this.#hold(socket, this.#held);
    this.#endSoon();
  }

  #hold(socket: Socket, held: Held): void {
    if (socket.destroyed || socket.isPaused() || this.#firstBytes.has(socket) || this.#isLongBody(socket)) return;
    if (socket.readableLength > 0) return; // its first bytes, which HTTP is about to get. If it were paused now, Node would give HTTP the next ones before them
    socket.pause();
    (this.#isKept(socket) ? held.kept : held.others).add(socket);
  }

  /** Of the connections that were to be read in this turn, those to which it has not come: the system reads them in their order. */
  #unreached(): Socket[] {
    const released = [...this.#released];
    this.#released.clear();
    const reached = released.findLastIndex(([socket, bytesRead]) => socket.bytesRead !== bytesRead) + 1;
    for (const [socket, bytesRead] of released.slice(0, reached)) {
      if (!this.#noted.has(socket)) this.#busy.delete(socket);
      else if (socket.bytesRead !== bytesRead) for (const name of [this.#ownerOf(socket), addressOf(socket)]) this.#wasServed(name);
    }
    return released.slice(reached).map(([socket]) => socket);
  }

  #wasServed(name: string): void {
    this.#served.delete(name);
    this.#served.set(name, this.#turn);
    const [oldest] = this.#served.keys();
    if (oldest !== undefined && this.#served.size > MAX_SERVED) this.#served.delete(oldest);
  }

  #isLongBody(socket: Socket): boolean {
    return this.#longBodies.get(this.#ownerOf(socket))?.has(socket) === true;
  }

  #ownerOf(socket: Socket): string {
    return this.#owners.get(socket) ?? '';
  }

  /** kept-first. */
  #isKept(socket: Socket): boolean {
    return socket.bytesWritten > 0 && !this.#sentAhead.has(socket);
  }

  #endSoon(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(this.#endTurn);
  }

  readonly #endTurn = (): void => {
    this.#isDue = false;
    this.#turn += 1;
    this.#readSince = undefined;
    this.#isHolding = false;
    this.#noted.clear();
    this.#released.clear();
    this.#holdBegun();
    this.#firstBytes.beginCheap();
    if (!this.#letNewcomersIn()) {
      this.#beginDear();
      this.#release();
    }
    if (this.#hadNewcomer || this.#firstBytes.areDue || this.#held.kept.size + this.#held.others.size > 0) this.#endSoon();
  };

  /** looked-at-first. */
  #holdBegun(): void {
    for (const socket of this.#firstBytes.takeBegun()) if (!this.#isEnding) this.#hold(socket, this.#held);
  }

  /** looked-at-first. */
  #beginDear(): void {
    let next: Socket | undefined;
    let since = Number.POSITIVE_INFINITY;
    for (const socket of this.#firstBytes.dear) {
      const servedIn = this.#served.get(addressOf(socket)) ?? -1;
      if (servedIn >= since) continue;
      since = servedIn;
      next = socket;
    }
    if (next === undefined) return;
    this.#wasServed(addressOf(next));
    this.#firstBytes.begin(next);
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
    return this.#longestWaitFirst(callers).map((ofOwner) => oneOfEach(this.#longestWaitFirst(ofOwner).map(byTurns)));
  }

  #longestWaitFirst<T>(all: ReadonlyMap<string, T>): T[] {
    const servedIn = ([name]: readonly [string, T]): number => this.#served.get(name) ?? -1;
    return [...all].sort((one, other) => servedIn(one) - servedIn(other)).map(([, of]) => of);
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
      if (quiet.length > 0) yield quiet.splice(0, QUIET_BESIDE);
      yield [socket];
    }
  }
  while (quiet.length > 0) yield quiet.splice(0, QUIET_BESIDE);
  return undefined;
}
