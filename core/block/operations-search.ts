// Searches what was said to all blocks.
//
// one-at-a-time: searches come one after the other, since each writes an index, or keeps a processor of the database busy. Those that wait are bounded.
import { OneAtATime } from '../base/one-at-a-time.ts';
import { BlockhouseError } from '../errors.ts';
import { compile, type Validator } from '../schemas/validate.ts';
import { SearchQuery, type SearchResult } from '../schemas/workspace-api.ts';
import { excerptOf, folded, wordsOf } from '../store/parts/search-text.ts';
import type { Blocks } from './api.ts';
import type { OperationsContext } from './operations.ts';

const checkQuery: Validator<SearchQuery> = compile(SearchQuery);
const USUAL_LIMIT = 20;
const MOST_WAITING = 16;
const RETRY_AFTER_MS = 1000;
const NEVER = new AbortController().signal;

/** The search. */
export function searchOperation({ world, blocks }: OperationsContext): Pick<Blocks, 'search'> {
  const line = new OneAtATime();
  return {
    async search(query, { signal = NEVER } = {}): Promise<SearchResult> {
      checkQuery(query);
      const { q, limit = USUAL_LIMIT, block } = query;
      const words = wordsOf(q);
      const folds = words.map(folded);
      if (block !== undefined) await blocks.find(block);
      const wanted = { words, limit, block, excerptOf: (text: string) => excerptOf(text, folds) };
      if (line.length >= MOST_WAITING)
        throw new BlockhouseError('QUEUE_FULL', 'Too many searches are waiting. Try again later.', { retryAfterMs: RETRY_AFTER_MS });
      const { found, total, unreadable, isWhole } = await line.run(() => world.store.search.find(wanted, signal), signal);
      return { hits: [...found], total, complete: isWhole, unreadable: [...unreadable] };
    },
  };
}
