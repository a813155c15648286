// How much is kept or written of a text that a client has chosen, such as the name of a model, and texts that are made of names. Pure: no I/O.

/** Longer than any name that a provider knows. As JSON, where each character may take six bytes, five such texts fit into a line of a ledger. */
export const MAX_KEPT_CHARACTERS = 2048;

/** The text, or its beginning as a text of its own: a slice would keep the whole text in memory. */
export function keptText(text: string): string {
  return text.length <= MAX_KEPT_CHARACTERS ? text : Buffer.from(text.slice(0, MAX_KEPT_CHARACTERS)).toString();
}

const MAX_MADE = 1000;

/** Puts a prefix before names. What was made is kept: each call asks for it several times, and a new text must be hashed before it is found in a map. */
export function prefixed(prefix: string): (name: string) => string {
  return madeOnce((name) => prefix + name);
}

/** Keeps what was made of names that come again and again. */
export function madeOnce(make: (name: string) => string): (name: string) => string {
  const made = new Map<string, string>();
  return (name) => {
    const known = made.get(name);
    if (known !== undefined) return known;
    if (made.size >= MAX_MADE) made.clear();
    const text = make(name);
    made.set(name, text);
    return text;
  };
}
