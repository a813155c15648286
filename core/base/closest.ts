// Finds the name that a misspelt one was probably meant to be. Pure: no I/O.

/** The candidate that is most alike; undefined if none is alike enough. */
export function nearest(name: string, candidates: readonly string[]): string | undefined {
  const given = plain(name);
  let best: string | undefined;
  let least = Math.max(1, Math.floor(given.length / 3)) + 1;
  for (const candidate of candidates) {
    const distance = distanceOf(given, plain(candidate));
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

/** The edit distance: letters to change, add, remove, or swap with a neighbour to turn one word into the other. */
function distanceOf(one: string, other: string): number {
  let before: number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const isSame = one[i - 1] === other[j - 1];
      const isSwapped = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      const changed = Math.min(cell(row, j) + 1, cell(next, j - 1) + 1, cell(row, j - 1) + (isSame ? 0 : 1));
      next.push(isSwapped ? Math.min(changed, cell(before, j - 2) + 1) : changed);
    }
    before = row;
    row = next;
  }
  return cell(row, other.length);
}

function cell(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
