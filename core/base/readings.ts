// The readings of a text: as it is, and with its escapes resolved, once and again. Pure: no I/O.
//
// every-place: a reading knows where each of its characters stands in the text.
// linear: a reading costs time in proportion to its text, whatever a provider has written. No pattern here is tried anew at each character of a run.

/** Where characters stand in a text. */
export type Range = readonly [start: number, end: number];

/** One reading. Without places, it is the text itself. */
export interface Reading {
  readonly text: string;
  readonly places?: { readonly starts: Int32Array; readonly ends: Int32Array };
}

const BACKSLASH = 0x5c;
/** Escapes of JSON and of programs, of addresses, and of HTML, and letters of full width. The lookbehind lets only the first backslash of a run begin one (linear). */
const ESCAPE =
  /(?<!\\)\\+(?:u([0-9a-f]{4})|u\{0{0,8}([0-9a-f]{1,6})\}|x([0-9a-f]{2})|(["'/\s])|([nrt]))|%u([0-9a-f]{4})|%([0-9a-f]{2})|&#x0{0,8}([0-9a-f]{1,6});?|&#0{0,8}(\d{1,7});?|&(amp|colon|equals|lowbar|period|plus|sol);|([\uff01-\uff5e])/gi;
const NAMED: Readonly<Record<string, string>> = { amp: '&', colon: ':', equals: '=', lowbar: '_', period: '.', plus: '+', sol: '/' };
/** Those without a width included. */
const BLANK = /[\s\p{Default_Ignorable_Code_Point}]+/gu;
/** The beginning of an escape, without the backslashes. */
const CUT_ESCAPE = /(?:(?<=\\)(?:u\{?[0-9a-f]{0,8}|x[0-9a-f]?)|%(?:u[0-9a-f]{0,3}|[0-9a-f]?)|&(?:#x?[0-9a-f]{0,9}|[a-z]{0,6}))$/i;
/** The longest such beginning, and more. */
const CUT_CHARACTERS = 16;
/** From `！` to `～` as from `!` to `~`. */
const FULL_WIDTH = 0xfee0;
/** An escape may be escaped again; nobody does so more often. */
const MAX_READINGS = 4;

/** The text and its further readings. */
export function* readingsOf(text: string): Generator<Reading> {
  let reading: Reading | undefined = { text };
  for (let times = 0; reading !== undefined && times < MAX_READINGS; times += 1) {
    yield reading;
    reading = readAgain(reading, ESCAPE, unescaped);
  }
}

/** The reading without blanks and characters that have no width. */
export function joined(reading: Reading): Reading {
  return readAgain(reading, BLANK, () => '') ?? reading;
}

/** The text of a reading without an escape that was cut at its end. */
export function withoutCutEscape(text: string): string {
  const cut = CUT_ESCAPE.exec(text.slice(-CUT_CHARACTERS));
  let end = text.length - (cut?.[0].length ?? 0);
  while (end > 0 && text.charCodeAt(end - 1) === BACKSLASH) end -= 1;
  return text.slice(0, end);
}

/** every-place: where the characters from `start` to `end` of a reading stand in the text. */
export function rangeIn({ places }: Reading, start: number, end: number): Range {
  return [places?.starts[start] ?? start, places?.ends[end - 1] ?? end];
}

/** The reading with each match replaced by what it means, one character or none; undefined if there is no match. */
function readAgain(reading: Reading, pattern: RegExp, meaning: (match: RegExpExecArray) => string): Reading | undefined {
  if (reading.text.search(pattern) < 0) return undefined;
  const starts = new Int32Array(reading.text.length);
  const ends = new Int32Array(reading.text.length);
  const parts: string[] = [];
  let count = 0;
  let from = 0;
  const put = (start: number, end: number): void => {
    const [first, last] = rangeIn(reading, start, end);
    starts[count] = first;
    ends[count] = last;
    count += 1;
  };
  const take = (upTo: number): void => {
    parts.push(reading.text.slice(from, upTo));
    for (let index = from; index < upTo; index += 1) put(index, index + 1);
  };
  for (const match of reading.text.matchAll(pattern)) {
    take(match.index);
    from = match.index + match[0].length;
    const char = meaning(match);
    if (char !== '') put(match.index, from);
    parts.push(char);
  }
  take(reading.text.length);
  return { text: parts.join(''), places: { starts, ends } };
}

function unescaped([, unicode, braced, byte, plain, blank, percentUnicode, percent, hexadecimal, decimal, name, wide]: RegExpExecArray): string {
  if (plain !== undefined) return plain;
  if (blank !== undefined) return ' ';
  if (name !== undefined) return NAMED[name.toLowerCase()] ?? '';
  if (wide !== undefined) return String.fromCharCode(wide.charCodeAt(0) - FULL_WIDTH);
  const digits = unicode ?? braced ?? byte ?? percentUnicode ?? percent ?? hexadecimal;
  return String.fromCharCode(digits === undefined ? Number(decimal) : Number.parseInt(digits, 16));
}
