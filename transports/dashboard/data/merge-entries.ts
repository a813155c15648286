// Puts a page of a conversation into what is known of it. Pure.
import type { ChatEntry } from '../../../core/types.ts';

/** The entries in their order. The page is right about everything from its first entry on; ids sort by time. */
export function mergePage(known: readonly ChatEntry[], page: readonly ChatEntry[]): readonly ChatEntry[] {
  const first = page[0]?.id;
  const before = first === undefined ? [] : known.filter(({ id }) => id < first);
  const byId = new Map(known.map((entry) => [entry.id, entry]));
  return [...before, ...page.map((entry) => sameAs(byId.get(entry.id), entry))];
}

/** Older entries before the known ones. */
export function mergeOlder(known: readonly ChatEntry[], older: readonly ChatEntry[]): readonly ChatEntry[] {
  const ids = new Set(known.map(({ id }) => id));
  return [...older.filter(({ id }) => !ids.has(id)), ...known];
}

/** The object that is shown already, if nothing of it has changed, so that it is not drawn anew. */
function sameAs(shown: ChatEntry | undefined, entry: ChatEntry): ChatEntry {
  return shown !== undefined && JSON.stringify(shown) === JSON.stringify(entry) ? shown : entry;
}
