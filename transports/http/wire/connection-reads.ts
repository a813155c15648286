// Which connections are read in a turn of the event loop while somebody floods. Outside of a flood all are.
//
// one-burst: once a turn has read for READ_MS, or it is said to have parsed enough, no other connection is read in it. What a turn parses holds up everybody, and none of it
//   can be freed before the turn ends, even if its connection is closed. 64 KiB of tiny chunks, or of tiny headers, take 10 ms and more, and a turn may read a thousand connections.
// by-owner: connections that are not read are read again by turns: one of each caller, whatever the others have, and first of those of whom it is longest ago that something was read that cost
//   time. Strangers, who have shown no key yet, are one caller, and among them each address has its turns.
// newcomers-first: the system hands over one new connection in each turn. While others are not read, and new ones come, nobody is read for NEWCOMERS_MS at a time: else
//   a new client would stand behind all connections of a flood that come before it, each with 10 ms of work. A turn in which they come reads for
//   BRIEF_READ_MS only: small requests on hundreds of connections would make each one long.
// few-lines: of a new connection, the first bytes are looked at before they are parsed, which is cheap. What is dear to parse has thousands of lines in 64 KiB: tiny chunks, headers and requests.
//   First bytes with at most CHEAP_LINES are parsed at once, and then its client is known by its key, or waits with those that are not read. Of the dear ones, each turn parses one, by turns of
//   their addresses.
// kept-first: of one caller's, by turns: one that has had an answer and has never sent ahead, the newest of the others, and the oldest, so that a new client does not wait for all of a flood. One
//   that is held again before its turn to be read came keeps its place. One that had its turn and nothing to read does not: many such would stand before all others for ever.
// long-bodies: of a known caller, a body with a Content-Length is one piece for each read. That is cheap, so all of it but its last LONG_BYTES is read in each turn.
// quiet-beside: those of known callers that send nothing, or only large pieces of a body, cost next to nothing to read, so many of them come before each other one.
import type { Socket } from 'node:net';

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
/** So long after connections were held, new ones are looked at first (few-lines). */
const FLOOD_MS = 1000;
/** The headers of a request can have hardly more. As tiny chunks, so many lines take less than half a millisecond. */
const CHEAP_LINES = 256;
/** long-bodies: what comes behind a body may be dear, and one read takes up to 64 KiB. */
const LONG_BYTES = 65_536;
/** by-owner: the most callers and addresses of which it is known when they had their turn. */
const MAX_SERVED = 1024;
const LINE_END = 0x0a;
/** The most of those that wait for the end of a turn and are parsed then (few-lines). */
const CHEAP_PER_TURN = 32;

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

/** Pieces of a body have come on this connection (`ConnectionReads.note`). */
export function noteBodyRead(socket: Socket): void {
  ofSockets.get(socket)?.note(socket);
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
  readonly #longBodies = new WeakSet<Socket>();
  readonly #held: Held = { kept: new Set(), others: new Set() };
  /** Those that HTTP does not have yet, with what lets it have them (few-lines). */
  readonly #unbegun = new Map<Socket, () => void>();
  /** Of these, those that HTTP is to have at the end of this turn, and those of which it gets one. */
  readonly #cheap = new Set<Socket>();
  readonly #dear = new Set<Socket>();
  /** Those whose first bytes HTTP has got in this turn. */
  readonly #begun = new Set<Socket>();
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
      this.#unbegun.delete(socket);
      this.#cheap.delete(socket);
      this.#dear.delete(socket);
    });
    this.#hasNewcomer = true;
    if (this.#now() < this.#floodEndsAt && !this.#isEnding) this.#lookAt(socket, begin);
    else begin();
    this.#endSoon();
  }

  /** few-lines. One that says nothing is nobody's burden, and HTTP closes it in time. */
  #lookAt(socket: Socket, begin: () => void): void {
    let isLookedAt = false;
    const look = (): void => {
      isLookedAt = true;
      clearTimeout(silence);
      const bytes = socket.read() as Buffer | null; // null at the end
      if (bytes !== null) socket.unshift(bytes);
      const isCheap = bytes === null || hasFewLines(bytes);
      if (isCheap && (bytes === null || !this.#isHolding)) this.#begin(socket);
      else (isCheap ? this.#cheap : this.#dear).add(socket);
      this.#endSoon();
    };
    const silence = setTimeout(() => this.#begin(socket), FLOOD_MS).unref();
    socket.on('error', ignored);
    socket.once('readable', look);
    this.#unbegun.set(socket, () => {
      clearTimeout(silence);
      if (!isLookedAt) socket.off('readable', look); // Node resumes it then, even if it is paused meanwhile
      begin();
      socket.off('error', ignored);
    });
  }

  #begin(socket: Socket): void {
    const begin = this.#unbegun.get(socket);
    this.#unbegun.delete(socket);
    this.#cheap.delete(socket);
    this.#dear.delete(socket);
    if (socket.destroyed) return;
    begin?.();
    this.#begun.add(socket);
    this.#endSoon();
  }

  /** The server closes: HTTP gets all connections, so that it can close them. */
  end(): void {
    this.#isEnding = true;
    for (const socket of [...this.#unbegun.keys()]) this.#begin(socket);
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

  /** So many bytes of a body with a Content-Length have not come on this connection (long-bodies). */
  noteBodyLeft(socket: Socket, bytes: number): void {
    const isLong = bytes > LONG_BYTES && this.#ownerOf(socket) !== '';
    if (isLong === this.#longBodies.has(socket)) return;
    if (isLong) this.#longBodies.add(socket);
    else this.#longBodies.delete(socket);
    if (!isLong && this.#isHolding) this.#hold(socket, this.#held);
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
    if (socket.destroyed || socket.isPaused() || this.#unbegun.has(socket) || this.#longBodies.has(socket)) return;
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
    this.#holdStrangers();
    for (const socket of [...this.#cheap].slice(0, CHEAP_PER_TURN)) this.#begin(socket);
    if (!this.#letNewcomersIn()) {
      this.#beginDear();
      this.#release();
    }
    if (this.#hadNewcomer || this.#cheap.size + this.#dear.size > 0 || this.#held.kept.size + this.#held.others.size > 0) this.#endSoon();
  };

  /** few-lines. */
  #holdStrangers(): void {
    for (const socket of this.#begun) if (!this.#isEnding && this.#ownerOf(socket) === '') this.#hold(socket, this.#held);
    this.#begun.clear();
  }

  /** few-lines. */
  #beginDear(): void {
    let next: Socket | undefined;
    let since = Number.POSITIVE_INFINITY;
    for (const socket of this.#dear) {
      const servedIn = this.#served.get(addressOf(socket)) ?? -1;
      if (servedIn >= since) continue;
      since = servedIn;
      next = socket;
    }
    if (next === undefined) return;
    this.#wasServed(addressOf(next));
    this.#begin(next);
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
