// A log's text as lines. Pure.

/** One line of a block's log. */
export interface LogLine {
  /** Of the line in what is shown; it stays while lines are added. */
  readonly key: string;
  readonly at: string | undefined;
  readonly level: string;
  readonly event: string;
  readonly rest: string;
  /** The message that it is about. */
  readonly id: string | undefined;
  readonly text: string;
}

const LINE = /^(\d{4}-\d\d-\d\dT[\d:.]+Z)\s+(\w+)\s+(\S+)\s?(.*)$/;

/** The lines of a text; one that has another form is shown as it is. */
export function readLines(text: string, file: string): readonly LogLine[] {
  const equal = new Map<string, number>();
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      // Counted among equal lines, so that a key stays when the beginning of the text is cut off.
      const count = (equal.get(line) ?? 0) + 1;
      equal.set(line, count);
      const [, at, level = 'info', event = '', rest = line] = LINE.exec(line) ?? [];
      return { key: `${file} ${line} ${count}`, at, level: level.toLowerCase(), event, rest, id: /(?:^|\s)id=(\S+)/.exec(rest)?.[1], text: line };
    });
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
