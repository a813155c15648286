// Removes secrets from texts that come back from providers. Pure: no I/O.
//
// every-spelling: a secret is found as it is, with escapes of JSON, of addresses and of HTML, also twice over, broken over lines, and in base64.
// no-half: the beginning of a secret at the end of a text is removed, too, because the text may have been cut there.
import { tryParseJson } from '../core/index.ts';

const REDACTED = '[redacted]';
/** Shapes of keys, for secrets that only the provider knows (a part of a key, a signed URL). */
const KEY_SHAPES = [
  /\b(sk|pk|rk)-[A-Za-z0-9_*-]{8,}/g,
  /\bAIza[0-9A-Za-z_-]{20,}/g,
  /\b(AKIA|ASIA)[0-9A-Z]{12,}/g,
  /\bBearer\s+(?=[^\s"']*\d)[^\s"']{8,}/gi, // a digit tells a token from "Bearer authentication"
  /([?&](key|X-Amz-Signature|X-Amz-Security-Token)=)[^&\s"']+/gi,
];
/** A shorter text is no secret that could be told from words. */
const SHORTEST = 4;
/** Shorter ones may stand in base64 or between spaces by chance. */
const SHORTEST_ODD = 12;
/** So many characters of a longer secret at the end of a text are its beginning. */
const HALF = 8;
const ESCAPE = /\\+u([0-9a-f]{4})|\\+(["'/])|%([0-9a-f]{2})|&#x([0-9a-f]{1,4});|&#(\d{1,5});/gi;
const BLANK = /[\s\u00ad\u200b-\u200d\u2060\ufeff]+/g;
const CUT_ESCAPE = /(?:\\+(?:u[0-9a-f]{0,3})?|%[0-9a-f]?|&(?:#x?[0-9a-f]{0,5})?)$/i;
/** Strings and numbers of a JSON text. */
const LITERAL = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;

/** Replaces every one of `secrets`, and everything that looks like a key, with "[redacted]". */
export function redact(text: string, secrets: readonly string[]): string {
  let clean = text;
  const known = secrets.filter((secret) => secret.length >= SHORTEST);
  if (known.length > 0) clean = without(text, rangesOf(text, known));
  for (const shape of KEY_SHAPES)
    clean = clean.replace(shape, (_match, prefix: unknown) => (typeof prefix === 'string' && prefix.endsWith('=') ? `${prefix}${REDACTED}` : REDACTED));
  return clean;
}

/** The same for a JSON text, which stays valid: strings are redacted as they read, with their escapes resolved. What holds no secret stays byte for byte. */
export function redactJson(json: string, secrets: readonly string[]): string {
  return json.replace(LITERAL, (literal) => {
    const read = literal.startsWith('"') ? tryParseJson(literal) : literal;
    if (typeof read !== 'string') return JSON.stringify(REDACTED); // no JSON after all
    const clean = redact(read, secrets);
    return clean === read ? literal : JSON.stringify(clean);
  });
}

type Range = readonly [start: number, end: number];

/** A reading of a text: its characters, and where each of them begins and ends in the text. Without places, it is the text itself. */
interface Reading {
  readonly text: string;
  readonly places?: readonly Range[];
}

/** every-spelling. */
function rangesOf(text: string, secrets: readonly string[]): Range[] {
  const ranges: Range[] = [];
  for (
    let reading: Reading | undefined = { text }, times = 0;
    reading !== undefined && times < 4;
    reading = readAgain(reading, ESCAPE, unescaped), times += 1
  ) {
    const joined = readAgain(reading, BLANK, () => '') ?? reading;
    for (const secret of secrets) {
      find(reading, secret, ranges);
      findBeginning(reading, secret, text.length, ranges);
      if (secret.length < SHORTEST_ODD) continue;
      if (joined !== reading) find(joined, secret, ranges);
      for (const coded of base64Of(secret)) find(joined, coded, ranges);
    }
  }
  return ranges;
}

function find(reading: Reading, wanted: string, ranges: Range[]): void {
  for (let at = reading.text.indexOf(wanted); at >= 0; at = reading.text.indexOf(wanted, at + 1)) {
    ranges.push([placeOf(reading, at)[0], placeOf(reading, at + wanted.length - 1)[1]]);
  }
}

/** no-half. An escape at the end may be cut, too. */
function findBeginning(reading: Reading, secret: string, end: number, ranges: Range[]): void {
  const text = reading.text.replace(CUT_ESCAPE, '');
  const fewest = Math.max(SHORTEST, Math.min(HALF, Math.ceil(secret.length / 2)));
  for (let length = Math.min(secret.length - 1, text.length); length >= fewest; length -= 1) {
    if (!text.endsWith(secret.slice(0, length))) continue;
    ranges.push([placeOf(reading, text.length - length)[0], end]);
    return;
  }
}

function placeOf({ places }: Reading, index: number): Range {
  return places?.[index] ?? [index, index + 1];
}

/** The reading with each match replaced by what it means; undefined if there is no match. */
function readAgain(reading: Reading, pattern: RegExp, meaning: (match: RegExpExecArray) => string): Reading | undefined {
  const places: Range[] = [];
  let text = '';
  let from = 0;
  const take = (upTo: number): void => {
    text += reading.text.slice(from, upTo);
    for (let index = from; index < upTo; index += 1) places.push(placeOf(reading, index));
  };
  for (const match of reading.text.matchAll(pattern)) {
    take(match.index);
    from = match.index + match[0].length;
    const char = meaning(match);
    if (char !== '') places.push([placeOf(reading, match.index)[0], placeOf(reading, from - 1)[1]]);
    text += char;
  }
  if (from === 0) return undefined;
  take(reading.text.length);
  return { text, places };
}

function unescaped([, unicode, plain, percent, hexadecimal, decimal]: RegExpExecArray): string {
  if (plain !== undefined) return plain;
  return String.fromCharCode(decimal === undefined ? Number.parseInt(unicode ?? percent ?? hexadecimal ?? '', 16) : Number(decimal));
}

/** The part of each spelling that does not depend on what stands around the secret. */
function base64Of(secret: string): string[] {
  const spellings = [0, 1, 2].map((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(secret)]);
    return bytes.toString('base64').slice(Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6));
  });
  return [...new Set(spellings.flatMap((coded) => [coded, coded.replaceAll('+', '-').replaceAll('/', '_')]))];
}

/** Overlapping ranges become one. */
function without(text: string, ranges: readonly Range[]): string {
  let clean = '';
  let from = 0;
  for (const [start, end] of ranges.toSorted((a, b) => a[0] - b[0])) {
    if (end <= from) continue;
    if (start >= from) clean += `${text.slice(from, start)}${REDACTED}`;
    from = end;
  }
  return clean + text.slice(from);
}
