// Reads comma-separated values (RFC 4180), also with tabs or semicolons. Pure: no I/O.

/** A line has at most so many fields: no export has as many, and each takes memory. */
const MAX_FIELDS = 2000;
/** A field has at most so many characters as they stand in the file, and the first line is looked at as far for what separates its fields. */
const MAX_FIELD = 65_536;
/** So many characters are read at a time, which takes a few milliseconds, whatever they are. */
const SLICE = 131_072;

/** The text of a file: UTF-8, or UTF-16 that begins with its mark, as spreadsheets save it. Throws an Error that names the cure for anything else. */
export function textOf(bytes: Uint8Array): string {
  const [first, second] = bytes;
  const isLittle = first === 0xff && second === 0xfe;
  const encoding = isLittle ? 'utf-16le' : first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
  const text = decoded(bytes, encoding);
  if (text === undefined || text.includes('\0')) throw new Error('it is not text in UTF-8; save or export it as CSV in UTF-8');
  return text;
}

/** Without its mark; undefined for bytes that are none of this encoding. */
function decoded(bytes: Uint8Array, encoding: string): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

/**
 * The rows with their fields, one after the other, and undefined wherever it is time to let others work. Empty lines are no rows. Throws an Error for quotes that
 * don't fit.
 */
export function* csvRows(text: string): Generator<string[] | undefined, void, undefined> {
  const separator = separatorOf(/^[^\r\n]*/.exec(text.slice(0, MAX_FIELD))?.[0] ?? '');
  let row: string[] = [];
  let isOpen = false;
  let rested = 0;
  for (let at = 0; at < text.length || isOpen; ) {
    if (at - rested >= SLICE) {
      rested = at;
      yield undefined;
    }
    const { value, end } = text[at] === '"' ? quoted(text, at + 1) : plain(text, at, separator);
    if (row.push(value) > MAX_FIELDS) throw new Error(`a line has more than ${MAX_FIELDS} fields`);
    isOpen = text[end] === separator;
    if (!isOpen) {
      if (end < text.length && !/[\r\n]/.test(text[end] ?? '')) throw new Error('a field goes on after its closing quote');
      if (row.length > 1 || row[0] !== '') yield row;
      row = [];
    }
    at = end + (text.startsWith('\r\n', end) ? 2 : 1);
  }
}

/** Of the first line. */
function separatorOf(head: string): string {
  const counts = [',', '\t', ';'].map((one) => [one, head.split(one).length] as const);
  return counts.reduce((most, one) => (one[1] > most[1] ? one : most))[0];
}

interface Field {
  readonly value: string;
  /** Where the separator or the end of the line is. */
  readonly end: number;
}

function plain(text: string, from: number, separator: string): Field {
  let end = from;
  while (end < text.length && text[end] !== separator && text[end] !== '\n' && text[end] !== '\r') end += 1;
  checkLength(from, end);
  return { value: text.slice(from, end), end };
}

function quoted(text: string, from: number): Field {
  let value = '';
  for (let at = from; ; ) {
    const end = text.indexOf('"', at);
    if (end === -1) throw new Error('a quote never ends');
    checkLength(from, end);
    value += text.slice(at, end);
    if (text[end + 1] !== '"') return { value, end: end + 1 };
    value += '"';
    at = end + 2;
  }
}

function checkLength(from: number, end: number): void {
  if (end - from > MAX_FIELD) throw new Error(`a field has more than ${MAX_FIELD} characters`);
}
