// Codes, tickets and sessions of the page in PostgreSQL, for all servers.
//
// opens-once: a code or a ticket opens once, on whichever server.
// ends-with-the-token: a new token ends all of them, in the same step.
// hashed: the database has their hashes, from which none can be made.
import { createHash, randomBytes } from 'node:crypto';
import type { Database } from './pool.ts';
import * as sql from './sql/passes.ts';

/** What a pass is for. */
export type PassKind = 'code' | 'ticket' | 'session';

/** A secret, and when it ends: ISO 8601. */
export interface TimedPass {
  readonly text: string;
  readonly expiresAt: string;
}

/** How long it is known of a session that it holds. */
const HOLDS_MS = 1000;
const MOST_KNOWN = 10_000;

/** The passes of a workspace. All reject with STORE_UNREACHABLE. */
export class PostgresPasses {
  readonly #database: Database;
  readonly #clock: () => number;
  /** Sessions that held a moment ago, by hash, and until when that is taken for granted. */
  readonly #known = new Map<string, number>();

  /** `clock` in monotonic milliseconds. */
  constructor(database: Database, clock: () => number = () => performance.now()) {
    this.#database = database;
    this.#clock = clock;
  }

  /** A new pass for `ms`. `prefix` is what its text begins with. */
  async add(kind: PassKind, ms: number, prefix = ''): Promise<TimedPass> {
    const text = `${prefix}${randomBytes(32).toString('base64url')}`;
    const [row] = await this.#database.query<{ ends_at: Date }>(sql.ADD, [hashOf(text), kind, ms]);
    if (row === undefined) throw new Error('a pass was not stored');
    return { text, expiresAt: row.ends_at.toISOString() };
  }

  /** True for one that is valid, which it is no longer afterwards. */
  async take(kind: PassKind, text: string): Promise<boolean> {
    this.#known.delete(hashOf(text).toString('hex'));
    return (await this.#database.query(sql.TAKE, [hashOf(text), kind])).length > 0;
  }

  /** Whether a session is valid; at once for one that was within a second. */
  holds(session: string): boolean | Promise<boolean> {
    const hash = hashOf(session);
    const name = hash.toString('hex');
    if ((this.#known.get(name) ?? Number.NEGATIVE_INFINITY) > this.#clock()) return true;
    return this.#database.query(sql.HOLDS, [hash, 'session']).then((rows) => {
      this.#known.delete(name);
      if (this.#known.size >= MOST_KNOWN) this.#known.clear();
      if (rows.length > 0) this.#known.set(name, this.#clock() + HOLDS_MS);
      return rows.length > 0;
    });
  }

  /** Stores the hash of a new token, as hex. */
  async rotate(tokenHash: string): Promise<void> {
    await this.#database.query(sql.ROTATE, [tokenHash]);
    this.#known.clear();
  }
}

function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
