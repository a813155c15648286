// Codes, tickets and sessions of the page in PostgreSQL, for all servers.
//
// opens-once: a code or a ticket opens once, on whichever server.
// ends-with-the-token: a new token ends all of them, in the statement that stores it (`sql/settings.ts`).
// hashed: the database has their hashes, from which none can be made.
import { createHash } from 'node:crypto';
import type { KeptKind, PassStore } from '../passes.ts';
import type { Database } from './pool.ts';
import * as sql from './sql/passes.ts';

/** The passes of a workspace. */
export class PostgresPasses implements PassStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async add(kind: KeptKind, text: string, ms: number, most: number): Promise<string> {
    const [row] = await this.#database.query<{ ends_at: Date }>(sql.ADD, [hashOf(text), kind, ms, most - 1]);
    if (row === undefined) throw new Error('a pass was not stored');
    return row.ends_at.toISOString();
  }

  async kindOf(text: string): Promise<KeptKind | undefined> {
    const [row] = await this.#database.query<{ kind: KeptKind }>(sql.KIND, [hashOf(text)]);
    return row?.kind;
  }

  async take(kinds: readonly KeptKind[], text: string): Promise<boolean> {
    return (await this.#database.query(sql.TAKE, [hashOf(text), kinds])).length > 0;
  }
}

function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
