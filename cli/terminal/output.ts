// What the CLI writes: data to stdout, remarks to stderr.
//
// no-escapes: text of a model, a provider or a file never controls the terminal, because `sanitize` removes control sequences.
// wait-for-reader: writing waits for a slow reader. When the reader is gone, main.ts handles the stream's error: it ends the
// process for stdout, and ignores it for stderr.
import type { Writable } from 'node:stream';

/** Where in an escape sequence a fragment ended; pass it in with the next fragment. */
export type SanitizeState = 'text' | 'escape' | 'csi' | 'string' | 'stringEscape';

interface Step {
  readonly state: SanitizeState;
  /** Set when the character must be handled again in the new state. */
  readonly again?: true;
}

const ESC = '\x1b';
const C1_CSI = '\x9b';
/** The openers of strings that a terminal does not show (DCS, SOS, OSC, PM, APC), after ESC and as C1 characters. */
const STRING_OPENERS = 'PX]^_';
const C1_STRING_OPENERS = '\x90\x98\x9d\x9e\x9f';
/** BEL, CAN, SUB, ST. */
const STRING_ENDS = '\x07\x18\x1a\x9c';

type Range = readonly [low: number, high: number];
/** C0 except tab and newline, DEL, C1, the line and the paragraph separator, and the bidirectional overrides and isolates, which reorder the text. */
const UNSHOWN: readonly Range[] = [
  [0x00, 0x08],
  [0x0b, 0x1f],
  [0x7f, 0x9f],
  [0x2028, 0x202e],
  [0x2066, 0x2069],
];
/** They end a line in some programs, and so they do here. */
const SEPARATORS = '\u2028\u2029';
const INTERMEDIATE: Range = [0x20, 0x2f];
const ESCAPE_FINAL: Range = [0x30, 0x7e];
const CSI_MIDDLE: Range = [0x20, 0x3f];
const CSI_FINAL: Range = [0x40, 0x7e];

function isShown(char: string): boolean {
  return !UNSHOWN.some((range) => isIn(range, char));
}

function isIn([low, high]: Range, char: string): boolean {
  const code = char.charCodeAt(0);
  return code >= low && code <= high;
}

/**
 * Removes control characters and escape sequences from a fragment (no-escapes). A newline ends every sequence, so an unfinished one hides at
 * most the rest of its line.
 */
export function sanitize(fragment: string, from: SanitizeState = 'text'): { readonly text: string; readonly state: SanitizeState } {
  let text = '';
  let state = from;
  for (const each of fragment) {
    const char = SEPARATORS.includes(each) ? '\n' : each;
    for (;;) {
      if (state === 'text' && isShown(char)) text += char;
      const step: Step = state === 'text' ? fromText(char) : afterIn(state, char);
      state = step.state;
      if (step.again === undefined) break;
    }
  }
  return { text, state };
}

function fromText(char: string): Step {
  if (char === ESC) return { state: 'escape' };
  if (char === C1_CSI) return { state: 'csi' };
  return { state: C1_STRING_OPENERS.includes(char) ? 'string' : 'text' };
}

function afterIn(state: Exclude<SanitizeState, 'text'>, char: string): Step {
  if (char === '\n') return { state: 'text', again: true };
  switch (state) {
    case 'escape':
      if (char === '[') return { state: 'csi' };
      if (STRING_OPENERS.includes(char)) return { state: 'string' };
      return inSequence(char, 'escape', INTERMEDIATE, ESCAPE_FINAL);
    case 'csi':
      return inSequence(char, 'csi', CSI_MIDDLE, CSI_FINAL);
    case 'string':
      if (char === ESC) return { state: 'stringEscape' };
      return { state: STRING_ENDS.includes(char) ? 'text' : 'string' };
    case 'stringEscape':
      return char === '\\' ? { state: 'text' } : { state: 'escape', again: true };
  }
}

/** A character that can't be part of the sequence ends it and is handled as text. */
function inSequence(char: string, state: 'escape' | 'csi', middle: Range, final: Range): Step {
  if (isIn(middle, char)) return { state };
  return isIn(final, char) ? { state: 'text' } : { state: 'text', again: true };
}

/** A whole text, sanitised and joined to one line. */
export function oneLine(text: string): string {
  return sanitize(text)
    .text.replace(/\s*\n\s*/g, ' ')
    .trim();
}

