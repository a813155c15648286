// Removes secrets from texts that come back from providers. Pure: no I/O.
//
// every-spelling: a secret is found as it is, in other letters, with escapes of JSON, of addresses and of HTML, also twice over, broken over lines, in
//   hexadecimal, and in base64, also twice.
// no-half: the beginning of a secret at the end of a text is removed, too, because the text may have been cut there, and so is half of one anywhere.
// linear: the work grows as the text does. A provider writes the text, and a key of an application may make it quote one.
import { tryParseJson } from './json.ts';
import { joined, type Range, type Reading, rangeIn, readingsOf, withoutCutEscape } from './readings.ts';
import { RecentMap } from './recent-map.ts';

const REDACTED = '[redacted]';
/** Shapes of keys, for secrets that only the provider knows (a part of a key, a signed URL). */
const KEY_SHAPES = [
  /\b(sk|pk|rk)-[A-Za-z0-9_*-]{8,}/g,
  /\bAIza[0-9A-Za-z_-]{20,}/g,
  /\b(AKIA|ASIA)[0-9A-Z]{12,}/g,
  /\bBearer\s+(?=[^\s"']*\d)[^\s"']{8,}/gi, // a digit tells a token from "Bearer authentication"
  /\bbh[ks]?_[A-Za-z0-9_-]{24,}/g, // ours
  /([?&](key|X-Amz-Signature|X-Amz-Security-Token)=)[^&\s"']+/gi,
];
/** A look that most texts need only: what has a shape has one of these. */
const MAY_HAVE_SHAPE = /[spr]k-|\bbh[ks]?_|AIza|AKIA|ASIA|Bearer\s|[?&](?:key|X-Amz)/i;
/** A shorter text is no secret that could be told from words, nor has it the shape of a key. */
const SHORTEST = 4;
/** Shorter ones may stand in other letters, in base64 or between spaces by chance. */
const SHORTEST_ODD = 12;
/** So many characters of a longer secret at the end of a text are its beginning. */
const HALF = 8;
/** From this length on, a piece that is at least half of a secret is redacted wherever it occurs: a match of this length is no accident. */
const LONGEST_PART = 24;
/** What begins a string or is a number of a JSON text. */
const LITERAL = /"|-?\d[\d.eE+-]*/g;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** One spelling of a secret. */
interface Spelling {
  readonly text: string;
  /** It is in lower case, and looked for in any letters. */
  readonly isFolded: boolean;
  /** The shortest part from its beginning, and from its end. */
  readonly head: string;
  readonly tail: string;
}

/** Replaces every one of `secrets`, and everything that looks like a key, with "[redacted]". */
export function redact(text: string, secrets: readonly string[]): string {
  if (text.length < SHORTEST) return text;
  let clean = without(text, rangesOf(text, secrets));
  if (!MAY_HAVE_SHAPE.test(clean)) return clean;
  for (const shape of KEY_SHAPES)
    clean = clean.replace(shape, (_match, prefix: unknown) => (typeof prefix === 'string' && prefix.endsWith('=') ? `${prefix}${REDACTED}` : REDACTED));
  return clean;
}

/** The same for a JSON text, which stays valid: strings are redacted as they read, with their escapes resolved. What holds no secret stays byte for byte. */
export function redactJson(json: string, secrets: readonly string[]): string {
  const parts: string[] = [];
  let from = 0;
  const next = new RegExp(LITERAL);
  for (let match = next.exec(json); match !== null; match = next.exec(json)) {
    const end = match[0] === '"' ? endOfString(json, match.index) : next.lastIndex;
    parts.push(json.slice(from, match.index), cleanLiteral(json.slice(match.index, end), secrets));
    from = end;
    next.lastIndex = end;
  }
  return parts.join('') + json.slice(from);
}

/** The index after the string that begins here; the end of the text if it is not closed. */
function endOfString(json: string, start: number): number {
  for (let at = start + 1; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) return at + 1;
    if (code === BACKSLASH) at += 1;
  }
  return json.length;
}

function cleanLiteral(literal: string, secrets: readonly string[]): string {
  const read = literal.startsWith('"') ? tryParseJson(literal) : literal;
  if (typeof read !== 'string') return JSON.stringify(REDACTED); // no JSON after all
  const clean = redact(read, secrets);
  return clean === read ? literal : JSON.stringify(clean);
}

/** every-spelling. */
function rangesOf(text: string, secrets: readonly string[]): Range[] {
  const ranges: Range[] = [];
  const known = secrets.filter((secret) => secret.length >= SHORTEST && text.length >= Math.min(secret.length, HALF));
  if (known.length === 0) return ranges;
  for (const reading of readingsOf(text)) {
    const dense = searched(joined(reading));
    const folded = searched({ ...dense, text: lowerCase(dense.text) });
    const plain = dense.text === reading.text ? dense : searched(reading);
    for (const secret of known) {
      if (secret.length < SHORTEST_ODD) findShort(plain, secret, text.length, ranges);
      else for (const spelling of spellingsOf(secret)) findLong(spelling.isFolded ? folded : dense, spelling, text.length, ranges);
    }
  }
  return ranges;
}

/** A reading that is searched. `ended`: its text without a cut escape. */
interface Searched extends Reading {
  readonly ended: string;
}

function searched(reading: Reading): Searched {
  return { ...reading, ended: withoutCutEscape(reading.text) };
}

function findShort(reading: Searched, secret: string, end: number, ranges: Range[]): void {
  for (let at = reading.text.indexOf(secret); at >= 0; at = reading.text.indexOf(secret, at + 1)) ranges.push(rangeIn(reading, at, at + secret.length));
  findBeginning(reading, secret, end, ranges);
}

/** The whole of it is a part, too. */
function findLong(reading: Searched, { text: secret, head, tail }: Spelling, end: number, ranges: Range[]): void {
  const { text } = reading;
  for (let at = text.indexOf(head); at >= 0; at = text.indexOf(head, at + 1)) {
    let length = head.length;
    while (length < secret.length && text[at + length] === secret[length]) length += 1;
    ranges.push(rangeIn(reading, at, at + length));
  }
  for (let at = text.indexOf(tail); at >= 0; at = text.indexOf(tail, at + 1)) {
    const last = at + tail.length;
    let length = tail.length;
    while (length < Math.min(secret.length, last) && text[last - length - 1] === secret[secret.length - length - 1]) length += 1;
    ranges.push(rangeIn(reading, last - length, last));
  }
  findBeginning(reading, secret, end, ranges);
}

/** no-half. An escape at the end may be cut, too. */
function findBeginning(reading: Searched, secret: string, end: number, ranges: Range[]): void {
  const text = reading.ended;
  const last = text.at(-1);
  const fewest = Math.max(SHORTEST, Math.min(HALF, Math.ceil(secret.length / 2)));
  for (let length = Math.min(secret.length - 1, text.length); length >= fewest; length -= 1) {
    if (secret[length - 1] !== last || !text.endsWith(secret.slice(0, length))) continue;
    ranges.push([rangeIn(reading, text.length - length, text.length)[0], end]);
    return;
  }
}

const knownSpellings = new RecentMap<readonly Spelling[]>();

/** Of a long secret, without the blanks in it. Made once, because every answer is searched for them. */
function spellingsOf(secret: string): readonly Spelling[] {
  const known = knownSpellings.get(secret);
  if (known !== undefined) return known;
  const folded = [lowerCase(joined({ text: secret }).text), Buffer.from(secret).toString('hex')];
  const coded = [...base64Of(secret), ...base64Of(Buffer.from(secret).toString('base64').replace(/=+$/, ''))];
  const made = [...folded.map((text) => spellingOf(text, true)), ...[...new Set(coded)].map((text) => spellingOf(text, false))];
  knownSpellings.set(secret, made);
  return made;
}

function spellingOf(text: string, isFolded: boolean): Spelling {
  const size = Math.min(Math.max(SHORTEST_ODD, Math.ceil(text.length / 2)), LONGEST_PART);
  return { text, isFolded, head: text.slice(0, size), tail: text.slice(-size) };
}

/** The part of each spelling that does not depend on what stands around the secret. */
function base64Of(secret: string): string[] {
  const spellings = [0, 1, 2].map((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(secret)]);
    return bytes.toString('base64').slice(Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6));
  });
  return spellings.flatMap((coded) => [coded, coded.replaceAll('+', '-').replaceAll('/', '_')]);
}

/** Every character keeps its place; one letter of Turkish becomes two otherwise. */
function lowerCase(text: string): string {
  const lower = text.toLowerCase();
  return lower.length === text.length ? lower : text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** Overlapping ranges become one. */
function without(text: string, ranges: readonly Range[]): string {
  if (ranges.length === 0) return text;
  let clean = '';
  let from = 0;
  for (const [start, end] of ranges.toSorted((a, b) => a[0] - b[0])) {
    if (end <= from) continue;
    if (start >= from) clean += `${text.slice(from, start)}${REDACTED}`;
    from = end;
  }
  return clean + text.slice(from);
}
