// What two texts have in common, line by line. Pure.

/** A line of a comparison. */
export interface ComparedLine {
  readonly kind: 'same' | 'added' | 'removed';
  readonly text: string;
}

/** More lines than this are compared as a whole: the table of all pairs would be too large. */
const MAX_LINES = 2000;

/** The lines of both texts in an order that keeps those in common. */
export function compareLines(before: string, after: string): readonly ComparedLine[] {
  const [old, now] = [linesOf(before), linesOf(after)];
  if (old.length > MAX_LINES || now.length > MAX_LINES)
    return [...old.map((text): ComparedLine => ({ kind: 'removed', text })), ...now.map((text): ComparedLine => ({ kind: 'added', text }))];
  const width = now.length + 1;
  const common = new Uint16Array((old.length + 1) * width);
  const at = (row: number, column: number): number => common[row * width + column] ?? 0;
  for (let row = old.length - 1; row >= 0; row -= 1)
    for (let column = now.length - 1; column >= 0; column -= 1)
      common[row * width + column] = old[row] === now[column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1));
  const lines: ComparedLine[] = [];
  let [row, column] = [0, 0];
  while (row < old.length || column < now.length) {
    if (row < old.length && column < now.length && old[row] === now[column]) {
      lines.push({ kind: 'same', text: old[row] ?? '' });
      row += 1;
      column += 1;
    } else if (column < now.length && (row === old.length || at(row, column + 1) >= at(row + 1, column))) {
      lines.push({ kind: 'added', text: now[column] ?? '' });
      column += 1;
    } else {
      lines.push({ kind: 'removed', text: old[row] ?? '' });
      row += 1;
    }
  }
  return lines;
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.split('\n');
}
