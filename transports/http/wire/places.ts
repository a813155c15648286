// The connections of a server: who makes room for whom when all places are taken.
//
// most-gives: a further connection gets the place of one that no answer is being made for: one that says nothing, is kept for a next request, or has not sent all of its body; and if
//   there is none, of one whose answer is made and not read yet. It is taken from the caller that has the most of all these, the oldest first, so one caller can't keep the others out.
//   Strangers, who have shown no key yet, count as one caller.
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

  /** most-gives. */
  #given(newest: Socket): Socket | undefined {
    const ofOwners = new Map<string, Giving>();
    for (const socket of this.#sockets) {
      const rest = socket === newest ? undefined : restOf(socket);
      if (rest === undefined) continue;
      const owner = this.#owners.get(socket) ?? '';
      const known = ofOwners.get(owner) ?? { count: 0 };
      ofOwners.set(owner, known);
      known[rest] ??= socket;
      known.count += 1;
    }
    const most = [...ofOwners.values()].sort((one, other) => other.count - one.count)[0];
    return most?.idle ?? most?.unread;
  }
}

/** What a caller could give: how many, and the oldest of each kind. */
interface Giving {
  count: number;
  idle?: Socket;
  unread?: Socket;
}

/** Why no answer is being made for a connection; undefined if one is, and for a WebSocket, which has no parser of requests any more. */
function restOf(socket: Socket & { readonly parser?: unknown }): 'idle' | 'unread' | undefined {
  if (socket.parser === undefined || socket.parser === null) return undefined;
  const answer = openAnswer(socket);
  if (answer === undefined || (!answer.headersSent && !answer.req.complete)) return 'idle';
  return answer.writableEnded || !answer.req.complete ? 'unread' : undefined;
}
