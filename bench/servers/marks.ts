// What stands in each piece of text that the mock sends: when it was sent, and its number. The reader at the other end knows how
// long it was on its way, and that none is missing. All processes of one machine share the monotonic clock. Pure: no I/O.

/** `@`, seconds, nanoseconds, `#`, number, a space. */
const MARK = /^@(\d{9})(\d{9})#(\d{6}) $/;
export const MARK_START = '@';
export const MARK_LENGTH = 27;
const NUMBER_OFFSET = 20;
/** As long as the mark and these words: some 40 characters, as models send them. */
export const WORDS = 'and then the';

export function textOf(number: number): string {
  return `@${'0'.repeat(18)}#${digits(number, 6)} ${WORDS}`;
}

/** Writes the current time and `number` over the mark that begins at `offset`. */
export function stamp(buffer: Buffer, offset: number, number: number): void {
  const [seconds, nanoseconds] = process.hrtime();
  buffer.write(digits(seconds, 9) + digits(nanoseconds, 9), offset + 1, 'latin1');
  buffer.write(digits(number, 6), offset + NUMBER_OFFSET, 'latin1');
}

/** Milliseconds of the monotonic clock. */
export function nowMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}

/** The parts of a mark; undefined if the text is not a mark. */
export function readMark(text: string): { readonly sentMs: number; readonly number: number } | undefined {
  const found = MARK.exec(text);
  if (found === null) return undefined;
  return { sentMs: Number(found[1]) * 1000 + Number(found[2]) / 1e6, number: Number(found[3]) };
}

function digits(value: number, width: number): string {
  return String(value).padStart(width, '0');
}
