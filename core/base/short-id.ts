// How much of an id people are shown. Pure: no I/O.

/** The beginning of the id of an approval, in every text that names one: `a` and eight hex digits. Commands take any unique beginning. */
export function shortId(id: string): string {
  return id.slice(0, 9);
}
