// Searches what was said to all blocks.
//
// one-at-a-time: searches come one after the other, since each writes an index, or keeps a processor of the database busy. Those that wait are bounded.
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
  const line = new Line();
  return {
    async search(query, { signal = NEVER } = {}): Promise<SearchResult> {
      checkQuery(query);
      const { q, limit = USUAL_LIMIT, block } = query;
      const words = wordsOf(q);
      const folds = words.map(folded);
      if (block !== undefined) await blocks.find(block);
      const wanted = { words, limit, block, excerptOf: (text: string) => excerptOf(text, folds) };
      const { found, total, unreadable, isWhole } = await line.run(() => world.store.search.find(wanted, signal), signal);
      return { hits: [...found], total, complete: isWhole, unreadable: [...unreadable] };
    },
  };
}

/** one-at-a-time. */
class Line {
  #last: Promise<unknown> = Promise.resolve();
  #length = 0;

  /** Rejects with QUEUE_FULL, with what `signal` says when the turn comes, or as `work` does. */
  async run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    if (this.#length >= MOST_WAITING)
      throw new BlockhouseError('QUEUE_FULL', 'Too many searches are waiting. Try again later.', { retryAfterMs: RETRY_AFTER_MS });
    this.#length += 1;
    const turn = this.#last.then(() => {
      signal.throwIfAborted();
      return work();
    });
    this.#last = turn.catch(() => undefined); // the failure is its own caller's
    try {
      return await turn;
    } finally {
      this.#length -= 1;
    }
  }
}
