// A page of a list whose entries are all in memory. Pure: no I/O.
import type { BlockEntry } from '../../../schemas/block-api.ts';
import { checkedQuery, cursorAfter, placeAfter } from '../../parts/list-query.ts';
import type { ListPage, ListQuery, ListSort } from '../../store.ts';

interface Order {
  /** What the list is sorted by, as text. */
  key(entry: BlockEntry): string;
  /** Below zero if the first one comes first. */
  compare(a: string, b: string): number;
}

const byText = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
const ORDERS: Readonly<Record<ListSort, Order>> = {
  name: { key: ({ name }) => name, compare: byText },
  state: { key: ({ state }) => state, compare: byText },
  // The newest first, and last those without a message.
  lastMessageAt: { key: ({ lastMessageAt }) => lastMessageAt ?? '', compare: (a, b) => byText(b, a) },
  // The dearest first, and last those without a known cost.
  costUsd: { key: ({ costs }) => String(costs.totalCost ?? -1), compare: (a, b) => Number(b) - Number(a) },
};

/** `entries` are sorted by name. Throws INVALID_REQUEST. */
export function pageOfEntries(entries: readonly BlockEntry[], query: ListQuery): ListPage {
  const { sort, limit, cursor } = checkedQuery(query);
  const { key, compare } = ORDERS[sort];
  const isKey = (text: string): boolean => sort !== 'costUsd' || (text !== '' && Number.isFinite(Number(text)));
  const place = cursor === undefined ? undefined : placeAfter<string>(cursor, sort, (text, last) => typeof last === 'string' && isKey(text));
  const isAfter = (entry: BlockEntry): boolean => {
    if (place === undefined) return true;
    const order = compare(key(entry), place.key);
    return order > 0 || (order === 0 && entry.name > place.last);
  };
  const found = entries.filter((entry) => fits(entry, query) && isAfter(entry));
  if (sort !== 'name') found.sort((a, b) => compare(key(a), key(b))); // stable, so that equal ones stay sorted by name
  const page = found.slice(0, limit);
  const last = page.at(-1);
  return { entries: page, next: last === undefined || found.length === page.length ? null : cursorAfter(sort, key(last), last.name) };
}

function fits({ name, state, status, config }: BlockEntry, query: ListQuery): boolean {
  const { prefix = '', text = '', tag } = query;
  const wanted = text.toLowerCase();
  return (
    name.startsWith(prefix) &&
    (query.state === undefined || query.state.includes(state)) &&
    (query.status === undefined || query.status === status) &&
    (tag === undefined || config.tags?.includes(tag) === true) &&
    (name.toLowerCase().includes(wanted) || (config.description ?? '').toLowerCase().includes(wanted))
  );
}
