// Changes single values of a JSON text and leaves every other byte as it is: a text that is written anew has other bytes before the same content, which
// breaks a provider's prompt cache and what is signed. Pure: no I/O.
import { parseJson } from '../core/index.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const OPEN = new Set([0x7b, 0x5b]);
const CLOSE = new Set([0x7d, 0x5d]);
const BLANK = new Set([0x20, 0x09, 0x0a, 0x0d]);
const COMMA = 0x2c;

/** The values of these top-level members, as JSON. A member that is not there is put first. `text` must be a valid JSON object. */
export function withMembers(text: Buffer, members: Readonly<Record<string, string>>): Buffer {
  const parts: Buffer[] = [];
  const missing = new Set(Object.keys(members));
  const begin = text.indexOf(0x7b) + 1;
  let from = begin;
  for (const { name, start, end } of membersOf(text, begin)) {
    const value = Object.hasOwn(members, name) ? members[name] : undefined;
    if (value === undefined) continue;
    missing.delete(name);
    parts.push(text.subarray(from, start), Buffer.from(value));
    from = end;
  }
  const isEmpty = text[skipBlanks(text, begin)] === 0x7d;
  const added = [...missing].map((name) => `${JSON.stringify(name)}:${members[name]}`).join(',');
  const head = added === '' ? [] : [Buffer.from(isEmpty ? added : `${added},`)];
  return Buffer.concat([text.subarray(0, begin), ...head, ...parts, text.subarray(from)]);
}

interface Member {
  readonly name: string;
  /** Where the value is. */
  readonly start: number;
  readonly end: number;
}

/** Duplicates are there more than once: providers differ in which one counts. */
function* membersOf(text: Buffer, begin: number): Generator<Member> {
  for (let at = skipBlanks(text, begin); text[at] === QUOTE; at = skipBlanks(text, at)) {
    const keyEnd = endOfString(text, at);
    const name = nameOf(text.toString('utf8', at, keyEnd));
    let start = skipBlanks(text, keyEnd);
    if (text[start] === COLON) start = skipBlanks(text, start + 1);
    const end = endOfValue(text, start);
    yield { name, start, end };
    at = skipBlanks(text, end);
    if (text[at] === COMMA) at += 1;
  }
}

function nameOf(quoted: string): string {
  return quoted.includes('\\') ? String(parseJson(quoted)) : quoted.slice(1, -1);
}

function skipBlanks(text: Buffer, at: number): number {
  let next = at;
  while (BLANK.has(text[next] ?? 0)) next += 1;
  return next;
}

/** Behind the closing quote. */
function endOfString(text: Buffer, at: number): number {
  for (let end = text.indexOf(QUOTE, at + 1); end >= 0; end = text.indexOf(QUOTE, end + 1)) {
    let slashes = 0;
    while (text[end - 1 - slashes] === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return end + 1;
  }
  return text.length;
}

function endOfValue(text: Buffer, at: number): number {
  const first = text[at] ?? 0;
  if (first === QUOTE) return endOfString(text, at);
  if (OPEN.has(first)) return endOfNested(text, at);
  let end = at;
  while (end < text.length && text[end] !== COMMA && !CLOSE.has(text[end] ?? 0) && !BLANK.has(text[end] ?? 0)) end += 1;
  return end;
}

function endOfNested(text: Buffer, at: number): number {
  let depth = 0;
  for (let next = at; next < text.length; ) {
    const byte = text[next] as number;
    if (byte === QUOTE) {
      next = endOfString(text, next);
      continue;
    }
    next += 1;
    if (byte === 0x7b || byte === 0x5b) depth += 1;
    else if (byte === 0x7d || byte === 0x5d) depth -= 1;
    if (depth === 0) return next;
  }
  return text.length;
}
