// The connections of a server: who makes room for whom when all places are taken.
//
// most-gives: a further connection gets the place of one that no answer is being made for: one that says nothing, is kept for a next request, or has not sent all of its body; and if
//   there is none, of one whose answer is made and not read yet. It is taken from the caller that has the most of all these, the oldest first, so one caller can't keep the others out.
//   Strangers, who have shown no key yet, count as one caller.
// no-hog: where there is no such connection, or only those of callers who have shown a key and have fewer places, a caller that has more than half of all places gives its newest one, also in
//   the middle of an answer. Its calls may wait for providers for minutes, and each provider takes hundreds of them. Strangers' newcomers are at rest, so they displace some such connections
//   and then each other.
import type { Socket } from 'node:net';
import { openAnswer } from '../../raw-answer.ts';

/** The places of one server. */
export class ConnectionPlaces {
  readonly #most: number;
  readonly #onFull: () => void;
  /** The oldest first. */
  readonly #sockets = new Set<Socket>();
  readonly #owners = new WeakMap<Socket, string>();

  /** `onFull` is called for each connection that gets no place. */
  constructor(most: number, onFull: () => void) {
    this.#most = most;
    this.#onFull = onFull;
  }

  /** Takes a new connection, which may close another one, or be closed. */
  add(socket: Socket): void {
    if (this.#sockets.has(socket)) return;
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    if (this.#sockets.size <= this.#most) return;
    const given = this.#given(socket);
    if (given === undefined) this.#onFull();
    this.#sockets.delete(given ?? socket);
    (given ?? socket).destroy();
  }

  /** Says whose connection it is: a key's or the token's. */
  belongs(socket: Socket, owner: string): void {
    this.#owners.set(socket, owner);
  }

  #given(newest: Socket): Socket | undefined {
    const callers = this.#callers(newest);
    const [most] = [...callers.values()].sort((one, other) => other.atRest - one.atRest);
    const strangers = callers.get(STRANGERS);
    const hog = [...callers.values()].find(({ count }) => count > this.#most / 2);
    if (hog === undefined || most === strangers || most === hog) return most?.idle ?? most?.unread ?? hog?.newest; // most-gives
    const areMany = strangers !== undefined && strangers.atRest > this.#most * NEWCOMERS_SHARE;
    return areMany ? (strangers.idle ?? strangers.unread) : hog.newest; // no-hog
  }

  #callers(newest: Socket): Map<string, Caller> {
    const callers = new Map<string, Caller>();
    for (const socket of this.#sockets) {
      if (socket === newest || !speaksHttp(socket)) continue;
      const owner = this.#owners.get(socket) ?? STRANGERS;
      const known = callers.get(owner) ?? { newest: socket, count: 0, atRest: 0 };
      callers.set(owner, known);
      known.newest = socket;
      known.count += 1;
      const rest = restOf(socket);
      if (rest === undefined) continue;
      known[rest] ??= socket;
      known.atRest += 1;
    }
    return callers;
  }
}

/** Of all places: so many strangers may be about to show their keys. */
const NEWCOMERS_SHARE = 1 / 64;
/** Those who have shown no key yet. */
const STRANGERS = '';

/** False for a WebSocket, which has no parser of requests any more. */
function speaksHttp({ parser }: Socket & { readonly parser?: unknown }): boolean {
  return parser !== null; // undefined before HTTP has it
}

/** What a caller has, and could give. */
interface Caller {
  newest: Socket;
  count: number;
  /** Of these, connections that no answer is being made for; and the oldest of each kind. */
  atRest: number;
  idle?: Socket;
  unread?: Socket;
}

/** Why no answer is being made for a connection; undefined if one is, and for a WebSocket, which has no parser of requests any more. */
function restOf(socket: Socket): 'idle' | 'unread' | undefined {
  if (!speaksHttp(socket)) return undefined;
  const answer = openAnswer(socket);
  if (answer === undefined || (!answer.headersSent && !answer.req.complete)) return 'idle';
  return answer.writableEnded || !answer.req.complete ? 'unread' : undefined;
}
