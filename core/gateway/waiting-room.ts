// The callers of one destination: how many places each holds, and who waits for one. A caller is a key, a block, or the token. Pure: no I/O.
//
// fair-turn: A free place goes to the waiting caller who holds the fewest places; among equals, to the one whose turn was longest ago; within one caller, in order.
// last-place: From KEEPS_LAST_FROM places up, the last free one is given only to a caller who holds none, so that a batch job never shuts the door.
// fair-room: When the waiting room is full, a caller with fewer calls in it than another takes the space of that other's newest call.
// under-limits: A caller whose key, or whose group of keys, holds as many places as it may is passed over until one of them is given back, here or in another line.
// no-trace: A caller who neither holds a place nor waits is not in memory.
import type { Queue } from 'p-queue';
import { haveRoom, type PlaceLimit, UNLIMITED } from './place-limit.ts';

/** With fewer places, an unused one would cost a single caller too much. */
const KEEPS_LAST_FROM = 8;

/** Begins what p-queue was given. */
export type RunFunction = () => Promise<unknown>;

/** What the line knows of a call that waits. */
export interface WaitingCall {
  readonly caller: string;
  /** Of its key and its group. */
  readonly limits: readonly PlaceLimit[];
  /** Its abort takes the call out of the line. */
  readonly leaving: AbortController;
}

/** What p-queue adds to it. */
export interface LineOptions extends WaitingCall {
  readonly id: string;
  readonly signal: AbortSignal;
}

interface Waiter extends WaitingCall {
  readonly id: string;
  readonly start: RunFunction;
}

/** Counts places and calls that wait, and says whose turn it is. */
export class WaitingRoom {
  readonly #concurrency: number;
  #atWork = 0;
  /** Places by caller. */
  readonly #held = new Map<string, number>();
  /** By caller, never empty. The caller whose turn was longest ago comes first. */
  readonly #waiters = new Map<string, Waiter[]>();
  #waiting = 0;

  constructor(concurrency: number) {
    this.#concurrency = concurrency;
  }

  /** Places that are taken. */
  get atWork(): number {
    return this.#atWork;
  }

  /** Calls that wait. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Callers who hold a place or wait. */
  get callers(): number {
    return new Set([...this.#held.keys(), ...this.#waiters.keys()]).size;
  }

  /** True if a call of `caller` may have a place now. Nobody waits then who may have it. */
  hasPlaceFor(caller: string, limits = UNLIMITED): boolean {
    if (!haveRoom(limits)) return false; // under-limits
    const free = this.#concurrency - this.#atWork;
    if (free !== 1 || this.#concurrency < KEEPS_LAST_FROM) return free > 0;
    return !this.#held.has(caller); // last-place
  }

  /** Takes a place. */
  take(caller: string, limits = UNLIMITED): void {
    for (const limit of limits) limit.take();
    this.#atWork += 1;
    this.#held.set(caller, this.#heldBy(caller) + 1);
  }

  /** Gives a place back. Calls in other lines that wait for one of the limits may start before this returns. */
  leave(caller: string, limits = UNLIMITED): void {
    this.#atWork -= 1;
    const held = this.#heldBy(caller) - 1;
    if (held > 0) this.#held.set(caller, held);
    else this.#held.delete(caller); // no-trace
    for (const limit of limits) limit.leave();
  }

  /** Puts a call into the line. */
  add(waiter: Waiter): void {
    const waiters = this.#waiters.get(waiter.caller);
    if (waiters === undefined) this.#waiters.set(waiter.caller, [waiter]);
    else waiters.push(waiter);
    this.#waiting += 1;
  }

  /** Takes the next call out of the line; undefined if no waiting caller may have a place. */
  next(): Waiter | undefined {
    const caller = this.#nextCaller();
    if (caller === undefined) return undefined;
    const [first, ...others] = this.#waiters.get(caller) ?? [];
    this.#waiters.delete(caller);
    if (others.length > 0) this.#waiters.set(caller, others); // fair-turn: after the callers whose turn is still to come
    this.#waiting -= 1;
    return first;
  }

  /** Takes a call out of the line that leaves it. */
  remove(id: string): void {
    for (const [caller, waiters] of this.#waiters) {
      const index = waiters.findIndex((each) => each.id === id);
      if (index < 0) continue;
      waiters.splice(index, 1);
      if (waiters.length === 0) this.#waiters.delete(caller); // no-trace
      this.#waiting -= 1;
      return;
    }
  }

  /** Calls that may have a place now. */
  get startable(): number {
    let count = 0;
    for (const [caller, waiters] of this.#waiters) if (this.#hasPlaceForFirst(caller, waiters)) count += waiters.length;
    return count;
  }

  /** fair-room: the waiting call that a new call of `caller` may displace; undefined if no caller has at least two more calls in the line. */
  newestOfGreediest(caller: string): WaitingCall | undefined {
    let greediest = this.#waiters.get(caller) ?? [];
    const own = greediest.length;
    for (const waiters of this.#waiters.values()) if (waiters.length > greediest.length) greediest = waiters;
    return greediest.length > own + 1 ? greediest.at(-1) : undefined;
  }

  #heldBy(caller: string): number {
    return this.#held.get(caller) ?? 0;
  }

  #hasPlaceForFirst(caller: string, [first]: readonly Waiter[]): boolean {
    return first !== undefined && this.hasPlaceFor(caller, first.limits);
  }

  /** fair-turn */
  #nextCaller(): string | undefined {
    let next: string | undefined;
    for (const [caller, waiters] of this.#waiters)
      if (this.#hasPlaceForFirst(caller, waiters) && (next === undefined || this.#heldBy(caller) < this.#heldBy(next))) next = caller;
    return next;
  }
}

/** What p-queue sees of the waiting room: the calls that may start now, in their turn. */
export class FairLine implements Queue<RunFunction, LineOptions> {
  readonly #room: WaitingRoom;

  constructor(room: WaitingRoom) {
    this.#room = room;
  }

  /** How many waiting calls could start now, not how many wait: p-queue takes one out as long as this is above zero, and there must be one to take. */
  get size(): number {
    return this.#room.startable;
  }

  enqueue(start: RunFunction, options: Partial<LineOptions> = {}): void {
    this.#room.add({ ...(options as LineOptions), start });
  }

  dequeue(): RunFunction | undefined {
    return this.#room.next()?.start;
  }

  remove(id: string): void {
    this.#room.remove(id);
  }

  /** p-queue counts calls by their options with it. Nothing here asks for that. */
  filter(): RunFunction[] {
    return [];
  }

  /** No call comes before its turn. */
  setPriority(): void {
    throw new TypeError('A call has no priority.');
  }
}
