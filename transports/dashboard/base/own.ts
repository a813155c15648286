// Looks up names that somebody else has chosen: a block's own field, the id of a tool call, a word of a later server. Every object inherits some names,
// such as `constructor`, and these are not entries.

/** The entry of that name; undefined if there is none. */
export function ownOf<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
