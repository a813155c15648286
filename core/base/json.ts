// The only place that parses JSON text. Pure: no I/O.

/** Any value that JSON can express. */
export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;
/** A JSON object; its keys come from outside, so any name may occur. */
export interface JsonObject {
  [key: string]: JsonValue;
}

/**
 * Deepest nesting that is accepted: in free-form JSON of requests (tool schemas, arguments, provider metadata), and in every JSON file that is read.
 * Real tool schemas stay below 20; JSON.stringify overflows the stack at some thousands.
 */
export const MAX_JSON_DEPTH = 100;

/** Parses JSON text. Throws SyntaxError with V8's own message. */
export function parseJson(text: string): unknown {
  return JSON.parse(text);
}

/** Parses JSON text, or returns undefined if it is not JSON: for input whose damage the caller expects and handles (a provider's frame, an error body). */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The same value with the members of all objects in the order of their names, because another order is no change. */
export function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, inner]) => [name, inOrder(inner)]),
  );
}

/** True for an object that is not an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * The most values in one body, or in one file of a block: V8 needs a tenth of a second for 100,000 keys or shapes of objects, and open streams
 * can't wait longer. More than ten thousand messages fit in.
 */
export const MAX_JSON_VALUES = 50_000;
/** The most fields in one object of a request: with 100,000 of them V8 needs a tenth of a second whenever something looks at all of them. */
export const MAX_OBJECT_FIELDS = 10_000;
/** The shortest value and the separator before it. */
const MIN_VALUE_BYTES = 2;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Limits of JSON text. */
export interface JsonLimits {
  /** The most fields and elements. */
  readonly values: number;
  /** The deepest nesting of arrays and objects; any when left out. */
  readonly depth?: number;
  /** The most fields in one object; any number when left out. */
  readonly fields?: number;
}

/** How many fields and elements JSON text has, as far as it was looked at, and the limit that it exceeds. */
export interface JsonSize {
  readonly values: number;
  readonly exceeded: keyof JsonLimits | undefined;
}

/** The limit that JSON text in UTF-8 exceeds; undefined if it exceeds none, or if it is not JSON. */
export function exceededLimit(bytes: Uint8Array, limits: JsonLimits): keyof JsonLimits | undefined {
  return jsonSize(bytes, limits).exceeded;
}

/** Found without parsing: commas and brackets outside of strings are counted, up to the first limit that is exceeded. */
export function jsonSize(bytes: Uint8Array, { values, depth = Infinity, fields = Infinity }: JsonLimits): JsonSize {
  let count = 0;
  /** How many commas each open object has; NaN for an array. */
  const open: number[] = [];
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfString(bytes, at + 1);
    else if (byte === COMMA) {
      count += 1;
      const commas = (open.pop() ?? 0) + 1;
      open.push(commas);
      if (commas >= fields) return { values: count, exceeded: 'fields' };
    } else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) open.pop();
    else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
      count += 1;
      open.push(byte === OPEN_OBJECT ? 0 : Number.NaN);
      if (open.length > depth) return { values: count, exceeded: 'depth' };
    } else continue;
    if (count > values) return { values: count, exceeded: 'values' };
  }
  return { values: count, exceeded: undefined };
}

/** So many characters of a string are checked one by one; beyond that `indexOf` is faster, but it is slow to start. */
const NEAR = 64;

/** The index of the quote that ends the string whose content begins at `start`; the length of the text if there is none. */
export function endOfString(bytes: Uint8Array, start: number): number {
  let at = start;
  for (;;) {
    // Also after an escaped quote: where there is one, there are more.
    for (const near = at + NEAR; at < near; at += 1) {
      if (bytes[at] === QUOTE) return at;
      if (bytes[at] === BACKSLASH) at += 1;
    }
    const quote = bytes.indexOf(QUOTE, at);
    if (quote === -1) return bytes.length;
    let first = quote;
    while (first > at && bytes[first - 1] === BACKSLASH) first -= 1;
    if ((quote - first) % 2 === 0) return quote;
    at = quote + 1;
  }
}

/** True if JSON text in UTF-8 has more than `limit` values; found without parsing. */
export function holdsMoreThan(bytes: Uint8Array, limit: number): boolean {
  return bytes.length >= limit * MIN_VALUE_BYTES && exceededLimit(bytes, { values: limit }) === 'values';
}

/** Keywords of JSON Schema that hold schemas by name; the names are the server's own, and no keywords. */
export const SCHEMAS_BY_NAME: ReadonlySet<string> = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);

/** The most values inside a tool's schema: real ones have some hundreds, and each request converts the schema to the provider's form. */
export const MAX_SCHEMA_VALUES = 10_000;
/** The most values inside the schemas of all tools of a request. */
export const MAX_TOOL_VALUES = 100_000;

/** True if arrays and objects contain more than `limit` values. Stops counting at the limit; check the depth of `value` first. */
export function hasMoreThan(value: unknown, limit: number): boolean {
  return countUpTo(value, limit) > limit;
}

/** How many values arrays and objects contain; counts to the first beyond `limit`. Check the depth of `value` first. */
export function countUpTo(value: unknown, limit: number): number {
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  for (const inner of Object.values(value)) {
    count += 1 + countUpTo(inner, limit - count);
    if (count > limit) break;
  }
  return count;
}

/** True if arrays and objects nest deeper than `limit`. The limit bounds the recursion. */
export function isDeeperThan(value: unknown, limit: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (limit <= 0) return true;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) if (isDeeperThan(value[index], limit - 1)) return true;
    return false;
  }
  for (const name in value) if (isDeeperThan((value as Record<string, unknown>)[name], limit - 1)) return true;
  return false;
}