/** A whole text of several lines, sanitised. */
export function manyLines(text: string): string {
  return sanitize(text.replaceAll('\r\n', '\n')).text;
}

const classOf = (ranges: readonly Range[]): string => ranges.flatMap(([low, high]) => `\\u{${low.toString(16)}}-\\u{${high.toString(16)}}`).join('');
/** Our own colours stay, and the line ends of CSV. */
const OBEYED = new RegExp(`(?!\\u{1b}\\[[\\d;]*m|\\r\\n)[${classOf(UNSHOWN)}]`, 'gu');

/** Text with our colours in it, without anything else that a terminal obeys (no-escapes). Foreign parts are sanitised before; this is the last door. */
export function harmless(text: string): string {
  return text.replace(OBEYED, '');
}

/** JSON with control characters escaped (no-escapes); those that JSON.stringify leaves raw occur only inside strings. */
export function toJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent).replace(/[^\t\n -~]/gu, (char) =>
    isShown(char) ? char : `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Rows as aligned columns. Cells are sanitised. */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const cells = rows.map((row) => row.map(oneLine));
  const widths = cells.reduce<number[]>((found, row) => row.map((cell, index) => Math.max(found[index] ?? 0, cell.length)), []);
  return cells.map((row) =>
    row
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** Colours a text. */
export type Paint = (text: string) => string;

/** The colours of the CLI. */
export interface Style {
  readonly bold: Paint;
  readonly dim: Paint;
  readonly good: Paint;
  readonly warn: Paint;
  readonly bad: Paint;
}

const plain: Paint = (text) => text;
const paint =
  (code: number): Paint =>
  (text) =>
    `\x1b[${code}m${text}\x1b[0m`;

/** Whether a stream is a terminal. */
export function isTerminal(stream: object): boolean {
  return 'isTTY' in stream && stream.isTTY === true;
}

/** Columns of a terminal; Infinity for any other stream. */
export function widthOf(stream: object): number {
  const columns = 'columns' in stream ? Number(stream.columns) : 0;
  return columns > 0 ? columns : Number.POSITIVE_INFINITY;
}

/** So narrow that folding helps nobody. */
const NARROWEST = 20;

/** A sentence in lines of at most `width` columns, the later ones after `indent` spaces. What stands in backticks is not broken, because it is copied. */
export function folded(text: string, width: number, indent = 0): string[] {
  if (text.length <= width || width < NARROWEST || /^\s|\n/.test(text)) return [text]; // what has a form of its own keeps it
  const lines: string[] = [];
  for (const [word] of text.matchAll(/(?:`[^`]+`|\S)+/g)) {
    const line = lines.at(-1);
    if (line !== undefined && line.length + 1 + word.length <= width) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(line === undefined ? word : ' '.repeat(indent) + word);
  }
  return lines;
}

/** Folds a line that is indented, below its own indent. */
export function foldedInside(line: string, width: number): string[] {
  const [indent = ''] = /^ */.exec(line) ?? [];
  return folded(line.slice(indent.length), width - indent.length).map((part) => indent + part);
}

/** Whether to use colour: on a terminal that is not dumb, without NO_COLOR. */
export function isColored(stream: object, env: Readonly<Record<string, string | undefined>>): boolean {
  return isTerminal(stream) && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb';
}

/** ANSI colours, or none. */
export function styleFor(colored: boolean): Style {
  if (!colored) return { bold: plain, dim: plain, good: plain, warn: plain, bad: plain };
  return { bold: paint(1), dim: paint(2), good: paint(32), warn: paint(33), bad: paint(31) };
}

/** Writes a text unchanged and waits until the stream has room again or is closed (wait-for-reader). */
export function write(stream: Writable, text: string): Promise<void> {
  return new Promise((resolve) => {
    if (text === '' || stream.write(text) || stream.destroyed) return resolve();
    const events = ['drain', 'error', 'close'];
    const end = (): void => {
      for (const event of events) stream.removeListener(event, end);
      resolve();
    };
    for (const event of events) stream.on(event, end);
  });
}

/** Writes lines, each with a newline, and nothing that a terminal obeys but colours; nothing for none. */
export async function writeLines(stream: Writable, lines: readonly string[]): Promise<void> {
  if (lines.length > 0) await write(stream, harmless(`${lines.join('\n')}\n`));
}
