// The text of a frame of server-sent events: its data and its name. Pure: no I/O.

export const LINE_ENDS = /\r\n|\n|\r/;
/** Some providers write an error in place of a frame, without `data:`. */
const BARE_ERROR = /^\{\s*"error"/;

/** The data lines of a frame, joined; undefined for a comment. */
export function dataOf(frame: string): string | undefined {
  const lines = frame.split(LINE_ENDS).flatMap((line) => (line.startsWith('data:') ? [line.slice(line[5] === ' ' ? 6 : 5)] : []));
  if (lines.length > 0) return lines.join('\n');
  return BARE_ERROR.test(frame) ? frame : undefined;
}

/** The name of a frame's event; '' if it has none. */
export function eventOf(frame: string): string {
  return /(?:^|[\r\n])event: ?([^\r\n]*)/.exec(frame)?.[1] ?? '';
}
