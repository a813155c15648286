// Finds the name that a misspelt one was probably meant to be. Pure: no I/O.

/** More letters are no typing errors. */
const MOST_LETTERS = 4;

/** The candidate that is most alike; undefined if none is alike enough. */
export function nearest(name: string, candidates: readonly string[]): string | undefined {
  const given = plain(name);
  let best: string | undefined;
  let least = Math.min(MOST_LETTERS, Math.max(1, Math.floor(given.length / 3))) + 1;
  for (const candidate of candidates) {
    const distance = distanceOf(given, plain(candidate), least);
    if (distance >= least) continue;
    best = candidate;
    least = distance;
  }
  return best;
}

/** `max_tokens` and `MaxTokens` are ways to write `maxTokens`. */
export function plain(name: string): string {
  return name.replace(/[-_ ]/g, '').toLowerCase();
}

/**
 * The edit distance: letters to change, add, remove, or swap with a neighbour to turn one word into the other. `least` or more for words that are so far apart; few letters of
 * those are looked at, since a caller may name what is not there again and again, and there may be ten thousand candidates.
 */
function distanceOf(one: string, other: string, least: number): number {
  if (Math.abs(one.length - other.length) >= least) return least;
  let before: number[] = [];
  let row = Array.from({ length: Math.min(other.length, least) + 1 }, (_, index) => index);
  let lowest = 0;
  for (let i = 1; i <= one.length; i += 1) {
    const next: number[] = i < least ? [i] : [];
    let lowestNext = cell(next, 0);
    for (let j = Math.max(1, i - least + 1); j <= Math.min(other.length, i + least - 1); j += 1) {
      const isSame = one[i - 1] === other[j - 1];
      const isSwapped = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      const changed = Math.min(cell(row, j) + 1, cell(next, j - 1) + 1, cell(row, j - 1) + (isSame ? 0 : 1));
      next[j] = isSwapped ? Math.min(changed, cell(before, j - 2) + 1) : changed;
      lowestNext = Math.min(lowestNext, next[j] ?? changed);
    }
    if (lowestNext >= least && lowest >= least - 1) return least; // a swap looks two rows back
    before = row;
    row = next;
    lowest = lowestNext;
  }
  return cell(row, other.length);
}

function cell(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
