// What a test looks for in what was said, as the operation on blocks asks a store.
import { excerptOf, folded, wordsOf } from '../../core/store/parts/search-text.ts';
import type { Searched, SearchStore } from '../../core/store/store.ts';

const NEVER = new AbortController().signal;

/** Asks a store for words. */
export function searchIn(
  store: SearchStore,
  query: string,
  { limit = 10, block, signal = NEVER }: { limit?: number; block?: string; signal?: AbortSignal } = {},
): Promise<Searched> {
  const words = wordsOf(query);
  return store.find({ words, limit, block, excerptOf: (text) => excerptOf(text, words.map(folded)) }, signal);
}
