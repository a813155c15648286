// Looks for a text in the list, and keeps what it is looked for in.
//
// near-then-rare: a text that many blocks have is found among the next entries in their order. One that is not is looked for by its letters, in an index (005-list-texts.ts):
//   where that says too many blocks, or the text is too short for it, all entries are read.
// written-by-all: a server of a version before writes no texts, so they are mended with each start, and each hour while such a server is there or was.
import type { ListQuery } from '../store.ts';
import type { FactRow } from './list-facts.ts';
import { type PageToAsk, pageOf } from './list-page.ts';
import type { Database } from './pool.ts';
import { PROTOCOLS } from './protocol.ts';
import { HAS_OLDER, IS_LONG, LOOKS_AT, MEND_TEXTS, WITH_THREES } from './sql/list.ts';
import { Upkeep } from './upkeep.ts';

/** So many blocks are looked up in some 40 ms. Of a text that more have, most lists find a page sooner where all entries are read. */
const MOST_RARE = 5000;
/** What the index has of each text. */
const LETTERS = 3;
const EVERY_MS = 3_600_000;
const AT_ONCE = 50_000;

/** How far a text is looked for. */
export interface TextLimits {
  readonly looksAt?: number;
  readonly mostRare?: number;
}

/** The rows of a page, one more than it has if there are more. Throws INVALID_REQUEST. near-then-rare. */
export async function pageRows(
  database: Pick<Database, 'query'>,
  query: ListQuery,
  limits: TextLimits = {},
): Promise<{ readonly rows: readonly FactRow[]; readonly limit: number }> {
  const { looksAt = LOOKS_AT, mostRare = MOST_RARE } = limits;
  const ask = async ({ statement, values, limit }: PageToAsk) => ({ rows: await database.query<FactRow>(statement, values), limit });
  const { text } = query;
  if (text === undefined) return ask(pageOf(query));
  const near = await ask(pageOf(query, { looksAt }));
  if (near.rows.length > near.limit) return near;
  const [list] = await database.query<{ more: boolean }>(IS_LONG, [looksAt]);
  if (list?.more !== true) return near; // these were all
  return ask(pageOf(query, { blocks: await rareBlocks(database, text, mostRare) }));
}

/** The blocks that may have a text; undefined where that are too many, or nobody knows. */
async function rareBlocks(database: Pick<Database, 'query'>, text: string, most: number): Promise<number[] | undefined> {
  const letters = text.replaceAll('\0', '');
  if ([...letters].length < LETTERS || letters.includes('\u0001')) return undefined;
  const rows = await database.query<{ block: number }>(WITH_THREES, [letters, most + 1]);
  return rows.length > most ? undefined : rows.map(({ block }) => block);
}

/** written-by-all. */
export class ListTexts extends Upkeep {
  readonly #database: Pick<Database, 'query'>;
  #mayDiffer = true;

  constructor(database: Pick<Database, 'query'>, onFault: (error: unknown) => void) {
    super(EVERY_MS, onFault);
    this.#database = database;
  }

  /** Rejects with STORE_UNREACHABLE. */
  async keep(): Promise<void> {
    const [older] = await this.#database.query<{ found: boolean }>(HAS_OLDER, [PROTOCOLS.listTexts]);
    const isOlderThere = older?.found === true;
    if (this.#mayDiffer || isOlderThere) await this.#mend();
    this.#mayDiffer = isOlderThere;
  }

  async #mend(): Promise<void> {
    for (let after: number | null | undefined = 0; after != null; ) {
      const rows: { readonly last: number | null }[] = await this.#database.query<{ last: number | null }>(MEND_TEXTS, [after, AT_ONCE]);
      after = rows[0]?.last;
    }
  }
}
