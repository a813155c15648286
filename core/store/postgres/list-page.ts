// A page of the list, as a statement, and the place where the next one begins. Pure: no I/O.
//
// last-key: a cursor is the key of the last block, so pages neither skip nor repeat what stays.
import { isObject, tryParseJson } from '../../base/json.ts';
import { invalidRequest } from '../../errors.ts';
import type { BlockEntry } from '../../schemas/block-api.ts';
import type { FactRow } from './list-facts.ts';
import type { Statement } from './pool.ts';
import { type ListFilter, type ListSort, pageStatement } from './sql/list.ts';

/** Which blocks, and how many of them. */
export interface ListQuery {
  readonly sort?: ListSort;
  /** What the name begins with. */
  readonly prefix?: string;
  readonly state?: readonly string[];
  readonly status?: string;
  readonly tag?: string;
  /** A part of the name or of the description, in whichever case. */
  readonly text?: string;
  /** 1 to 1000; 100 when left out. */
  readonly limit?: number;
  readonly cursor?: string;
}

/** A page of the list. */
export interface ListPage {
  readonly entries: readonly BlockEntry[];
  /** The cursor of the next one; null at the end. */
  readonly next: string | null;
}

const FILTERS: readonly ListFilter[] = ['prefix', 'state', 'status', 'tag', 'text'];
const USUAL = 100;
const MOST = 1000;

/** The statement and its values, the first of which is how many. Throws INVALID_REQUEST. */
export function pageOf(query: ListQuery): { readonly statement: Statement; readonly values: [limit: number, ...unknown[]] } {
  const { sort = 'name', limit = USUAL, cursor } = query;
  if (!Number.isInteger(limit) || limit < 1 || limit > MOST) throw invalidRequest('limit', `must be a whole number from 1 to ${MOST}`);
  const filters = FILTERS.filter((filter) => query[filter] !== undefined);
  const values = filters.map((filter) => (filter === 'text' ? `%${likeable(query.text ?? '')}%` : query[filter]));
  const place = cursor === undefined ? [] : placeOf(cursor, sort);
  return { statement: pageStatement(sort, filters, cursor !== undefined), values: [limit, ...values, ...place] };
}

/** Where the page after this row begins. */
export function cursorOf({ sort = 'name' }: ListQuery, { key, block, name }: FactRow): string {
  return Buffer.from(JSON.stringify({ sort, key, last: sort === 'state' ? name : block })).toString('base64url');
}

function placeOf(cursor: string, sort: ListSort): unknown[] {
  const value = tryParseJson(Buffer.from(cursor, 'base64url').toString());
  const lastType = sort === 'state' ? 'string' : 'number';
  if (!isObject(value) || value['sort'] !== sort || typeof value['key'] !== 'string' || typeof value['last'] !== lastType || !isKey(sort, value['key'])) {
    throw invalidRequest('cursor', 'is not one that a page of this list has given');
  }
  return [value['key'], value['last']];
}

/** The database would refuse others with an error of its own. */
function isKey(sort: ListSort, key: string): boolean {
  if (sort === 'costUsd') return key !== '' && Number.isFinite(Number(key));
  if (sort === 'lastMessageAt') return key === '-infinity' || /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?[+-]\d\d(?::\d\d)?$/.test(key);
  return !key.includes('\0');
}

/** Wildcards of LIKE stand for themselves. */
function likeable(text: string): string {
  return text.replaceAll('\0', '').replaceAll(/[\\%_]/g, '\\$&');
}
