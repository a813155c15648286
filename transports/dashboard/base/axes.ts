// The marks at the axes of a plot, and the lines between its points. Pure.

/** Steps of marks of time, in milliseconds. */
const TIME_STEPS: readonly number[] = [1, 5, 10, 15, 30, 60, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400].map((s) => s * 1000);

/** Room above the highest value. */
const HEADROOM = 1.1;
/** Marks of a lower axis would have more decimals than there is room for. */
const LOWEST_TOP = 0.02;

/** The value at the top of an axis; one where nothing is above zero. */
export function topOf(values: readonly (number | null)[]): number {
  const highest = Math.max(0, ...values.map((value) => value ?? 0));
  return highest === 0 ? 1 : Math.max(LOWEST_TOP, highest * HEADROOM);
}

/** The values of the marks from zero to `top`, at most `most` of them above zero, and the step between them: 1, 2, 2.5 or 5 times a power of ten, and a whole number with `isWhole`. */
export function valueMarks(top: number, most: number, isWhole = false): { readonly step: number; readonly marks: readonly number[] } {
  const exponent = Math.floor(Math.log10(top / most));
  const steps = [1, 2, 2.5, 5, 10].map((factor) => Number(`${factor}e${exponent}`));
  const step = steps.find((each) => top / each < most + 1 && (!isWhole || Number.isInteger(each))) ?? (isWhole ? 1 : top);
  return { step, marks: Array.from({ length: Math.floor(top / step) + 1 }, (_, index) => index * step) };
}

/** Epoch milliseconds of the marks between two times, at most `most`, at whole hours and minutes of this place, and the step between them. */
export function timeMarks(from: number, to: number, most: number): { readonly step: number; readonly marks: readonly number[] } {
  const step = TIME_STEPS.find((each) => (to - from) / each < most) ?? to - from;
  const offset = new Date(from).getTimezoneOffset() * 60_000;
  const marks: number[] = [];
  for (let mark = Math.ceil((from - offset) / step) * step + offset; mark <= to; mark += step) marks.push(mark);
  return { step, marks };
}

/** A point in pixels; no height is a gap. */
export interface Point {
  readonly x: number;
  readonly y: number | null;
}

/** The path through the points, with its gaps. A point that no line goes to or from is a short stroke, or it would not be seen. */
export function pathThrough(points: readonly Point[]): string {
  let before: number | null = null;
  let path = '';
  for (const [index, { x, y }] of points.entries()) {
    if (y !== null) {
      const isAlone = before === null && (points[index + 1]?.y ?? null) === null;
      path += isAlone ? `M${(x - 1).toFixed(1)} ${y.toFixed(1)}h2` : `${before === null ? 'M' : 'L'}${x.toFixed(1)} ${y.toFixed(1)}`;
    }
    before = y;
  }
  return path;
}

/** The sums of layers that stand on each other, the lowest layer first. What is not known adds nothing. */
export function stackedSums(layers: readonly (readonly (number | null)[])[]): readonly (readonly number[])[] {
  const sums: number[] = [];
  return layers.map((values) =>
    values.map((value, index) => {
      sums[index] = (sums[index] ?? 0) + (value ?? 0);
      return sums[index] ?? 0;
    }),
  );
}
