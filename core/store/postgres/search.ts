// Searches what was said to the blocks in the database: of the newest ones, and without an index, since one would make each message dearer.
//
// one-at-a-time: of a server's searches, one is under way, since each keeps a connection and a processor of the database busy.
import { BlockhouseError } from '../../errors.ts';
import { nameInArchive } from '../../schemas/names.ts';
import type { SaidBy, Searched, SearchFor, SearchStore } from '../store.ts';
import type { Database } from './pool.ts';
import { MORE_BLOCKS, SEARCH } from './sql/search.ts';

/** Of the active blocks and of the archived ones, those that are looked at. */
const BLOCKS = 10_000;
const MOST_WAITING = 16;
const RETRY_AFTER_MS = 1000;
/** What no text of PostgreSQL has. */
const NO_TEXT = /[\p{Surrogate}\0]/gu;

interface Row {
  readonly name: string;
  readonly archive_name: string | null;
  readonly by: SaidBy;
  readonly id: string | null;
  readonly at: Date | null;
  readonly text: string;
  readonly total: number;
}

/** The search of one server. */
export class PostgresSearch implements SearchStore {
  readonly #database: Database;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  constructor(database: Database) {
    this.#database = database;
  }

  find(wanted: SearchFor, signal: AbortSignal): Promise<Searched> {
    if (this.#waiting >= MOST_WAITING)
      return Promise.reject(new BlockhouseError('QUEUE_FULL', 'Too many searches are waiting. Try again later.', { retryAfterMs: RETRY_AFTER_MS }));
    this.#waiting += 1;
    const run = async (): Promise<Searched> => {
      try {
        signal.throwIfAborted();
        return await this.#find(wanted);
      } finally {
        this.#waiting -= 1;
      }
    };
    const found = this.#last.then(run, run);
    this.#last = found;
    return found;
  }

  async #find({ words, limit, block, excerptOf }: SearchFor): Promise<Searched> {
    const patterns = words.map((word) => `%${word.replace(NO_TEXT, '').replace(/[\\%_]/g, '\\$&')}%`);
    const rows = await this.#database.query<Row>(SEARCH, [patterns, BLOCKS, limit, block ?? null]);
    const [more] = await this.#database.query<{ more: boolean }>(MORE_BLOCKS, [BLOCKS]);
    const found = rows.map(({ name, archive_name: archive, by, id, at, text }) => ({
      block: archive === null ? name : (nameInArchive(archive) ?? name),
      archive,
      by,
      id,
      at: at?.toISOString() ?? null,
      ...excerptOf(text),
    }));
    return { found, total: rows[0]?.total ?? 0, unreadable: [], isWhole: block !== undefined || more?.more !== true };
  }
}
