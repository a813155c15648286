// Reduces the schema of an answer to the part of JSON Schema that structured outputs of Claude and of Bedrock take: they refuse a request with any other
// keyword. What such a keyword says goes into the description, where the model reads it. Pure: no I/O.
// Source: @anthropic-ai/sdk `lib/transform-json-schema`, which does the same for its own users.
import { isObject } from '../../core/base/json.ts';
import type { Warning } from '../../core/index.ts';
import { lookUp } from './read.ts';

type Schema = Record<string, unknown>;

const FORMATS: ReadonlySet<unknown> = new Set('date-time time date duration email hostname uri ipv4 ipv6 uuid'.split(' '));
const SCHEMA_MAPS: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions']);
const SCHEMA_LISTS: Readonly<Record<string, string>> = { anyOf: 'anyOf', oneOf: 'anyOf', allOf: 'allOf' };
const KEPT: ReadonlySet<string> = new Set(['title', 'description', 'required']);
/** Keywords that don't restrict the answer, so that nothing is lost in a description. */
const ANNOTATIONS: ReadonlySet<string> = new Set('$id $comment default example examples deprecated readOnly writeOnly'.split(' '));

/** A copy that is taken, and a warning if a restriction is now only described. */
export function outputSchema(schema: Schema): { readonly schema: Schema; readonly warnings: readonly Warning[] } {
  const described = new Set<string>();
  const cleaned = clean(schema, described);
  if (described.size === 0) return { schema: cleaned, warnings: [] };
  const message = `The provider does not support these schema keywords, so the model only reads them: ${[...described].join(', ')}.`;
  return { schema: cleaned, warnings: [{ field: 'config.output', message }] };
}

function clean(given: Schema, described: Set<string>): Schema {
  const kept: [string, unknown][] = [];
  const others: [string, unknown][] = [];
  for (const [keyword, value] of Object.entries(given)) {
    if (keyword === '$schema' || isImplied(keyword, value, given)) continue;
    const entry = keptEntry(keyword, value, described);
    if (entry === undefined) others.push([keyword, value]);
    else if (given['$ref'] === undefined || keyword.startsWith('$') || keyword === 'definitions') kept.push(entry);
  }
  const schema = Object.fromEntries(kept);
  if (given['$ref'] !== undefined) return schema;
  if (hasType(given, 'object') || isObject(schema['properties'])) close(schema, given, described);
  if (others.length === 0) return schema;
  for (const [keyword] of others) if (!ANNOTATIONS.has(keyword)) described.add(keyword);
  const said = `{${others.map(([keyword, value]) => `${keyword}: ${JSON.stringify(value)}`).join(', ')}}`;
  return { ...schema, description: typeof schema['description'] === 'string' ? `${schema['description']}\n\n${said}` : said };
}

/** Every object must be closed. One that names no property could have had any. */
function close(schema: Schema, given: Schema, described: Set<string>): void {
  schema['properties'] ??= {};
  schema['additionalProperties'] = false;
  if (given['properties'] === undefined && given['additionalProperties'] === undefined) described.add('additionalProperties');
}

/** A type beside literals or alternatives says nothing more than they do, and objects are closed anyway. */
function isImplied(keyword: string, value: unknown, given: Schema): boolean {
  if (keyword === 'additionalProperties') return value === false;
  if (keyword !== 'type') return false;
  return isLiteral(given['const']) || isLiterals(given['enum']) || Object.keys(SCHEMA_LISTS).some((name) => Array.isArray(given[name]));
}

/** Undefined for a keyword that is not taken. */
function keptEntry(keyword: string, value: unknown, described: Set<string>): [string, unknown] | undefined {
  const inner = (one: unknown): unknown => (isObject(one) ? clean(one, described) : one);
  const list = lookUp(SCHEMA_LISTS, keyword);
  if (list !== undefined && Array.isArray(value)) return [list, value.map(inner)];
  if (SCHEMA_MAPS.has(keyword) && isObject(value)) return [keyword, Object.fromEntries(Object.entries(value).map(([name, one]) => [name, inner(one)]))];
  if (keyword === 'items' && isObject(value)) return [keyword, inner(value)];
  return isTaken(keyword, value) ? [keyword, value] : undefined;
}

function isTaken(keyword: string, value: unknown): boolean {
  switch (keyword) {
    case '$ref':
    case 'type':
      return true;
    case 'enum':
      return isLiterals(value);
    case 'const':
      return isLiteral(value);
    case 'format':
      return FORMATS.has(value);
    case 'minItems':
      return value === 0 || value === 1;
    default:
      return KEPT.has(keyword);
  }
}

function hasType({ type }: Schema, name: string): boolean {
  return type === name || (Array.isArray(type) && type.includes(name));
}

function isLiteral(value: unknown): boolean {
  return value !== undefined && (value === null || typeof value !== 'object');
}

function isLiterals(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every(isLiteral);
}
