// A page of the list, as a statement, and the place where the next one begins. Pure: no I/O.
import { checkedQuery, cursorAfter, placeAfter } from '../parts/list-query.ts';
import type { ListQuery, ListSort } from '../store.ts';
import type { FactRow } from './list-facts.ts';
import type { Statement } from './pool.ts';
import { type ListFilter, pageStatement } from './sql/list.ts';

const FILTERS: readonly ListFilter[] = ['prefix', 'state', 'status', 'tag', 'blocks', 'text'];

/** Where a text is looked for. */
export interface TextPlace {
  /** In these blocks alone. */
  readonly blocks?: readonly number[] | undefined;
  /** In so many entries, in their order. */
  readonly looksAt?: number;
}

/** A page as it is asked for. */
export interface PageToAsk {
  readonly statement: Statement;
  readonly values: readonly unknown[];
  readonly limit: number;
}

/** The statement for one block more than the page has, its values, and how many the page has. Throws INVALID_REQUEST. */
export function pageOf(query: ListQuery, { blocks, looksAt }: TextPlace = {}): PageToAsk {
  const { sort, limit, cursor } = checkedQuery(query);
  const asked = { ...query, blocks };
  const filters = FILTERS.filter((filter) => asked[filter] !== undefined);
  const values = filters.map((filter) => (filter === 'text' ? `%${likeable(query.text ?? '')}%` : storable(asked[filter])));
  const place = cursor === undefined ? [] : placeOf(cursor, sort);
  return { statement: pageStatement(sort, filters, cursor !== undefined, looksAt), values: [limit + 1, ...values, ...place], limit };
}

/** Where the page after this row begins. */
export function cursorOf({ sort = 'name' }: ListQuery, { key, block, name }: FactRow): string {
  return cursorAfter(sort, key ?? '', sort === 'state' ? name : block);
}

function placeOf(cursor: string, sort: ListSort): unknown[] {
  const { key, last } = placeAfter(cursor, sort, (_key, value) => (sort === 'state' ? typeof value === 'string' : Number.isSafeInteger(value)));
  return [key, last];
}

/** Wildcards of LIKE stand for themselves. */
function likeable(text: string): string {
  return text.replaceAll('\0', '').replaceAll(/[\\%_]/g, '\\$&');
}

/** No stored text has a NUL, which the database would refuse: U+FFFF stands for it, which fits no block either. */
function storable(value: unknown): unknown {
  return typeof value === 'string' ? value.replaceAll('\0', '\uffff') : value;
}
