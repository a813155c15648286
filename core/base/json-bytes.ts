// Writes JSON as bytes, large values in slices with a turn of the event loop between two of them, so that one large request holds up nobody else. Pure but for
// the turns.
//
// same-text: the text is the one that JSON.stringify gives for plain JSON values (a property that is undefined is left out).
// bounded-slice: a turn writes about one slice. A long text is cut between two of its characters.

import { toJsonText } from './json-text.ts';
import { nextTurn } from './next-turn.ts';

/** In UTF-16 units. A slice takes about a millisecond. */
const SLICE_LENGTH = 128 * 1024;
/** In the same units. A value that is not larger is written at once, which takes some milliseconds at most. */
const LARGE_LENGTH = 1024 * 1024;
/** What a number, a name or a bracket counts. */
const VALUE_LENGTH = 8;

/** How a value is written. */
export interface WriteOptions {
  /** Lets other work of the event loop run. If it rejects, so does the result. */
  readonly turn?: () => Promise<void>;
  readonly sliceLength?: number;
  readonly largeLength?: number;
}

/** The JSON of a plain value in UTF-8; a promise only if it is large. */
export function toJsonBytes(
  value: unknown,
  { turn = nextTurn, sliceLength = SLICE_LENGTH, largeLength = LARGE_LENGTH }: WriteOptions = {},
): Buffer | Promise<Buffer> {
  if (lengthUpTo(value, largeLength) < largeLength) return Buffer.from(toJsonText(value));
  return joined(partsOf(value, sliceLength), sliceLength, turn);
}

async function joined(parts: Iterable<string>, sliceLength: number, turn: () => Promise<void>): Promise<Buffer> {
  const slices: Buffer[] = [];
  let text = '';
  for (const part of parts) {
    text += part;
    if (text.length < sliceLength) continue;
    slices.push(Buffer.from(text));
    text = '';
    await turn(); // bounded-slice
  }
  slices.push(Buffer.from(text));
  return Buffer.concat(slices);
}

/** About how long the text of a value is; no more than `limit` is looked at. */
function lengthUpTo(value: unknown, limit: number): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return VALUE_LENGTH;
  let length = VALUE_LENGTH;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && length < limit; index += 1) length += lengthUpTo(value[index], limit - length);
    return length;
  }
  for (const name in value) {
    length += name.length + lengthUpTo((value as Record<string, unknown>)[name], limit - length);
    if (length >= limit) break;
  }
  return length;
}

function* partsOf(value: unknown, sliceLength: number): Generator<string> {
  if (typeof value === 'string') yield* partsOfText(value, sliceLength);
  else if (typeof value !== 'object' || value === null || lengthUpTo(value, sliceLength) < sliceLength) yield toJsonText(value ?? null);
  else if (Array.isArray(value)) {
    yield '[';
    for (let index = 0; index < value.length; index += 1) {
      if (index > 0) yield ',';
      yield* partsOf(value[index], sliceLength);
    }
    yield ']';
  } else {
    yield '{';
    let mark = '';
    for (const [name, member] of Object.entries(value)) {
      if (member === undefined) continue;
      yield `${mark}${JSON.stringify(name)}:`;
      yield* partsOf(member, sliceLength);
      mark = ',';
    }
    yield '}';
  }
}

function* partsOfText(text: string, sliceLength: number): Generator<string> {
  if (text.length <= sliceLength) {
    yield toJsonText(text);
    return;
  }
  yield '"';
  for (let from = 0; from < text.length; ) {
    const end = endOfCharacter(text, Math.min(from + sliceLength, text.length));
    yield toJsonText(text.slice(from, end)).slice(1, -1);
    from = end;
  }
  yield '"';
}

/** This place, or the one behind it if a character with two units is around it. */
function endOfCharacter(text: string, at: number): number {
  const isHigh = (text.charCodeAt(at - 1) & 0xfc00) === 0xd800;
  return isHigh && (text.charCodeAt(at) & 0xfc00) === 0xdc00 ? at + 1 : at;
}
