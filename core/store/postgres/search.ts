// Searches what was said to the blocks in the database: of the newest ones, and without an index, since one would make each message dearer.
import { nameInArchive } from '../../schemas/names.ts';
import type { SaidBy, Searched, SearchFor, SearchStore } from '../store.ts';
import type { Database } from './pool.ts';
import { MORE_BLOCKS, SEARCH } from './sql/search.ts';

/** Of the active blocks and of the archived ones, those that are looked at. */
const BLOCKS = 10_000;
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

  constructor(database: Database) {
    this.#database = database;
  }

  async find({ words, limit, block, excerptOf }: SearchFor, signal: AbortSignal): Promise<Searched> {
    signal.throwIfAborted();
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
