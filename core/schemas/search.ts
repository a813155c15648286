// The query and the answer of a search in what was said. Pure: no I/O.
import type * as types from '../types.ts';
import { boolean, closedObject, count, listOf, object, oneOf, orNull, string, time } from './fields.ts';

/** A search in what was said to blocks. */
export const SearchQuery = closedObject(
  {
    q: {
      type: 'string',
      minLength: 1,
      maxLength: 256,
      description: 'Words, and texts between quotation marks, at most eight. A text fits that has them all, also within longer words, in any case',
    },
    limit: { type: 'integer', minimum: 1, maximum: 100, description: 'Most texts to return, the newest first; default 20' },
    block: { type: 'string', minLength: 1, maxLength: 64, description: 'Only what was said to this block' },
  },
  ['limit', 'block'],
);
export type SearchQuery = types.SearchQuery;

/** A text that fits. */
export const SearchHit = object({
  block: { type: 'string', description: 'Name of the block; of an archived one, the name that it had' },
  archive: { ...orNull(string), description: 'Name in the archive; null for an active block' },
  by: { ...oneOf(['message', 'answer', 'summary', 'fact']), description: 'Whose words they are: the last two are of the memory of the block' },
  id: { ...orNull(string), description: 'Id of the message, the answer or the fact; null for the summary' },
  at: orNull(time),
  excerpt: { type: 'string', description: 'The text around the first word that was found' },
  marks: {
    ...listOf({ type: 'array', items: count, minItems: 2, maxItems: 2 }),
    description: 'Where the words stand in the excerpt: the index of the first character, and of the one after the last, in UTF-16',
  },
});
export type SearchHit = types.SearchHit;

/** What was found. */
export const SearchResult = object({
  hits: listOf(SearchHit),
  total: { ...count, description: 'How many texts fit in all' },
  complete: { ...boolean, description: "False if there may be more: a block can't be read, or there are too many to look at" },
  unreadable: { ...listOf(string), description: "Blocks whose texts can't be read, some of them" },
});
export type SearchResult = types.SearchResult;
