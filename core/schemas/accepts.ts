// A check of values against a schema that is made in microseconds, where Ajv takes a tenth of a second for the schemas of a block. It says yes or "not known": then Ajv has
// the last word, and its findings name the fault.
// Pure: no I/O.
//
// never-more: what this accepts, Ajv accepts, and a schema that has a check here is one that Ajv can compile. What is not known here, or did not come from JSON, is left to Ajv.
// counted-when-long: the characters of a text are counted only when its length in UTF-16 units alone does not say whether it fits, because that takes a tenth of a second
//   for an image of 30 MB.
import { isObject } from '../base/json.ts';

/** True if a value is certainly right. */
export type Accepts = (value: unknown) => boolean;

type Schema = Readonly<Record<string, unknown>>;
type Keyword = (argument: unknown, schema: Schema) => Accepts | undefined;

/** counted-when-long. A character has one or two units. */
export function hasAtMost(text: string, limit: number): boolean {
  return text.length <= limit || (text.length <= limit * 2 && [...text].length <= limit);
}

/** counted-when-long */
export function hasAtLeast(text: string, limit: number): boolean {
  return text.length >= limit && (text.length >= limit * 2 || [...text].length >= limit);
}

const TYPES: Readonly<Record<string, Accepts>> = {
  string: (value) => typeof value === 'string',
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
  number: (value) => Number.isFinite(value),
  integer: (value) => Number.isInteger(value),
  array: Array.isArray,
  object: isPlain,
};

const yes: Accepts = () => true;
/** They limit nothing. */
const ANNOTATIONS: ReadonlySet<string> = new Set(['$id', 'title', 'description', 'default', 'examples', 'deprecated']);

/** A limit that is no number is not understood. */
function limit(make: (limit: number) => Accepts): Keyword {
  return (argument: unknown) => (typeof argument === 'number' ? make(argument) : undefined);
}

/** Limits say nothing about values of another type. */
const KEYWORDS: Readonly<Record<string, Keyword>> = {
  type: (type: unknown) => (typeof type === 'string' && Object.hasOwn(TYPES, type) ? TYPES[type] : undefined),
  const: (only: unknown) => (isScalar(only) ? (value) => value === only : undefined),
  enum: (list: unknown) => (Array.isArray(list) && list.length > 0 && list.every(isScalar) ? (value) => list.includes(value) : undefined),
  anyOf,
  minimum: limit((least) => (value) => typeof value !== 'number' || value >= least),
  maximum: limit((most) => (value) => typeof value !== 'number' || value <= most),
  minLength: limit((least) => (value) => typeof value !== 'string' || hasAtLeast(value, least)),
  maxLength: limit((most) => (value) => typeof value !== 'string' || hasAtMost(value, most)),
  minItems: limit((least) => (value) => !Array.isArray(value) || value.length >= least),
  maxItems: limit((most) => (value) => !Array.isArray(value) || value.length <= most),
  minProperties: limit((least) => (value) => !isObject(value) || Object.keys(value).length >= least),
  maxProperties: limit((most) => (value) => !isObject(value) || Object.keys(value).length <= most),
  uniqueItems: (isUnique: unknown) => (typeof isUnique !== 'boolean' ? undefined : isUnique ? areUnique : yes),
  items: listOf,
  properties: (_fields: unknown, schema) => fieldsOf(schema),
  required: (_names: unknown, schema) => (Object.hasOwn(schema, 'properties') ? yes : fieldsOf(schema)),
  additionalProperties: (_rest: unknown, schema) => (Object.hasOwn(schema, 'properties') ? yes : fieldsOf(schema)),
  // Last: one that takes long is run on no text that is too long.
  pattern: patternOf,
};
const ORDER = Object.keys(KEYWORDS);

/** The check of a schema; undefined where only Ajv understands it. */
export function acceptsOf(schema: unknown): Accepts | undefined {
  if (schema === true) return yes;
  if (!isObject(schema)) return undefined;
  const names = Object.keys(schema).filter((name) => !ANNOTATIONS.has(name));
  if (names.some((name) => !ORDER.includes(name))) return undefined;
  const checks = ORDER.filter((name) => names.includes(name)).map((name) => KEYWORDS[name]?.(schema[name], schema));
  return allOf(checks);
}

function allOf(checks: readonly (Accepts | undefined)[]): Accepts | undefined {
  const all = checks.filter((check) => check !== undefined && check !== yes) as Accepts[];
  if (checks.includes(undefined)) return undefined;
  const [first = yes, second = yes] = all;
  if (all.length < 2) return first;
  if (all.length === 2) return (value) => first(value) && second(value);
  return (value) => all.every((check) => check(value));
}

function anyOf(schemas: unknown): Accepts | undefined {
  if (!Array.isArray(schemas)) return undefined;
  const checks = schemas.map(acceptsOf);
  if (checks.includes(undefined)) return undefined;
  return (value) => checks.some((check) => check?.(value));
}

function listOf(schema: unknown): Accepts | undefined {
  const item = acceptsOf(schema);
  return item === undefined ? undefined : (value) => !Array.isArray(value) || value.every((one) => item(one));
}

/** never-more: a list whose items would have to be compared deeply is left to Ajv. */
function areUnique(value: unknown): boolean {
  return !Array.isArray(value) || (value.every(isScalar) && new Set(value).size === value.length);
}

/** The same expression as Ajv's, which counts in characters. */
function patternOf(pattern: unknown): Accepts | undefined {
  if (typeof pattern !== 'string') return undefined;
  const expression = new RegExp(pattern, 'u');
  return (value) => typeof value !== 'string' || expression.test(value);
}

/** `properties`, `required` and `additionalProperties` together, in one walk over the fields that a value has. */
function fieldsOf({ properties = {}, required = [], additionalProperties = true }: Schema): Accepts | undefined {
  if (!isObject(properties) || !Array.isArray(required) || required.some((name) => typeof name !== 'string')) return undefined;
  const known = new Map(Object.entries(properties).map(([name, field]) => [name, acceptsOf(field)]));
  if (known.has('__proto__')) return undefined; // Ajv does not look at it
  const rest = additionalProperties === false ? () => false : acceptsOf(additionalProperties);
  if (rest === undefined || [...known.values()].includes(undefined)) return undefined;
  return (value) => {
    if (!isObject(value)) return true;
    if (!isPlain(value)) return false; // never-more
    for (const name of required) if (!Object.hasOwn(value, name) || value[name] === undefined) return false;
    for (const name of Object.keys(value)) {
      const field = value[name];
      const check = known.get(name);
      if (check === undefined ? !rest(field) : field !== undefined && !check(field)) return false;
    }
    return true;
  };
}

/** never-more: an object whose prototype has fields is left to Ajv. */
function isPlain(value: unknown): value is Record<string, unknown> {
  if (!isObject(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function isScalar(value: unknown): boolean {
  return value === null || typeof value !== 'object';
}
