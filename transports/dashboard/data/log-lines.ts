// A log's text as lines. Pure.

/** One line of a block's log. */
export interface LogLine {
  /** Where the line begins in its file, in bytes. */
  readonly offset: number;
  readonly at: string | undefined;
  readonly level: string;
  readonly event: string;
  readonly rest: string;
  /** The message that it is about. */
  readonly id: string | undefined;
  readonly text: string;
}

const LINE = /^(\d{4}-\d\d-\d\dT[\d:.]+Z)\s+(\w+)\s+(\S+)\s?(.*)$/;

/** The lines of a text that begins at `offset` in its file. A line of another form is shown as it is. */
export function readLines(text: string, offset: number): readonly LogLine[] {
  const lines: LogLine[] = [];
  let next = offset;
  for (const line of text.split('\n')) {
    if (line !== '') lines.push(parsed(line, next));
    next += bytesOf(line) + 1;
  }
  return lines;
}

function parsed(line: string, offset: number): LogLine {
  const [, at, level = 'info', event = '', rest = line] = LINE.exec(line) ?? [];
  return { offset, at, level: level.toLowerCase(), event, rest, id: /(?:^|\s)id=(\S+)/.exec(rest)?.[1], text: line };
}

const encoder = new TextEncoder();

/** The length of a text in a file. */
export function bytesOf(text: string): number {
  return encoder.encode(text).length;
}

/** True if a line has at least the level, and each word. */
export function lineFits({ level, text }: LogLine, least: number, levels: readonly string[], words: string): boolean {
  const rank = levels.indexOf(level);
  if (rank !== -1 && rank < least) return false;
  const all = text.toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word));
}
