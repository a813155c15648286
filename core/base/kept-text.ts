// How much is kept or written of a text that a client has chosen, such as the name of a model. Pure: no I/O.

/** Longer than any name that a provider knows. As JSON, where each character may take six bytes, five such texts fit into a line of a ledger. */
export const MAX_KEPT_CHARACTERS = 2048;

/** The text, or its beginning as a text of its own: a slice would keep the whole text in memory. */
export function keptText(text: string): string {
  return text.length <= MAX_KEPT_CHARACTERS ? text : Buffer.from(text.slice(0, MAX_KEPT_CHARACTERS)).toString();
}
