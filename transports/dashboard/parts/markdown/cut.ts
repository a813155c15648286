// Long texts are shown in part at first. Pure.

/** A longer entry is cut. */
export const MAX_CHARACTERS = 65_536;
/** A longer block of code is cut. */
export const MAX_LINES = 400;

const PIECE_CHARACTERS = 64;

/** The beginning of a long text, to the end of a line where there is one; the text itself if it is short. */
export function beginningOf(text: string, most = MAX_CHARACTERS): string {
  if (text.length <= most) return text;
  const line = text.lastIndexOf('\n', most);
  const end = line > most / 2 ? line + 1 : most;
  return text.slice(0, isPair(text, end) ? end - 1 : end);
}

/** The first lines of a long block of code; the code itself if it is short. */
export function linesOf(code: string, most = MAX_LINES): string {
  let end = -1;
  for (let line = 0; line < most; line += 1) {
    end = code.indexOf('\n', end + 1);
    if (end === -1) return code;
  }
  return code.slice(0, end);
}

/**
 * A growing text in pieces, each a node of its own. Only the last piece changes, so that a selection in the others stays.
 */
export function steadyPieces(text: string): readonly string[] {
  const pieces: string[] = [];
  let start = 0;
  while (text.length - start > PIECE_CHARACTERS) {
    const end = spaceAfter(text, start + PIECE_CHARACTERS);
    if (end === -1) break;
    pieces.push(text.slice(start, end));
    start = end;
  }
  if (start < text.length) pieces.push(text.slice(start));
  return pieces;
}

/** The position after the next white space; -1 if there is none. */
function spaceAfter(text: string, from: number): number {
  for (let at = from; at < text.length; at += 1) if (/\s/.test(text[at] ?? '')) return at + 1;
  return -1;
}

function isPair(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1);
  return before >= 0xd800 && before <= 0xdbff;
}
