// Finds the members of an object in JSON text, without parsing them. Pure: no I/O.
import { endOfString, tryParseJson } from './json.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
/** Some servers put the mark of UTF-8 before their answers. */
const MARK = [0xef, 0xbb, 0xbf] as const;

/** A member: its name, and where its value begins and ends. */
export interface Member {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

/** What is known of a JSON text that was scanned before. */
export interface JsonOutline {
  /** The places of the commas in the outermost object or array. */
  readonly commas: number[];
  /** The members of all objects, whether or not their names stand twice. */
  members: number;
  /** Fields and elements, as far as it was scanned. */
  values: number;
}

/** Of a text that was not scanned yet. */
export function newOutline(): JsonOutline {
  return { commas: [], members: 0, values: 0 };
}

/** As {@link membersOf}, without a scan of the values: for an object that was parsed, and its commas. */
export function membersBetween(text: Buffer, names: readonly string[], commas: readonly number[]): readonly Member[] {
  const members: Member[] = [];
  let from = text.indexOf(OPEN_OBJECT) + 1;
  for (const to of [...commas, text.lastIndexOf(CLOSE_OBJECT)]) {
    const at = skipBlanks(text, from);
    from = to + 1;
    if (text[at] !== QUOTE) continue; // the end of an empty object
    const nameEnd = endOfString(text, at + 1) + 1;
    const name = nameAmong(names, text, at, nameEnd);
    if (name === undefined) continue;
    let end = to;
    while (isBlank(text[end - 1])) end -= 1;
    members.push({ name, start: skipBlanks(text, skipBlanks(text, nameEnd) + 1), end });
  }
  return members;
}

/**
 * The members of the outermost object that have one of these names (in ASCII), in order. Undefined if the text, in UTF-8, is no object, or not all of one: every
 * string and bracket must be closed. What stands within the values is not looked at further.
 */
export function membersOf(text: Buffer, names: readonly string[]): readonly Member[] | undefined {
  const members: Member[] = [];
  let at = skipBlanks(text, text[0] === MARK[0] && text[1] === MARK[1] && text[2] === MARK[2] ? MARK.length : 0);
  if (text[at] !== OPEN_OBJECT) return undefined;
  at = skipBlanks(text, at + 1);
  if (text[at] === CLOSE_OBJECT) return isEnd(text, at) ? members : undefined;
  for (;;) {
    if (text[at] !== QUOTE) return undefined;
    const nameEnd = endOfString(text, at + 1) + 1;
    const colon = skipBlanks(text, nameEnd);
    if (text[colon] !== COLON) return undefined;
    const start = skipBlanks(text, colon + 1);
    const end = endOfValue(text, start);
    if (end === start || end > text.length) return undefined;
    const name = nameAmong(names, text, at, nameEnd);
    if (name !== undefined) members.push({ name, start, end });
    at = skipBlanks(text, end);
    if (text[at] === CLOSE_OBJECT) return isEnd(text, at) ? members : undefined;
    if (text[at] !== COMMA) return undefined;
    at = skipBlanks(text, at + 1);
  }
}

/** The first name that an object of a JSON text has twice, at any depth, and escaped or not; undefined if none has. `value` is what the text was parsed to. */
export function repeatedMember(text: Buffer, value: unknown, outline?: JsonOutline): string | undefined {
  return (outline?.members ?? membersIn(text)) === membersOfValue(value) ? undefined : firstRepeated(text); // a member that stands twice is in the value once
}

function membersIn(text: Uint8Array): number {
  let count = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === QUOTE) at = endOfString(text, at + 1);
    else if (text[at] === COLON) count += 1;
  }
  return count;
}

function membersOfValue(value: unknown): number {
  let count = 0;
  const open = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next !== 'object' || next === null) continue;
    const inner: readonly unknown[] = Object.values(next);
    if (!Array.isArray(next)) count += inner.length;
    for (const one of inner) if (typeof one === 'object') open.push(one);
  }
  return count;
}

function firstRepeated(text: Buffer): string | undefined {
  const open: (Set<unknown> | undefined)[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const byte = text[at];
    if (byte === OPEN_OBJECT) open.push(new Set());
    else if (byte === OPEN_ARRAY) open.push(undefined);
    else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) open.pop();
    if (byte !== QUOTE) continue;
    const end = endOfString(text, at + 1);
    if (text[skipBlanks(text, end + 1)] === COLON) {
      const name = tryParseJson(text.toString('utf8', at, end + 1));
      const names = open.at(-1);
      if (names?.has(name) === true) return String(name);
      names?.add(name);
    }
    at = end;
  }
  return undefined;
}

/** The one of these names that stands between the quotes. A name may be written with escapes. */
function nameAmong(names: readonly string[], text: Buffer, start: number, end: number): string | undefined {
  for (const name of names) if (end - start === name.length + 2 && isAt(name, text, start + 1)) return name;
  for (let at = start + 1; at < end; at += 1) {
    if (text[at] !== BACKSLASH) continue;
    const name = tryParseJson(text.toString('utf8', start, end));
    return names.find((each) => each === name);
  }
  return undefined;
}

function isAt(name: string, text: Buffer, start: number): boolean {
  for (let index = 0; index < name.length; index += 1) if (text[start + index] !== name.charCodeAt(index)) return false;
  return true;
}

/** True if only blanks follow this place. */
function isEnd(text: Buffer, at: number): boolean {
  return skipBlanks(text, at + 1) === text.length;
}

/** The index after the value; past the end of the text if the value has no end. */
function endOfValue(text: Uint8Array, start: number): number {
  const first = text[start];
  if (first === QUOTE) return endOfString(text, start + 1) + 1;
  if (first === OPEN_OBJECT || first === OPEN_ARRAY) return endOfNested(text, start);
  let end = start;
  while (end < text.length && !isBorder(text[end])) end += 1;
  return end;
}

function endOfNested(text: Uint8Array, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const byte = text[at];
    if (byte === QUOTE) at = endOfString(text, at + 1);
    else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) depth += 1;
    else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return text.length + 1;
}

function isBorder(byte: number | undefined): boolean {
  return byte === COMMA || byte === CLOSE_OBJECT || byte === CLOSE_ARRAY || isBlank(byte);
}

/** The first place from `at` on that is no blank; those from `end` on are not looked at. */
export function skipBlanks(text: Uint8Array, at: number, end = text.length): number {
  let next = at;
  while (next < end && isBlank(text[next])) next += 1;
  return next;
}

function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
