// Tables that fit the width of a terminal. Pure: no I/O.
import { oneLine, type Paint, type Style } from './output.ts';

const GAP = '  ';
const CUT = '…';

/** A column of a table. */
export interface Column {
  readonly title: string;
  /** The narrowest useful width. A column without it is not cut. */
  readonly min?: number;
  /** The columns with the highest number are left out first when the table does not fit. A column without it always stays. */
  readonly drop?: number;
  readonly align?: 'right';
}

/** A text, and the colour for it after it has been cut and padded. */
export type Cell = string | { readonly text: string; readonly paint: Paint };

let segmenter: Intl.Segmenter | undefined;

/** Made at the first use, because it takes longer than most commands. */
function segmentsOf(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  return segmenter.segment(text);
}

/** Characters that terminals draw two columns wide. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\ufe0f/u;
const INVISIBLE = /^[\p{M}\p{Cf}]+$/u;

/** The terminal columns of a sanitised one-line text. */
export function displayWidth(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length;
  let width = 0;
  for (const { segment } of segmentsOf(text)) width += segmentWidth(segment);
  return width;
}

function segmentWidth(segment: string): number {
  if (INVISIBLE.test(segment)) return 0;
  return WIDE.test(segment) ? 2 : 1;
}

/** The text, shortened with an ellipsis if it is wider than `width` columns. */
export function fit(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let kept = '';
  let room = Math.max(width - 1, 0);
  for (const { segment } of segmentsOf(text)) {
    room -= segmentWidth(segment);
    if (room < 0) break;
    kept += segment;
  }
  return width < 1 ? '' : kept + CUT;
}

function pad(text: string, width: number, align?: 'right'): string {
  const space = ' '.repeat(Math.max(width - displayWidth(text), 0));
  return align === 'right' ? space + text : text + space;
}

const textOf = (cell: Cell | undefined): string => oneLine(typeof cell === 'object' ? cell.text : (cell ?? ''));
const paintOf = (cell: Cell | undefined): Paint => (typeof cell === 'object' ? cell.paint : (text) => text);

/** Aligned rows under their titles, none wider than `width` columns (Infinity for no limit). Cells are sanitised. */
export function table(columns: readonly Column[], rows: readonly (readonly Cell[])[], { width, style }: { width: number; style: Style }): string[] {
  const natural = columns.map((column, index) => Math.max(displayWidth(column.title), ...rows.map((row) => displayWidth(textOf(row[index])))));
  const shown = chooseColumns(columns, natural, width);
  const widths = narrow(columns, natural, shown, width);
  const line = (cells: readonly Cell[]): string => {
    const parts = shown.map((index, place) => {
      const text = fit(textOf(cells[index]), widths[place] ?? 0);
      const isLast = place === shown.length - 1;
      return paintOf(cells[index])(isLast && columns[index]?.align === undefined ? text : pad(text, widths[place] ?? 0, columns[index]?.align));
    });
    return parts.join(GAP).trimEnd();
  };
  return [style.dim(line(columns.map(({ title }) => title))), ...rows.map(line)];
}

const minOf = (column: Column | undefined, natural: number): number => Math.min(natural, column?.min ?? natural);
const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

/** The indexes of the columns that fit at their smallest width. */
function chooseColumns(columns: readonly Column[], natural: readonly number[], width: number): number[] {
  const shown = columns.map((_column, index) => index);
  for (;;) {
    const least = sum(shown.map((index) => minOf(columns[index], natural[index] ?? 0))) + GAP.length * (shown.length - 1);
    const first = shown.reduce((found, index) => ((columns[index]?.drop ?? 0) > (columns[found]?.drop ?? 0) ? index : found), shown[0] ?? 0);
    if (least <= width || columns[first]?.drop === undefined) return shown;
    shown.splice(shown.indexOf(first), 1);
  }
}

/** Widths of the shown columns: natural, then cut to their minimum from the right, then cut further if necessary. */
function narrow(columns: readonly Column[], natural: readonly number[], shown: readonly number[], width: number): number[] {
  const widths = shown.map((index) => natural[index] ?? 0);
  let over = sum(widths) + GAP.length * (shown.length - 1) - width;
  for (const least of [(place: number) => minOf(columns[shown[place] ?? 0], natural[shown[place] ?? 0] ?? 0), () => 1]) {
    for (let place = shown.length - 1; place >= 0 && over > 0; place -= 1) {
      const taken = Math.min(over, Math.max((widths[place] ?? 0) - least(place), 0));
      widths[place] = (widths[place] ?? 0) - taken;
      over -= taken;
    }
  }
  return widths;
}
