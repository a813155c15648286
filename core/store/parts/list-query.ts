// What both stores check of a query of the list, and the cursor between its pages. Pure: no I/O.
//
// last-key: a cursor is the key of the last block, so pages neither skip nor repeat what stays.
import { isObject, tryParseJson } from '../../base/json.ts';
import { type BlockhouseError, invalidRequest } from '../../errors.ts';
import { STATES, STATUSES } from '../../schemas/block-pulse.ts';
import type { ListQuery, ListSort } from '../store.ts';

const SORTS: readonly string[] = ['name', 'lastMessageAt', 'costUsd', 'state'] satisfies ListSort[];
const USUAL = 100;
/** The most blocks of a page. */
export const MAX_PAGE = 1000;

/** The query with its defaults. Throws INVALID_REQUEST naming the field. */
export function checkedQuery(query: ListQuery): ListQuery & { readonly sort: ListSort; readonly limit: number } {
  const { sort = 'name', limit = USUAL, state, status } = query;
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE) throw invalidRequest('limit', `must be a whole number from 1 to ${MAX_PAGE}`);
  assertOneOf('sort', sort, SORTS);
  for (const one of state ?? []) assertOneOf('state', one, STATES);
  if (status !== undefined) assertOneOf('status', status, STATUSES);
  return { ...query, sort, limit };
}

function assertOneOf(field: string, value: string, values: readonly string[]): void {
  if (!values.includes(value)) throw invalidRequest(field, `must be one of ${values.join(', ')}`);
}

/** Where the page after a block begins: `key` is what the list is sorted by, and `last` tells blocks with the same key apart. */
export function cursorAfter(sort: ListSort, key: string, last: string | number): string {
  return Buffer.from(JSON.stringify({ sort, key, last })).toString('base64url');
}

/** The place of a cursor of this store. `isPlace` checks what it says. Throws INVALID_REQUEST. */
export function placeAfter<L extends string | number>(
  cursor: string,
  sort: ListSort,
  isPlace: (key: string, last: unknown) => boolean,
): { readonly key: string; readonly last: L } {
  const value = tryParseJson(Buffer.from(cursor, 'base64url').toString());
  if (!isObject(value) || value['sort'] !== sort || typeof value['key'] !== 'string' || !isPlace(value['key'], value['last'])) throw wrongCursor();
  return { key: value['key'], last: value['last'] as L };
}

/** The error for a cursor that no page of the list has given. */
export function wrongCursor(): BlockhouseError {
  return invalidRequest('cursor', 'is not one that a page of this list has given; leave it out to begin with the first page');
}
