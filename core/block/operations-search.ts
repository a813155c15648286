// Searches what was said to all blocks.
import { SearchQuery, type SearchResult } from '../schemas/workspace-api.ts';
import { compile, type Validator } from '../schemas/validate.ts';
import { excerptOf, folded, wordsOf } from '../store/parts/search-text.ts';
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
      const words = wordsOf(q);
      const folds = words.map(folded);
      if (block !== undefined) await blocks.find(block);
      const wanted = { words, limit, block, excerptOf: (text: string) => excerptOf(text, folds) };
      const { found, total, unreadable, isWhole } = await world.store.search.find(wanted, signal);
      return { hits: [...found], total, complete: isWhole, unreadable: [...unreadable] };
    },
  };
}
