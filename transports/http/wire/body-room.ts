// The room for the bodies of requests: how many bytes all requests in work hold together, from before a body is read until its answer has ended.
//
// bounded-sum: a body beyond the room is not read. Its bytes stay with the client and in the buffers of the system.
// bounded-wait: a request waits for room for `patienceMs`, and then gets QUEUE_FULL with a Retry-After.
// one-always: a large body is admitted, whatever its size, when no other large one is held.
// fair: one caller holds at most three quarters of the room, and with its small bodies seven eighths.
// reserve: a sixteenth of the room is for small bodies, so that they pass beside large ones.
// parsed-apart: what bodies are parsed to may take twenty times their bytes, so their values have a room of their own, of the same size. Who waits for it holds room for
//   bytes, and never the other way round: else all could wait for each other.
// in-line: large bodies are admitted in the order in which they came; only those of a caller who has enough are passed over.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { BlockhouseError, type NamedKey } from '../../../core/index.ts';

const MIB = 1024 * 1024;
/** Bodies up to here are not counted: as many as there may be connections are less than half of the usual room. */
export const FREE_BODY_BYTES = 64 * 1024;
/** Bodies up to here are small. */
const SMALL_BODY_BYTES = MIB;
const RETRY_AFTER_MS = 2000;
/** What a JSON value takes once it is parsed, besides its text: some bytes for a number, a hundred for an object, and nothing for most texts. */
export const VALUE_BYTES = 24;
/** What a body of usual size is parsed to is not counted. */
export const FREE_VALUES = 500;

/** How much room there is. */
export interface BodyRoomLimits {
  /** Of all bodies together. */
  readonly bytes: number;
  /** The longest wait for room, in milliseconds. */
  readonly patienceMs: number;
}

/** Well below the time that a client gives its request to arrive. */
export const BODY_PATIENCE_MS = 5000;

interface Waiter {
  readonly share: BodyShare;
  readonly bytes: number;
  readonly admit: () => void;
}

/** The room of one process. */
export class BodyRoom {
  readonly limits: BodyRoomLimits;
  #held = 0;
  #heldByLarge = 0;
  readonly #byCaller = new Map<string, number>();
  readonly #waiting = new Set<Waiter>();
  #parsed: BodyRoom | undefined;

  constructor(limits: BodyRoomLimits) {
    this.limits = limits;
  }

  /** For what bodies are parsed to (parsed-apart). */
  get parsed(): BodyRoom {
    this.#parsed ??= new BodyRoom(this.limits);
    return this.#parsed;
  }

  /** The bytes that are held now. */
  get held(): number {
    return this.#held;
  }

