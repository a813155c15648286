// Which blocks the list shows, and in which order. Pure.
import type { Entry } from '../../data/fleet.ts';
import { groupOf } from '../../data/fleet.ts';

/** Columns that the list can be sorted by. */
export const SORTS = ['name', 'model', 'waiting', 'last', 'today'] as const;
export type Sort = (typeof SORTS)[number];

/** What the address says of the list. */
export interface View {
  readonly group: string;
  readonly text: string;
  readonly sort: Sort;
  readonly isDescending: boolean;
}

/** The view of an address; unknown values fall back to all blocks by name. */
export function viewOf(query: URLSearchParams): View {
  const given = query.get('sort') ?? '';
  const name = given.replace(/^-/, '');
  return {
    group: query.get('show') ?? 'all',
    text: query.get('find') ?? '',
    sort: SORTS.find((sort) => sort === name) ?? 'name',
    isDescending: given.startsWith('-'),
  };
}

/** True if a block is shown. Each word must occur in its name, description, model, provider, state or tags. */
export function fits(entry: Entry, { group, text }: View): boolean {
  if (group !== 'all' && groupOf(entry) !== group) return false;
  if (text === '') return true;
  const { name, state, config } = entry;
  const all = [name, state, config.description ?? '', config.adapter?.model ?? '', config.adapter?.provider ?? '', ...(config.tags ?? [])]
    .join(' ')
    .toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word));
}

/** The order of two blocks; equal ones by name. */
export function compare(one: Entry, other: Entry, { sort, isDescending }: View): number {
  const difference = BY[sort](one, other);
  return (isDescending ? -difference : difference) || (one.name < other.name ? -1 : 1);
}

const BY: Readonly<Record<Sort, (one: Entry, other: Entry) => number>> = {
  name: (one, other) => (one.name < other.name ? -1 : 1),
  model: (one, other) => (one.config.adapter?.model ?? '').localeCompare(other.config.adapter?.model ?? ''),
  waiting: (one, other) => one.queue - other.queue,
  last: (one, other) => (one.lastMessageAt ?? '').localeCompare(other.lastMessageAt ?? ''),
  today: (one, other) => (one.costs.today ?? -1) - (other.costs.today ?? -1),
};
