// Readers for what providers send. `as…` is for optional fields: a value of another type counts as absent. `expect…` is for the content of
// an answer: a value of another type is UPSTREAM_MALFORMED, because ignoring it would make the answer short or empty. Pure: no I/O.
import { exceededLimit, isObject, type JsonLimits, MAX_OBJECT_FIELDS, tryParseJson } from '../../core/base/json.ts';
import { membersOf } from '../../core/base/json-members.ts';
import { ANSWER_LIMITS, type BlockhouseError, type ToolCall } from '../../core/index.ts';
import type { Wanted } from './protocol.ts';
import { malformed } from './provider.ts';

/** {} for any other type. */
export function asObject(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {};
}

/** [] for any other type. */
export function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Undefined for any other type. */
export function asString(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** '' if it is absent or null. `what` names it in the error, such as "the text of a block". */
export function expectText(value: unknown, what: string): string {
  if (value === undefined || value === null) return '';
  if (typeof value !== 'string') throw malformed(`${what} is not a string`);
  return value;
}

/** [] if it is absent or null. */
export function expectList(value: unknown, what: string): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw malformed(`${what} is not a list`);
  return value;
}

/** {} if it is absent or null. */
export function expectObject(value: unknown, what: string): Record<string, unknown> {
  if (value === undefined || value === null) return {};
  if (!isObject(value)) throw malformed(`${what} is not an object`);
  return value;
}

/** The entry of `table` under a provider's word; undefined for any other word, inherited names like `constructor` included. */
export function lookUp<T>(table: Readonly<Record<string, T>>, word: unknown): T | undefined {
  return typeof word === 'string' && Object.hasOwn(table, word) ? table[word] : undefined;
}

const DIGITS = /^\d{1,16}$/;

/** A token count as a whole number, also of a number that is written as a text; undefined if it is negative or not finite. */
export function asCount(value: unknown): number | undefined {
  if (typeof value === 'string' && DIGITS.test(value)) return asCount(Number(value));
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0 || value > Number.MAX_SAFE_INTEGER) return undefined;
  return Math.round(value);
}

/** A part of a count, reported only where it is more than nothing: most providers report the parts that a call does not have as 0. */
export function asPart(value: unknown): number | undefined {
  return asCount(value) || undefined;
}

/** A sum in which unknown parts count as 0; undefined if `first` itself is unknown. It stays a count, however large the parts are. */
export function sumCounts(first: number | undefined, ...more: readonly (number | undefined)[]): number | undefined {
  return first === undefined ? undefined : more.reduce<number>((sum, part) => Math.min(sum + (part ?? 0), Number.MAX_SAFE_INTEGER), first);
}

/** no-empty-request: no request has 0 tokens. Who says so beside an answer has not counted it, so it is left to the estimate: undefined. */
export function countOfRequest(input: number | undefined, output: number | undefined): number | undefined {
  return input === 0 && output !== undefined && output > 0 ? undefined : input;
}

/** A shorter text is parsed in some milliseconds, whatever it is. To look for its depth costs about as much as to parse it. */
export const LONG_JSON_BYTES = 256 * 1024;

/** Throws UPSTREAM_MALFORMED for an answer of a chat that has too many values, or too many fields in one object, or nests too deep. */
export function assertParseable(json: Uint8Array, values: number = ANSWER_LIMITS.values): void {
  if (json.length < LONG_JSON_BYTES) return;
  assertWithin(json, { values, depth: ANSWER_LIMITS.depth, fields: MAX_OBJECT_FIELDS });
}

/** A client can send back no more fields of one object either, and to parse an object with very many takes V8 seconds. */
function assertWithin(json: Uint8Array, limits: JsonLimits): void {
  const exceeded = exceededLimit(json, limits);
  if (exceeded !== undefined) throw beyond(exceeded, limits);
}

/** UPSTREAM_MALFORMED for JSON that exceeds this limit. */
export function beyond(exceeded: keyof JsonLimits, limits: JsonLimits): BlockhouseError {
  if (exceeded === 'depth') return malformed(`it nests deeper than ${limits.depth} levels`);
  if (exceeded === 'fields') return malformed(`it has an object with more than ${limits.fields} fields`);
  return malformed(`it has more than ${limits.values} JSON values`);
}

/** The same for one record of a stream. */
export function assertRecord(json: Uint8Array | string, values: number = ANSWER_LIMITS.recordValues): void {
  if (json.length >= LONG_JSON_BYTES) assertParseable(typeof json === 'string' ? Buffer.from(json) : json, values);
}

/** A long record of a stream without what does not matter, so that it need not be parsed; as it is, if it is short or no whole object. */
export function shortened(record: string, wanted: Wanted): string {
  return record.length < LONG_JSON_BYTES ? record : (onlyMembers(Buffer.from(record), wanted) ?? record);
}

function onlyMembers(json: Buffer, wanted: Wanted): string | undefined {
  const kept = membersOf(json, Object.keys(wanted))?.map(({ name, start, end }) => {
    const value = json.subarray(start, end);
    const within = lookUp(wanted, name);
    const names = Array.isArray(within) ? Object.fromEntries((within as readonly string[]).map((one) => [one, 'whole' as const])) : undefined;
    return `${JSON.stringify(name)}:${(names && onlyMembers(value, names)) ?? value.toString()}`;
  });
  return kept === undefined ? undefined : `{${kept.join(',')}}`;
}

/**
 * Parses the arguments of a tool call: '' gives {}. Undefined if the text is not a JSON object, for example because it was cut off. Throws UPSTREAM_MALFORMED for
 * arguments with too many values or levels: they are parsed in one step, which would hold up everybody.
 */
export function parseArguments(text: string): Record<string, unknown> | undefined {
  if (text.trim() === '') return {};
  assertRecord(text);
  const value = tryParseJson(text);
  return isObject(value) ? value : undefined;
}

/** The adapter's own entry in the `providerMetadata` of a message or a call. */
export function metadataOf(
  holder: { readonly providerMetadata?: Readonly<Record<string, unknown>> | undefined } | ToolCall,
  adapterId: string,
): Record<string, unknown> | undefined {
  const own = holder.providerMetadata?.[adapterId];
  return typeof own === 'object' && own !== null && !Array.isArray(own) ? (own as Record<string, unknown>) : undefined;
}