  /** How many requests wait for room. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Gives `share` room for a body of `bytes` instead of what it has. Rejects with QUEUE_FULL after the wait. Callers who ask again before the first
   * question is answered get more than they need.
   */
  async reserve(share: BodyShare, bytes: number): Promise<void> {
    if (!this.#isOvertaking(bytes) && this.#fits(share, bytes)) this.#give(share, bytes);
    else await this.#wait(share, bytes);
  }

  /** As `reserve`, for what is there already: throws QUEUE_FULL without a wait. */
  take(share: BodyShare, bytes: number): void {
    if (!this.#fits(share, bytes)) throw full(this.limits.bytes);
    this.#give(share, bytes);
  }

  /** Gives back what `share` holds beyond `bytes`. */
  shrink(share: BodyShare, bytes: number): void {
    if (share.bytes <= bytes) return;
    this.#give(share, bytes);
    this.#admit();
  }

  #isOvertaking(bytes: number): boolean {
    if (bytes <= SMALL_BODY_BYTES) return false;
    for (const waiter of this.#waiting) if (waiter.bytes > SMALL_BODY_BYTES) return true; // in-line
    return false;
  }

  #fits(share: BodyShare, bytes: number): boolean {
    const { bytes: room } = this.limits;
    if (bytes > SMALL_BODY_BYTES && this.#heldByLarge === 0) return true; // one-always
    const most = bytes > SMALL_BODY_BYTES ? room - room / 16 : room; // reserve
    return this.#held + bytes - share.bytes <= most && !this.#hasEnough(share, bytes);
  }

  /** fair. */
  #hasEnough(share: BodyShare, bytes: number): boolean {
    const part = bytes > SMALL_BODY_BYTES ? 3 / 4 : 7 / 8;
    return (this.#byCaller.get(share.caller) ?? 0) + bytes - share.bytes > this.limits.bytes * part;
  }

  #give(share: BodyShare, bytes: number): void {
    const more = bytes - share.bytes;
    this.#held += more;
    this.#heldByLarge += large(bytes) - large(share.bytes);
    const own = (this.#byCaller.get(share.caller) ?? 0) + more;
    if (own > 0) this.#byCaller.set(share.caller, own);
    else this.#byCaller.delete(share.caller);
    share.bytes = bytes;
  }

  #wait(share: BodyShare, bytes: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(patience);
        this.#waiting.delete(waiter);
        share.leave = undefined;
      };
      const patience = setTimeout(() => {
        leave();
        reject(full(this.limits.bytes)); // bounded-wait
        this.#admit();
      }, this.limits.patienceMs);
      const admit = (): void => {
        leave();
        this.#give(share, bytes);
        resolve();
      };
      const waiter = { share, bytes, admit };
      share.leave = () => {
        leave();
        reject(new BlockhouseError('CANCELLED', 'The client closed the connection before its body was read.'));
      };
      this.#waiting.add(waiter);
      this.#admit();
    });
  }

  #admit(): void {
    let isBlocked = false;
    for (const { share, bytes, admit } of [...this.#waiting]) {
      const isLarge = bytes > SMALL_BODY_BYTES;
      if (isLarge && isBlocked) continue; // in-line
      if (this.#fits(share, bytes)) admit();
      else if (isLarge && !this.#hasEnough(share, bytes)) isBlocked = true;
    }
  }
}

/** What one request holds of the room. */
export class BodyShare {
  readonly caller: string;
  readonly #room: BodyRoom;
  /** What it holds; only the room changes it. */
  bytes = 0;
  /** Set by the room while the request waits. */
  leave: (() => void) | undefined;
  #isReleased = false;

  constructor(room: BodyRoom, caller: string) {
    this.#room = room;
    this.caller = caller;
  }

  /** Waits for room for a body of `bytes`. Rejects with QUEUE_FULL, or with CANCELLED after `release`. */
  async reserve(bytes: number): Promise<void> {
    if (bytes > this.bytes && !this.#isReleased) await this.#room.reserve(this, bytes);
  }

  /** As `reserve`, for what is there already: throws QUEUE_FULL without a wait. */
  take(bytes: number): void {
    if (bytes > this.bytes && !this.#isReleased) this.#room.take(this, bytes);
  }

  /** The body has turned out to be smaller. */
  settle(bytes: number): void {
    this.#room.shrink(this, bytes <= FREE_BODY_BYTES ? 0 : bytes);
  }

  /** The answer has ended, or the client has left. */
  release(): void {
    this.#isReleased = true;
    this.leave?.();
    this.#room.shrink(this, 0);
  }
}

/** The request that a body belongs to. */
interface Owner {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly server: { readonly bodies: BodyRoom };
  readonly key?: NamedKey | undefined;
}

/** One caller is a named key, or else an address: until a key is known, nothing else tells callers apart. */
export function callerOf({ req, key }: Pick<Owner, 'req' | 'key'>): string {
  return key === undefined ? (req.socket.remoteAddress ?? '') : `key ${key.name}`;
}

/** What the request holds of the room for bytes, or of another one, until its answer has ended or its client has left. */
export function shareOf(owner: Owner, caller = callerOf(owner), room = owner.server.bodies): BodyShare {
  const { res } = owner;
  const share = new BodyShare(room, caller);
  if (res.destroyed) share.release();
  else res.once('close', () => share.release());
  return share;
}

/** The same of the room for what is parsed. */
export function parsedShareOf(owner: Owner): BodyShare {
  return shareOf(owner, callerOf(owner), owner.server.bodies.parsed);
}

/** Takes room for so many values that were parsed from texts within the body. Throws QUEUE_FULL. */
export function takeParsed(owner: Owner, values: number): void {
  if (values > FREE_VALUES) parsedShareOf(owner).take(values * VALUE_BYTES);
}

const rooms = new WeakMap<object, BodyRoom>();

/** The room of all servers of one core. The limits are those of the first server that asks. */
export function bodyRoomOf(core: object, limits: BodyRoomLimits): BodyRoom {
  const room = rooms.get(core) ?? new BodyRoom(limits);
  rooms.set(core, room);
  return room;
}

function large(bytes: number): number {
  return bytes > SMALL_BODY_BYTES ? bytes : 0;
}

function full(bytes: number): BlockhouseError {
  return new BlockhouseError(
    'QUEUE_FULL',
    `The bodies of the requests in work take the ${Math.floor(bytes / MIB)} MiB that there are for them; send this request again after the delay in Retry-After, or raise BLOCKHOUSE_BODY_MEMORY_MIB.`,
    { retryAfterMs: RETRY_AFTER_MS },
  );
}
