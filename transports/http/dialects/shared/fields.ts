// Reads the fields of a client's body: what is wrong is refused by the client's own name of the field, and what is null counts as absent. Pure: no I/O.
import { isDeeperThan, isObject, MAX_JSON_DEPTH } from '../../../../core/base/json.ts';
import { invalidRequest, type Warning } from '../../../../core/index.ts';

/** A JSON object of a client. */
export type Fields = Record<string, unknown>;

/** Values that ask for nothing. */
const NOTHING: ReadonlySet<unknown> = new Set([undefined, null, false, 0, '', 'disabled']);

/** Warnings about the fields of a body that are not among those that are understood, unless their values ask for nothing. */
export function ignoredFields(body: Fields, understood: ReadonlySet<string>): Warning[] {
  const warnings: Warning[] = [];
  for (const field in body) if (!understood.has(field) && !NOTHING.has(body[field])) warnings.push({ field, message: 'It was ignored.' });
  return warnings;
}

/** The value of a field; undefined if it is absent or null. */
function fieldOf(body: Readonly<Fields>, name: string): unknown {
  return body[name] ?? undefined;
}

/** A schema may nest as deep as the gateway takes it, and lies some levels below the top. */
const MAX_BODY_DEPTH = MAX_JSON_DEPTH + 20;

/** Throws INVALID_REQUEST, also for a body that nests so deep that it could not be written as JSON again. */
export function objectBody(body: unknown): Fields {
  if (!isObject(body)) throw invalidRequest('', 'The body must be a JSON object.');
  if (isDeeperThan(body, MAX_BODY_DEPTH)) throw invalidRequest('', `The body nests deeper than ${MAX_BODY_DEPTH} levels; send a flatter one.`);
  return body;
}

/** Throws INVALID_REQUEST. */
export function requiredText(body: Fields, name: string, path = name): string {
  const value = text(body, name, path);
  if (value === undefined || value === '') throw invalidRequest(path, 'is required');
  return value;
}

/** Throws INVALID_REQUEST unless it is text or absent. */
export function text(body: Fields, name: string, path = name): string | undefined {
  const value = fieldOf(body, name);
  if (value !== undefined && typeof value !== 'string') throw invalidRequest(path, 'must be a string');
  return value;
}

/** Throws INVALID_REQUEST unless it is a number of this range or absent. */
export function number(body: Fields, name: string, least: number, most: number, path = name): number | undefined {
  const value = fieldOf(body, name);
  if (value === undefined) return undefined;
  if (typeof value !== 'number' || !(value >= least && value <= most)) throw invalidRequest(path, `must be a number from ${least} to ${most}`);
  return value;
}

/** Throws INVALID_REQUEST unless it is a whole number of this range or absent. */
export function integer(body: Fields, name: string, least: number, most: number, path = name): number | undefined {
  const value = number(body, name, least, most, path);
  if (value !== undefined && !Number.isInteger(value)) throw invalidRequest(path, 'must be a whole number');
  return value;
}

/** Throws INVALID_REQUEST unless it is true, false or absent. */
export function flag(body: Readonly<Fields>, name: string): boolean | undefined {
  const value = fieldOf(body, name);
  if (value !== undefined && typeof value !== 'boolean') throw invalidRequest(name, 'must be true or false');
  return value;
}

/** Throws INVALID_REQUEST unless it is a list or absent. */
export function list(body: Fields, name: string, path = name): readonly unknown[] | undefined {
  const value = fieldOf(body, name);
  if (value !== undefined && !Array.isArray(value)) throw invalidRequest(path, 'must be a list');
  return value;
}

/** Far more than any model reads. Each takes some steps of its own, and all of them are taken in one turn of the event loop. */
const MAX_MESSAGES = 20_000;

/** The messages of a conversation. Throws INVALID_REQUEST unless they are a list that is not too long, or absent. */
export function conversationIn(body: Fields, name: string): readonly unknown[] | undefined {
  const messages = list(body, name);
  if (messages !== undefined) assertFewMessages(messages, name);
  return messages;
}

/** Throws INVALID_REQUEST for a conversation of too many messages or items. */
export function assertFewMessages({ length }: readonly unknown[], path: string): void {
  if (length > MAX_MESSAGES) throw invalidRequest(path, `has ${length} items; send at most ${MAX_MESSAGES}`);
}

/** Throws INVALID_REQUEST unless it is an object. */
export function objectAt(value: unknown, path: string): Fields {
  if (!isObject(value)) throw invalidRequest(path, 'must be an object');
  return value;
}

/** Throws INVALID_REQUEST unless it is an object or absent. */
export function optionalObject(body: Readonly<Fields>, name: string, path = name): Fields | undefined {
  const value = fieldOf(body, name);
  return value === undefined ? undefined : objectAt(value, path);
}
