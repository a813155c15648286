// Checks the arguments of a call against the schema of its tool. Schemas come from servers, so they are bounded, and what could take long or reach out is left out.
// Pure: no I/O.
//
// no-patterns: regular expressions of a server are not run, because one can take exponential time.
// counted-references: a few definitions that name each other twice are followed 2^n times, and one that names itself for ever. So references are counted as they are
//   followed, and never copied into each other when a schema is compiled.
// counted-comparisons: a value may be compared with all that stands below `anyOf`, `contains` and the like. So each part of a schema counts when a value comes to it, and a check
//   ends where there are too many.
// looked-up: `uniqueItems` compares each item with each other one, which takes minutes for tens of thousands. Here each is looked up.
// compiled-once: a schema takes a millisecond to compile and the largest half a second, so what was compiled is kept for later messages, by the text of the schema.
import { createRequire } from 'node:module';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Ajv2020, ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import { countUpTo, isDeeperThan, isObject, SCHEMAS_BY_NAME } from '../base/json.ts';
import { canonicalJson } from './canonical.ts';
import type { JsonRecord } from './port.ts';

const MAX_BYTES = 64 * 1024;
const MAX_DEPTH = 32;
const MAX_NODES = 2000;
/** no-patterns. The others name other documents, or are not looked at. */
const LEFT_OUT: ReadonlySet<string> = new Set(['pattern', 'patternProperties', 'format', '$schema', '$id', '$anchor', '$dynamicAnchor', '$comment']);

/** Keywords whose values are no schemas. */
const VALUES: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples', 'required', 'dependentRequired']);
/** counted-references. So many are followed in one check. */
const MAX_FOLLOWED = 10_000;
/** counted-comparisons. As many in one check, which take some tenths of a second. */
const MAX_COMPARED = 1_000_000;
/** A text of so many characters counts as one more value where it is bounded: how long it is, is counted again for each bound. */
const TEXT_PART = 128;
/** Keywords that look at all fields of an object. */
const FIELDS = ['additionalProperties', 'unevaluatedProperties', 'propertyNames', 'minProperties', 'maxProperties', 'const'];
/** Our own keywords: beside each reference, and in each schema with what a comparison with it counts. */
const FOLLOWED = 'blockhouse:followed';
const COMPARED = 'blockhouse:compared';
const TOO_MUCH = 'The arguments can not be checked: the schema of the tool follows too many references.';
const TOO_MANY = 'The arguments can not be checked: they have too many values for the schema of the tool. Send fewer at a time.';
/** compiled-once. The most that is kept, and the longest schemas together. */
const MAX_KEPT = 1000;
const MAX_KEPT_CHARACTERS = 4 * 1024 * 1024;
const REFERENCES: ReadonlySet<string> = new Set(['$ref', '$dynamicRef']);

const load = createRequire(import.meta.url);
let loaded: Ajv2020 | undefined;
/** How many references the check under way may still follow, and what it may still compare. */
let references = 0;
let comparisons = 0;

class TooMuch extends Error {}

function follow(): boolean {
  references -= 1;
  if (references < 0) throw new TooMuch(TOO_MUCH);
  return true;
}

function compare(weight: number, value: unknown, schema: JsonRecord = {}): boolean {
  comparisons -= weight + lookedThrough(value, schema);
  if (comparisons < 0) throw new TooMuch(TOO_MANY);
  return true;
}

/** What the schema counts of a value besides those schemas in it that count by themselves. */
function lookedThrough(value: unknown, schema: JsonRecord): number {
  if (typeof value === 'string') return (schema['maxLength'] ?? schema['minLength']) === undefined ? 0 : value.length / TEXT_PART;
  if (Array.isArray(value)) return schema['uniqueItems'] === true ? sizeOf(value) : 0;
  if (!isObject(value)) return 0;
  const { enum: choices } = schema;
  const times = (FIELDS.some((name) => schema[name] !== undefined) ? 1 : 0) + (Array.isArray(choices) ? choices.length : 0);
  return times === 0 ? 0 : times * Object.keys(value).length;
}

/** How many values there are, and long texts for more than one. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return 1 + value.length / TEXT_PART;
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce<number>((sum, inner) => sum + sizeOf(inner), 1);
}

/** looked-up. */
function areUnique(isAsked: boolean, items: readonly unknown[]): boolean {
  return !isAsked || new Set(items.map(canonicalJson)).size === items.length;
}

function ajv(): Ajv2020 {
  if (loaded === undefined) {
    const { Ajv2020: Made } = load('ajv/dist/2020') as typeof import('ajv/dist/2020.js');
    loaded = new Made({
      strict: false,
      validateSchema: false,
      allErrors: false,
      logger: false,
      addUsedSchema: false,
      inlineRefs: false,
      code: { optimize: false },
    });
    loaded.addKeyword({ keyword: FOLLOWED, before: '$ref', schema: false, validate: follow });
    loaded.addKeyword({ keyword: COMPARED, before: FOLLOWED, validate: compare });
    loaded.removeKeyword('uniqueItems');
    loaded.addKeyword({
      keyword: 'uniqueItems',
      type: 'array',
      schemaType: 'boolean',
      validate: areUnique,
      error: { message: 'must NOT have duplicate items' },
    });
  }
  return loaded;
}

