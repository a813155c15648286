// The text of a frame of server-sent events: its data, its name, and what it is without secrets. Pure: no I/O.
import { redact, redactJson } from '../../core/base/redact.ts';

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

const LINES = /[^\r\n]+/g;
const COMMENT = /^:/m;
const COMMENTS = /^:[^\r\n]+/gm;

/** A frame without secrets; undefined if it had none. Strings of JSON don't span lines. */
export function cleanFrame(frame: string, isJson: boolean, secrets: readonly string[]): Buffer | undefined {
  const clean = frame.replace(LINES, (line) => (isJson && line.startsWith('data:') ? redactJson(line, secrets) : redact(line, secrets)));
  return clean === frame ? undefined : Buffer.from(clean);
}

/** True for a frame with a comment. */
export function hasComment(frame: string): boolean {
  return COMMENT.test(frame);
}

/** As `cleanFrame`, and only its comments are searched. */
export function cleanComments(frame: string, secrets: readonly string[]): Buffer | undefined {
  const clean = frame.replace(COMMENTS, (line) => redact(line, secrets));
  return clean === frame ? undefined : Buffer.from(clean);
}
