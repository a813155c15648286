// The connections of a server with workers: the primary accepts them, and hands each one to a worker.
//
// kept-until-taken: the primary keeps a connection until a worker has said that it has it, which a worker does before it reads from it. A worker that dies before leaves it to another one.
// one-at-a-time: a worker gets its next connection when it has taken the one before. The others go in turn, so a worker that is busy gets fewer.
// no-wait-in-vain: a connection that no worker takes is closed: while the server ends, and when it got lost on its way to each of them. While there is none, it waits for the next one.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';

/** Which of the two servers of a worker serves a connection. */
export type Door = 'main' | 'bare';

/** What a worker does with connections. */
export interface Taker {
  /** Gets a connection, and says `taken` or `refused` with its number. */
  hand(number: number, door: Door, socket: Socket): void;
  /** Says the same again: it may never have got it. */
  ask(number: number): void;
}

/** A connection that no worker has taken yet. */
interface Kept {
  readonly number: number;
  readonly door: Door;
  readonly socket: Socket;
  /** Those that could not take it. */
  readonly refusedBy: Set<Taker>;
}

interface Handed {
  readonly kept: Kept;
  readonly at: number;
}

/** As many connections as wait for workers at once; further ones are closed. They wait for microseconds while a worker is there. */
const MAX_KEPT = 1024;
/** A worker that takes longer is asked: the system may have had no descriptor for the connection there. */
const ASK_AFTER_MS = 250;

/** The primary's side of all connections. */
export class HandOff {
  readonly #servers = new Map<Door, Server>();
  readonly #waiting: Kept[] = [];
  /** What each worker was given and has not taken. one-at-a-time. */
  readonly #handed = new Map<Taker, Handed | undefined>();
  /** The one whose turn is next comes first. */
  readonly #free = new Set<Taker>();
  readonly #draining = new Set<Taker>();
  readonly #asking: NodeJS.Timeout;
  readonly #onDrop: (most: number) => void;
  readonly #most: number;
  #isEnding = false;
  #numbers = 0;

  /** `onDrop` is called for each connection that is closed because too many wait. */
  constructor(onDrop: (most: number) => void, most = MAX_KEPT) {
    this.#onDrop = onDrop;
    this.#most = most;
    this.#asking = setInterval(() => this.#ask(), ASK_AFTER_MS).unref();
  }

  /** Listens for connections. Rejects with the system's own error. */
  async listen(door: Door, port: number, host: string): Promise<AddressInfo> {
    const server = createServer({ pauseOnConnect: true, noDelay: true, allowHalfOpen: true }, (socket) => {
      socket.on('error', () => socket.destroy());
      this.#numbers += 1;
      this.#waiting.push({ number: this.#numbers, door, socket, refusedBy: new Set() });
      this.#handOut();
    });
    server.maxConnections = this.#most;
    server.on('drop', () => this.#onDrop(this.#most));
    server.listen(port, host);
    await once(server, 'listening');
    server.on('error', () => undefined); // of an accept, for want of descriptors: the system keeps the connection
    this.#servers.set(door, server);
    return server.address() as AddressInfo;
  }

  /** A worker takes connections from now on. */
  add(taker: Taker): void {
    this.#handed.set(taker, undefined);
    this.#free.add(taker);
    this.#handOut();
  }

  /** The worker has it, and the primary lets go of it. */
  taken(taker: Taker, number: number): void {
    const kept = this.#back(taker, number);
    kept?.socket.destroy(); // only here: the worker has the connection
    this.#handOut();
  }

  /** The worker takes it no more, or has not got it. */
  refused(taker: Taker, number: number): void {
    const kept = this.#back(taker, number);
    kept?.refusedBy.add(taker);
    if (kept !== undefined) this.#waiting.unshift(kept);
    this.#handOut();
  }

  /** The worker ends its answers: others are preferred, and unless all end, only others get connections. */
  drains(taker: Taker): void {
    if (this.#handed.has(taker)) this.#draining.add(taker);
  }

  /** The worker is gone, and so are the connections that it has taken. kept-until-taken. */
  remove(taker: Taker): void {
    const handed = this.#handed.get(taker);
    this.#handed.delete(taker);
    this.#free.delete(taker);
    this.#draining.delete(taker);
    if (handed !== undefined) this.#waiting.unshift(handed.kept);
    this.#handOut();
  }

  /** All workers are asked to end: they get connections as long as one of them takes any, to say that the server ends. Then nobody listens any more. */
  end(): void {
    this.#isEnding = true;
    this.#handOut();
  }

  /** Nobody listens any more, and what waits is closed. */
  close(): void {
    clearInterval(this.#asking);
    for (const server of this.#servers.values()) server.close();
    for (const { socket } of this.#waiting.splice(0)) socket.destroy();
    for (const handed of this.#handed.values()) handed?.kept.socket.destroy();
  }

  /** What the worker was given; undefined if it was something else. */
  #back(taker: Taker, number: number): Kept | undefined {
    const handed = this.#handed.get(taker);
    if (handed?.kept.number !== number) return undefined;
    this.#handed.set(taker, undefined);
    this.#free.add(taker);
    return handed.kept;
  }

  #handOut(): void {
    const later: Kept[] = [];
    while (this.#waiting.length > 0 && (this.#free.size > 0 || this.#isEnding)) {
      const kept = this.#waiting.shift() as Kept;
      const taker = this.#takerOf(kept);
      if (taker !== undefined) this.#hand(taker, kept);
      else if (this.#isInVain(kept)) this.#giveUp(kept);
      else later.push(kept);
    }
    this.#waiting.unshift(...later);
  }

  #takerOf({ refusedBy }: Kept): Taker | undefined {
    let draining: Taker | undefined;
    for (const taker of this.#free) {
      if (refusedBy.has(taker)) continue;
      if (!this.#draining.has(taker)) return taker;
      draining ??= taker;
    }
    return this.#isEnding ? draining : undefined;
  }

  #hand(taker: Taker, kept: Kept): void {
    this.#free.delete(taker);
    this.#handed.set(taker, { kept, at: performance.now() });
    taker.hand(kept.number, kept.door, kept.socket);
  }

  /** no-wait-in-vain. */
  #isInVain({ refusedBy }: Kept): boolean {
    const takers = [...this.#handed.keys()].filter((taker) => this.#isEnding || !this.#draining.has(taker));
    return (this.#isEnding || takers.length > 0) && takers.every((taker) => refusedBy.has(taker));
  }

  #giveUp({ door, socket }: Kept): void {
    socket.destroy();
    if (this.#isEnding) this.#servers.get(door)?.close();
  }

  #ask(): void {
    const before = performance.now() - ASK_AFTER_MS;
    for (const [taker, handed] of this.#handed) if (handed !== undefined && handed.at < before) taker.ask(handed.kept.number);
  }
}
