// Patterns of names and of paths. Pure: no I/O.

/** `*` means any text. */
export function fitsPattern(pattern: string, name: string): boolean {
  return matches(pattern.split('*'), name);
}

/** Whether a text has these pieces in their order, the first at its start and the last at its end. Linear: the earliest place of each piece is enough. */
function matches(pieces: readonly string[], text: string): boolean {
  const [first = '', ...rest] = pieces;
  if (rest.length === 0) return first === text;
  const last = rest.at(-1) ?? '';
  if (!text.startsWith(first) || text.length < first.length + last.length || !text.endsWith(last)) return false;
  let at = first.length;
  for (const piece of rest.slice(0, -1)) {
    const found = text.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return at <= text.length - last.length;
}

/** A path pattern by its segments: `**` means any number of segments, and `*` any text within one. Both paths are absolute and have no `.` or `..`. */
export function fitsPath(pattern: string, path: string): boolean {
  return fitsSegments(segmentsOf(pattern), segmentsOf(path));
}

function segmentsOf(path: string): readonly string[] {
  return path.split('/').filter((segment) => segment !== '');
}

/** Row by row, so that many `**` don't take exponential time: a row says for each number of segments whether the patterns so far fit exactly these. */
function fitsSegments(patterns: readonly string[], segments: readonly string[]): boolean {
  let row: readonly boolean[] = [true, ...segments.map(() => false)];
  for (const pattern of patterns) {
    const next: boolean[] = [pattern === '**' && row[0] === true];
    for (const [index, segment] of segments.entries()) {
      next.push(pattern === '**' ? row[index + 1] === true || next[index] === true : row[index] === true && fitsPattern(pattern, segment));
    }
    row = next;
  }
  return row.at(-1) === true;
}
