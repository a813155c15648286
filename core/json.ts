// The only place that parses JSON text. Pure: no I/O.

export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;
export interface JsonObject {
  [key: string]: JsonValue;
}

/** Deepest nesting accepted inside free-form JSON (tool schemas, arguments, provider metadata).
 *  Real tool schemas stay below 20; JSON.stringify overflows the stack at some thousands. */
export const MAX_JSON_DEPTH = 100;

/** Parses JSON text. Throws SyntaxError with V8's own message. */
export function parseJson(text: string): unknown {
  return JSON.parse(text);
}

/** Parses JSON text, or answers undefined where the text is not JSON: for input whose damage is
 *  an expected case that the caller handles (a provider's frame, an error body). */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Values in one body: beyond that, V8 is busy with parsing for longer than open streams can wait (100,000 keys or forms of objects take it a
 * tenth of a second). More than ten thousand messages fit in.
 */
export const MAX_JSON_VALUES = 50_000;
/** A value and what stands before it. */
const LEAST_VALUE_BYTES = 2;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const OPEN_OBJECT = 0x7b;

/** True for JSON text, UTF-8, with more than `limit` values, before it is parsed: commas and opening brackets outside of strings are counted. */
export function holdsMoreThan(bytes: Uint8Array, limit: number): boolean {
  if (bytes.length < limit * LEAST_VALUE_BYTES) return false;
  let count = 0;
  let isInString = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) isInString = !isInString;
    else if (isInString) at += byte === BACKSLASH ? 1 : 0;
    else if (byte === COMMA || byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
      count += 1;
      if (count > limit) return true;
    }
  }
  return false;
}

/** Values inside a tool's schema: real ones have some hundreds, and every provider's form of it is made anew for each request. */
export const MAX_SCHEMA_VALUES = 10_000;

/** True when there are more than `limit` values inside arrays and objects. Ends as soon as it is known; `value` must not nest too deep. */
export function hasMoreThan(value: unknown, limit: number): boolean {
  return countUpTo(value, limit) > limit;
}

function countUpTo(value: unknown, limit: number): number {
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  for (const inner of Object.values(value)) {
    count += 1 + countUpTo(inner, limit - count);
    if (count > limit) break;
  }
  return count;
}

/** True when arrays and objects nest deeper than `limit`. Recursion is bounded by the limit. */
export function isDeeperThan(value: unknown, limit: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (limit <= 0) return true;
  for (const inner of Object.values(value)) {
    if (isDeeperThan(inner, limit - 1)) return true;
  }
  return false;
}
