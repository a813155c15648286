// Reduces a schema, of a tool's parameters or of an answer, to the part of JSON Schema that Gemini takes. Pure: no I/O.
// Source: @google/genai `genai.d.ts`, the list of supported properties at `responseJsonSchema`.
//
// Only keywords are removed; the names of properties and definitions stay. Objects are rebuilt from entries, so that `__proto__` is an
// ordinary key.
import { isObject } from '../../core/base/json.ts';

const KEPT = new Set('$id $anchor type format title description enum minItems maxItems minimum maximum required propertyOrdering'.split(' '));
/** Keywords whose value is a schema for each name. */
const SCHEMA_MAPS = new Set(['properties', '$defs']);
const SCHEMA_LISTS = new Set(['anyOf', 'oneOf', 'prefixItems']);
const SCHEMAS = new Set(['items', 'additionalProperties']);
/** Keywords that restrict no value, so leaving them out needs no warning. */
const ANNOTATIONS = new Set(
  '$schema $comment $vocabulary title description default example examples deprecated readOnly writeOnly contentEncoding contentMediaType'.split(' '),
);

/** A cleaned copy, and the keywords that were dropped although they restrict a value. */
export function cleanSchema(schema: Record<string, unknown>): { readonly schema: Record<string, unknown>; readonly dropped: readonly string[] } {
  const dropped = new Set<string>();
  return { schema: clean(schema, dropped, true), dropped: [...dropped] };
}

function clean(schema: Record<string, unknown>, dropped: Set<string>, isRoot = false): Record<string, unknown> {
  // In a sub-schema with a reference Gemini takes only `$` keywords beside it.
  const isReference = !isRoot && typeof schema['$ref'] === 'string';
  const entries: [string, unknown][] = [];
  for (const [given, value] of Object.entries(modernize(schema))) {
    const kept = isReference && !given.startsWith('$') ? undefined : cleanKeyword(given, value, dropped);
    if (kept !== undefined) entries.push([given, kept]);
    else if (given === 'enum' && isNullAlone(value))
      continue; // its type says it
    else if (!ANNOTATIONS.has(given) && !given.startsWith('x-')) dropped.add(given);
  }
  return Object.fromEntries(entries);
}

/** Rewrites older spellings of keywords that Gemini takes: `const`, `definitions`, tuples in `items`. */
function modernize(schema: Record<string, unknown>): Record<string, unknown> {
  const { const: only, definitions, items, $ref, ...rest } = schema;
  return {
    ...rest,
    ...($ref !== undefined && { $ref: typeof $ref === 'string' ? $ref.replace(/^#\/definitions\//, '#/$defs/') : $ref }),
    ...(only !== undefined && { enum: [only] }),
    ...(isObject(definitions) && { $defs: { ...definitions, ...(isObject(rest['$defs']) && rest['$defs']) } }),
    ...(items !== undefined && (Array.isArray(items) ? { prefixItems: items } : { items })),
  };
}

/** The value to send; undefined for a keyword that Gemini doesn't take. */
function cleanKeyword(keyword: string, value: unknown, dropped: Set<string>): unknown {
  if (keyword === 'enum' && Array.isArray(value)) return members(value, dropped);
  if (KEPT.has(keyword) || keyword === '$ref') return value;
  if (SCHEMA_MAPS.has(keyword) && isObject(value)) return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, cleanInner(inner, dropped)]));
  if (SCHEMA_LISTS.has(keyword) && Array.isArray(value)) return value.map((inner) => cleanInner(inner, dropped));
  if (keyword === 'additionalProperties' && typeof value === 'boolean') return value;
  return SCHEMAS.has(keyword) && isObject(value) ? clean(value, dropped) : undefined;
}

/**
 * The texts and numbers of an enum; undefined if there are none. Gemini answers 400 to a member that is empty, as it takes null to be (`enum[3]: cannot be
 * empty`), and knows no other types. The type of the value says that it may be null.
 */
function members(list: readonly unknown[], dropped: Set<string>): readonly unknown[] | undefined {
  const taken = list.filter((one) => (typeof one === 'string' && one !== '') || typeof one === 'number');
  if (taken.length + list.filter((one) => one === null).length < list.length) dropped.add('enum');
  return taken.length === 0 ? undefined : taken;
}

function isNullAlone(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => one === null);
}

/** In JSON Schema `true` means "anything" and `false` "nothing"; Gemini wants an object. */
function cleanInner(schema: unknown, dropped: Set<string>): Record<string, unknown> {
  if (schema === false) dropped.add('false');
  return isObject(schema) ? clean(schema, dropped) : {};
}
