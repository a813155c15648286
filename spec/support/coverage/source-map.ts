// Which line of the source each piece of a compiled file comes from. Pure: no I/O.
//
// `SourceMap` of Node answers for one place only; here all places are wanted.

/** A place in the compiled text, counted in UTF-16 units from its begin, and the line of the source from which it comes, counted from 0. */
export interface Piece {
  readonly at: number;
  readonly line: number;
}

const INLINE_MAP = /^\/\/# sourceMappingURL=data:application\/json;base64,([\w+/=]+)\s*$/m;
const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
/** A digit has five bits of a number; the sixth says that more follow. */
const MORE = 32;

/** The pieces of a compiled file with its map at its end, made of a single source. */
export function piecesOf(compiled: string): Piece[] {
  const map = INLINE_MAP.exec(compiled)?.[1];
  if (map === undefined) throw new Error('The compiled file has no map at its end.');
  const { mappings } = JSON.parse(Buffer.from(map, 'base64').toString()) as { mappings: string };
  const pieces: Piece[] = [];
  let begin = 0;
  let line = 0;
  const texts = compiled.split('\n');
  for (const [index, segments] of mappings.split(';').entries()) {
    let column = 0;
    for (const segment of segments.split(',')) {
      const [columns, , lines] = numbersOf(segment);
      if (columns === undefined) continue;
      column += columns;
      line += lines ?? 0;
      if (lines !== undefined) pieces.push({ at: begin + column, line });
    }
    begin += (texts[index]?.length ?? 0) + 1;
  }
  return pieces;
}

/** The numbers of a segment, each the difference to the same of the segment before: column, source, line of the source, column there. */
function numbersOf(segment: string): number[] {
  const numbers: number[] = [];
  let shift = 0;
  let value = 0;
  for (const char of segment) {
    const digit = DIGITS.indexOf(char);
    value += (digit & (MORE - 1)) << shift;
    shift += 5;
    if (digit & MORE) continue;
    numbers.push(value & 1 ? -(value >> 1) : value >> 1);
    shift = 0;
    value = 0;
  }
  return numbers;
}
