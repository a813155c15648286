// Searches what was said to all blocks.
import { SearchQuery, type SearchResult } from '../schemas/search.ts';
import { compile, type Validator } from '../schemas/validate.ts';
import { wordsOf } from '../store/parts/search-text.ts';
import type { Blocks } from './api.ts';
import type { OperationsContext } from './operations.ts';

const checkQuery: Validator<SearchQuery> = compile(SearchQuery);
const USUAL_LIMIT = 20;
const NEVER = new AbortController().signal;

/** The search. */
export function searchOperation({ world, blocks }: OperationsContext): Pick<Blocks, 'search'> {
  return {
    async search(query, { signal = NEVER } = {}): Promise<SearchResult> {
      checkQuery(query);
      const { q, limit = USUAL_LIMIT, block } = query;
      wordsOf(q);
      if (block !== undefined) await blocks.find(block);
      const { found, total, unreadable, isWhole } = await world.store.search.find({ query: q, limit, block }, signal);
      return { hits: [...found], total, complete: isWhole, unreadable: [...unreadable] };
    },
  };
}
