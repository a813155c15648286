// Changes of the list of keys of an entry. Pure: no I/O.
import { invalidRequest } from '../../errors.ts';
import type { ChangeEntryKey, EntryKey } from '../../types.ts';

/** The list without a key. Throws INVALID_REQUEST for the only one. */
export function withoutKey(name: string, keys: readonly EntryKey[], index: number): EntryKey[] {
  if (keys.length === 1) throw invalidRequest('key', `is the only one of ${name}; \`blockhouse auth rm ${name}\` removes the entry`);
  return keys.filter((_, at) => at !== index);
}

/** The list with other terms or another place of a key; null takes a field away, and a place behind the last one is the last. */
export function withChangedKey(keys: readonly EntryKey[], index: number, { place, ...terms }: ChangeEntryKey): EntryKey[] {
  const changed = Object.fromEntries(Object.entries({ ...keys[index], ...terms }).filter(([, value]) => value !== null)) as EntryKey;
  const others = keys.filter((_, at) => at !== index);
  const at = place === undefined ? index : place - 1;
  return [...others.slice(0, at), changed, ...others.slice(at)];
}
