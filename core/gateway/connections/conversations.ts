// Which key each conversation has, so that the provider's cache of its prompt stays warm. Pure: no I/O.
//
// bounded: So many conversations are kept, for so long after their last call. When there is no room, the client with the most conversations loses its oldest one, so that
//   a client who makes up conversations pushes out none of the others'.
// seldom-moved: A conversation moves to the end of its client's list once in a minute at most, since to move it costs as much as the rest of a look-up several times over.
// own-conversations: A conversation belongs to its client. Two clients who say the same id have two.

/** Conversations of a connection at most. */
export const MAX_CONVERSATIONS = 10_000;
/** Since the last call of a conversation. A provider forgets its prompt within that time. */
export const CONVERSATION_MS = 3_600_000;

/** What is known of one conversation. */
export interface Known<K> {
  /** The key that it has. */
  home: K;
  /** The key that it uses while its own one can't be used. */
  away: K | undefined;
  /** When it was last called: monotonic milliseconds. */
  at: number;
  /** When it was last moved. */
  movedAt: number;
}

const MOVE_EVERY_MS = 60_000;

/** The conversations of one connection, by client. */
export class Conversations<K> {
  readonly #byClient = new Map<string, Map<string, Known<K>>>();
  readonly #most: number;
  #size = 0;

  constructor(most = MAX_CONVERSATIONS) {
    this.#most = most;
  }

  get size(): number {
    return this.#size;
  }

  /** The conversation, which is among the newest from now on; undefined for a new one, and for one that is too old. */
  find(client: string, id: string, now: number): Known<K> | undefined {
    const own = this.#byClient.get(client);
    const known = own?.get(id);
    if (own === undefined || known === undefined) return undefined;
    if (known.at <= now - CONVERSATION_MS) {
      own.delete(id);
      this.#size -= 1;
      if (own.size === 0) this.#byClient.delete(client);
      return undefined;
    }
    known.at = now;
    if (known.movedAt > now - MOVE_EVERY_MS) return known; // seldom-moved
    known.movedAt = now;
    own.delete(id);
    own.set(id, known);
    return known;
  }

  /** Keeps a new conversation. */
  add(client: string, id: string, home: K, now: number): void {
    let own = this.#byClient.get(client);
    if (own !== undefined) this.#dropOld(own, now);
    while (this.#size >= this.#most) this.#dropOne(); // bounded
    own = this.#byClient.get(client) ?? new Map();
    this.#byClient.set(client, own);
    if (!own.has(id)) this.#size += 1;
    own.set(id, { home, away: undefined, at: now, movedAt: now });
  }

  /** Forgets the conversations of a key. */
  forget(isGone: (key: K) => boolean): void {
    for (const [client, own] of this.#byClient) {
      for (const [id, known] of own) {
        if (known.away !== undefined && isGone(known.away)) known.away = undefined;
        if (!isGone(known.home)) continue;
        own.delete(id);
        this.#size -= 1;
      }
      if (own.size === 0) this.#byClient.delete(client);
    }
  }

  #dropOld(own: Map<string, Known<K>>, now: number): void {
    for (const [id, { at }] of own) {
      if (at > now - CONVERSATION_MS) return;
      own.delete(id);
      this.#size -= 1;
    }
  }

  #dropOne(): void {
    let most: [string, Map<string, Known<K>>] | undefined;
    for (const one of this.#byClient) if (most === undefined || one[1].size > most[1].size) most = one;
    if (most === undefined) return;
    const [client, own] = most;
    for (const id of own.keys()) {
      own.delete(id);
      this.#size -= 1;
      break;
    }
    if (own.size === 0) this.#byClient.delete(client);
  }
}