/** Checks arguments: undefined where they are right, else what is wrong, for the model. */
export type ArgumentCheck = (args: unknown) => string | undefined;

/** Throws an Error for a schema beyond the bounds. Much cheaper than the check itself. */
export function assertBounded(schema: JsonRecord): void {
  if (isDeeperThan(schema, MAX_DEPTH)) throw new Error(`its schema nests deeper than ${MAX_DEPTH} levels`);
  if (countUpTo(schema, MAX_NODES) > MAX_NODES) throw new Error(`its schema has more than ${MAX_NODES} values`);
  if (Buffer.byteLength(JSON.stringify(schema)) > MAX_BYTES) throw new Error(`its schema is larger than ${MAX_BYTES} bytes`);
}

/** What was made of a schema: its check, or why it can't be used. */
type Made = { readonly check: ArgumentCheck; readonly problem?: undefined } | { readonly problem: string };

/** compiled-once. Schemas that were used last are at the end. */
const kept = new Map<string, Made>();
let keptCharacters = 0;

/** Throws an Error that says why a schema can't be used. */
export function argumentCheck(schema: JsonRecord): ArgumentCheck {
  const made = madeOf(schema);
  if (made.problem !== undefined) throw new Error(made.problem);
  return made.check;
}

/** Compiles schemas, and lets others have their turn after each, so that `argumentCheck` finds them compiled. */
export async function prepareChecks(schemas: Iterable<JsonRecord>): Promise<void> {
  for (const schema of schemas) if (madeOf(schema).isNew) await nextTurn();
}

function madeOf(schema: JsonRecord): Made & { readonly isNew: boolean } {
  const problem = boundsProblem(schema);
  if (problem !== undefined) return { problem, isNew: false };
  const text = JSON.stringify(schema);
  const known = kept.get(text);
  if (known !== undefined) kept.delete(text);
  else keptCharacters += text.length;
  const made = known ?? make(schema);
  kept.set(text, made);
  for (const oldest of kept.keys()) {
    if (kept.size <= MAX_KEPT && keptCharacters <= MAX_KEPT_CHARACTERS) break;
    kept.delete(oldest);
    keptCharacters -= oldest.length;
  }
  return { ...made, isNew: known === undefined };
}

function boundsProblem(schema: JsonRecord): string | undefined {
  try {
    assertBounded(schema);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

function make(schema: JsonRecord): Made {
  try {
    return { check: compiled(schema) };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}

function compiled(schema: JsonRecord): ArgumentCheck {
  const validate: ValidateFunction = ajv().compile(bounded(schema));
  ajv().removeSchema(); // a cache of what servers send would only grow
  return (args) => {
    references = MAX_FOLLOWED;
    comparisons = MAX_COMPARED;
    try {
      return validate(args) ? undefined : wording(validate.errors?.[0]);
    } catch (error) {
      if (error instanceof TooMuch) return error.message;
      if (error instanceof RangeError) return TOO_MUCH; // of the stack
      throw error;
    }
  };
}

/** The part of a schema that is looked at. Throws an Error for one that is too large, or refers to other documents; compiles nothing. */
export function bounded(schema: JsonRecord): JsonRecord {
  assertBounded(schema);
  return cleaned(schema, false);
}

/** `isNames`: the members are names of fields, not keywords. */
function cleaned(value: JsonRecord, isNames: boolean): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  for (const [name, inner] of Object.entries(value)) {
    if (isNames) kept[name] = cleanedValue(inner, false);
    else if (VALUES.has(name)) kept[name] = inner;
    else if (!LEFT_OUT.has(name)) kept[name] = cleanedValue(inner, SCHEMAS_BY_NAME.has(name));
    if (isNames || !REFERENCES.has(name)) continue;
    if (!(typeof inner === 'string' && inner.startsWith('#'))) throw new Error(`its schema refers to another document (${String(inner).slice(0, 100)})`);
    kept[FOLLOWED] = true;
  }
  return isNames ? kept : { ...kept, [COMPARED]: weightOf(kept) };
}

/** What a comparison with a schema counts, without the schemas in it. */
function weightOf(schema: JsonRecord): number {
  return Object.entries(schema).reduce((sum, [name, inner]) => {
    if (VALUES.has(name)) return sum + countUpTo(inner, MAX_NODES);
    if (Array.isArray(inner)) return sum + inner.length;
    return SCHEMAS_BY_NAME.has(name) && isObject(inner) ? sum + Object.keys(inner).length : sum;
  }, 1);
}

function cleanedValue(value: unknown, isNames: boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => cleanedValue(item, false));
  return isObject(value) ? cleaned(value, isNames) : value;
}

function wording(fault: ErrorObject | undefined): string {
  const place = fault?.instancePath === undefined || fault.instancePath === '' ? 'The arguments' : fault.instancePath;
  const allowed = fault?.keyword === 'enum' ? `: ${JSON.stringify(fault.params['allowedValues']).slice(0, 300)}` : '';
  return `${place} ${fault?.message ?? 'are not valid'}${allowed}.`;
}
