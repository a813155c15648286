// Changes single values of a JSON text and leaves every other byte as it is: a text that is written anew has other bytes before the same content, which
// breaks a provider's prompt cache and what is signed. Pure: no I/O.
import { parseJson } from '../core/index.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;

/** The values of these top-level members, as JSON. A member that is not there is put first. `text` must be a valid JSON object. */
export function withMembers(text: Buffer, members: Readonly<Record<string, string>>): Buffer {
  const begin = text.indexOf(0x7b) + 1;
  const found = cutsOf(text, begin, members);
  const added = addedMembers(text, begin, members, found);
  let length = text.length + Buffer.byteLength(added);
  for (const { start, end, value } of found) length += Buffer.byteLength(value) - (end - start);
  const edited = Buffer.allocUnsafe(length);
  let to = text.copy(edited, 0, 0, begin);
  if (added !== '') to += edited.write(added, to);
  let from = begin;
  for (const { start, end, value } of found) {
    to += text.copy(edited, to, from, start);
    to += edited.write(value, to);
    from = end;
  }
  text.copy(edited, to, from);
  return edited;
}

/** A value that is replaced. */
interface Cut {
  readonly name: string;
  readonly start: number;
  readonly end: number;
  readonly value: string;
}

/** A member that is there more than once changes each time: providers differ in which one counts. */
function cutsOf(text: Buffer, begin: number, members: Readonly<Record<string, string>>): readonly Cut[] {
  const cuts: Cut[] = [];
  for (let at = skipBlanks(text, begin); text[at] === QUOTE; ) {
    const keyEnd = endOfString(text, at);
    const name = nameAt(text, at, keyEnd);
    let start = skipBlanks(text, keyEnd);
    if (text[start] === COLON) start = skipBlanks(text, start + 1);
    const end = endOfValue(text, start);
    if (Object.hasOwn(members, name)) cuts.push({ name, start, end, value: members[name] ?? '' });
    at = skipBlanks(text, end);
    if (text[at] === COMMA) at = skipBlanks(text, at + 1);
  }
  return cuts;
}

/** The members that are not there, with a comma behind them if others follow. */
function addedMembers(text: Buffer, begin: number, members: Readonly<Record<string, string>>, found: readonly Cut[]): string {
  let added = '';
  for (const name in members) {
    if (found.some((cut) => cut.name === name)) continue;
    added += `${added === '' ? '' : ','}${JSON.stringify(name)}:${members[name]}`;
  }
  return added === '' || text[skipBlanks(text, begin)] === 0x7d ? added : `${added},`;
}

/** The name between these quotes. */
function nameAt(text: Buffer, start: number, end: number): string {
  const name = text.toString('latin1', start + 1, end - 1);
  return /[\\\x80-\xff]/.test(name) ? String(parseJson(text.toString('utf8', start, end))) : name;
}

function skipBlanks(text: Buffer, at: number): number {
  let next = at;
  while (isBlank(text[next])) next += 1;
  return next;
}

function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
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
  if (first === 0x7b || first === 0x5b) return endOfNested(text, at);
  let end = at;
  while (end < text.length && text[end] !== COMMA && text[end] !== 0x7d && text[end] !== 0x5d && !isBlank(text[end])) end += 1;
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
