// The only user of Ajv for our own schemas. Ajv compiles a schema once, for the first value that `accepts.ts` does not accept, and its findings become a 400 that names the
// field and the cure.
// Pure: no I/O.
//
// small-functions: Ajv makes one function of a schema, and V8 leaves a very long one unoptimised, which made the check of a chat request ten times as
//   slow. So each larger object of a schema becomes a function of its own.
// yes-first: to load Ajv and to compile the schemas of a block took a third of all that a server does until its first answer, and nearly every value is right.
import { createRequire } from 'node:module';
import type { Ajv as AjvType, ErrorObject, KeywordCxt, ValidateFunction } from 'ajv';
import { isObject } from '../base/json.ts';
import { BlockhouseError } from '../errors.ts';
import { type Accepts, acceptsOf, hasAtLeast, hasAtMost } from './accepts.ts';

/** yes-first */
const load = createRequire(import.meta.url);
let loaded: AjvType | undefined;

function ajv(): AjvType {
  if (loaded !== undefined) return loaded;
  const { Ajv, str } = load('ajv') as typeof import('ajv');
  // Only the first fault: a hostile body could make collecting all of them slow.
  // The schemas are our own constants; checking them against the metaschema would double the time of the first check.
  const made = new Ajv({
    allErrors: false,
    strict: true,
    strictTypes: false,
    strictRequired: false,
    verbose: true,
    messages: true,
    validateSchema: false,
    meta: false,
    inlineRefs: false, // small-functions
    code: { optimize: false }, // shortening its code takes Ajv two fifths of the time, and V8 makes the same of both
  });
  for (const [keyword, fits, word] of LENGTHS) {
    made.removeKeyword(keyword);
    const error = { message: ({ schemaCode }: Pick<KeywordCxt, 'schemaCode'>) => str`must NOT have ${word} than ${schemaCode} characters` };
    made.addKeyword({ keyword, type: 'string', schemaType: 'number', error, compile: (limit: number) => (text: string) => fits(text, limit) });
  }
  loaded = made;
  return made;
}

const LENGTHS: readonly [keyword: string, fits: (text: string, limit: number) => boolean, word: string][] = [
  ['maxLength', hasAtMost, 'more'],
  ['minLength', hasAtLeast, 'fewer'],
];

/** Checks values against one schema. */
export interface Validator<T> {
  /** Throws INVALID_REQUEST naming the first wrong field. */
  (value: unknown): asserts value is T;
  /** Reads the schema now, so that the first check does not wait for it. */
  prepare(): void;
}

/** A validator for a schema, whose type is `T`. */
export function compile<T = unknown>(schema: object): Validator<T> {
  let known: ValidateFunction | undefined;
  let parts: Parts | undefined;
  let accepts: Accepts | undefined;
  const prepare = (): Accepts => {
    accepts ??= acceptsOf(schema) ?? (() => false);
    return accepts;
  };
  const compiled = (): ValidateFunction => {
    parts ??= inParts(schema);
    known ??= ajv().compile(parts);
    return known;
  };
  const check = (value: unknown): asserts value is T => {
    if ((accepts ?? prepare())(value)) return; // yes-first
    const validate = known ?? compiled();
    if (validate(value)) return;
    throw describe(mostTelling(validate.errors ?? []), parts?.$defs ?? {});
  };
  return Object.assign(check, { prepare: () => void prepare() });
}

type Schema = Readonly<Record<string, unknown>>;

/** A schema whose larger objects stand in `$defs`. */
interface Parts extends Schema {
  readonly $defs: Readonly<Record<string, Schema>>;
}

/** An object with this many fields becomes a function of its own (small-functions). */
const LARGE_OBJECT = 8;
const DEFS = '#/$defs/';

function inParts(schema: object): Parts {
  const defs: Record<string, Schema> = {};
  const part = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(part);
    if (!isObject(value)) return value;
    const copy = mapValues(value, part);
    if (value['type'] !== 'object' || Object.keys(asProperties(value['properties'])).length < LARGE_OBJECT) return copy;
    const name = String(Object.keys(defs).length);
    defs[name] = copy;
    return { $ref: `${DEFS}${name}` };
  };
  return { ...mapValues(schema, part), $defs: defs };
}

function mapValues(values: object, change: (value: unknown) => unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]));
}

/** A list that is too long matched in its type, so it tells more than an alternative of another type. */
const WEIGHTS: Readonly<Record<string, number>> = { required: 0, maxItems: 0.625, additionalProperties: 0.75 };

/**
 * Chooses the fault to report when none of several alternatives matches: the deepest one, because its alternative was probably meant. Among
 * equally deep faults a missing field comes last, because every alternative that was not meant lacks some field, and an unknown field first, because
 * its alternative has at least the right type.
 */
function mostTelling(faults: readonly ErrorObject[]): ErrorObject | undefined {
  const leaves = faults.filter((fault) => fault.keyword !== 'anyOf');
  const weight = (fault: ErrorObject): number => fault.instancePath.length + (wantsNull(fault) ? -0.5 : (WEIGHTS[fault.keyword] ?? 0.5));
  return leaves.reduce<ErrorObject | undefined>((best, fault) => (best !== undefined && weight(best) >= weight(fault) ? best : fault), undefined);
}

/** True for "must be null", the alternative that was probably not meant. */
function wantsNull({ keyword, params }: ErrorObject): boolean {
  return keyword === 'type' && params['type'] === 'null';
}

function describe(fault: ErrorObject | undefined, defs: Parts['$defs']): BlockhouseError {
  if (fault === undefined) return new BlockhouseError('INVALID_REQUEST', 'The request is invalid.');
  const path = toPath(fault.instancePath, fieldOf(fault));
  const message = wording(fault, defs);
  return new BlockhouseError('INVALID_REQUEST', `${path === '' ? 'The body' : path} ${message}.`, { details: [{ path, message }] });
}

/** The faulty key, for faults that Ajv reports at the object around it. */
function fieldOf(fault: ErrorObject): string | undefined {
  if (fault.keyword === 'required') return fault.params['missingProperty'] as string;
  if (fault.keyword === 'additionalProperties') return fault.params['additionalProperty'] as string;
  return undefined;
}

/** In characters. A longer key is cut off in errors and gets no suggestion, because its sender chooses how long it is. */
const MAX_SHOWN_KEY = 64;

/** `/messages/0/role` → `messages[0].role`. */
function toPath(pointer: string, field: string | undefined): string {
  const keys = pointer
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
  if (field !== undefined) keys.push(field);
  return keys.reduce((path, key) => {
    const shown = key.length > MAX_SHOWN_KEY ? `${key.slice(0, MAX_SHOWN_KEY)}…` : key;
    if (/^\d+$/.test(shown)) return `${path}[${shown}]`;
    return path === '' ? shown : `${path}.${shown}`;
  }, '');
}

function wording(fault: ErrorObject, defs: Parts['$defs']): string {
  switch (fault.keyword) {
    case 'required':
      return 'is required';
    case 'additionalProperties': {
      const properties = asProperties(fault.parentSchema?.['properties']);
      const meant = meantField(String(fault.params['additionalProperty']), properties, defs);
      return `is not a known field${meant === undefined ? '' : ` (did you mean ${meant}?)`}; the fields here are ${Object.keys(properties).join(', ')}`;
    }
    case 'type':
      return `must be ${article(String(fault.params['type']))}, not ${kindOf(fault.data)}`;
    case 'enum':
      return `must be one of ${(fault.params['allowedValues'] as unknown[]).join(', ')}`;
    case 'pattern':
      return fault.data === '' ? 'must not be empty' : `does not have the allowed form (${ruleOf(fault)})`;
    case 'minItems':
    case 'minLength':
      return 'must not be empty';
    default:
      return (fault.message ?? 'is not valid').replace(/^must NOT have more than/, 'must not have more than');
  }
}

type Properties = Readonly<Record<string, { readonly properties?: unknown; readonly $ref?: string }>>;

function asProperties(value: unknown): Properties {
  return isObject(value) ? (value as Properties) : {};
}

/** The known field with the same name in camel case, here or one level deeper: `max_tokens` beside `messages` means `config.maxTokens`. */
function meantField(key: string, properties: Properties, defs: Parts['$defs']): string | undefined {
  if (key.length > MAX_SHOWN_KEY) return undefined;
  const camel = key.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());
  if (Object.hasOwn(properties, camel)) return camel;
  const fieldsOf = ({ $ref, properties: fields }: Properties[string]): Properties =>
    asProperties($ref === undefined ? fields : defs[$ref.slice(DEFS.length)]?.['properties']);
  const holder = Object.keys(properties).find((name) => Object.hasOwn(fieldsOf(properties[name] ?? {}), camel));
  return holder === undefined ? undefined : `${holder}.${camel}`;
}

/** A description says what a pattern allows in words; a pattern alone is hard to read. */
function ruleOf({ parentSchema, params }: ErrorObject): string {
  const { description } = (parentSchema ?? {}) as { readonly description?: string };
  return description ?? `pattern ${String(params['pattern'])}`;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'number' && !Number.isInteger(value)) return 'a fractional or infinite number';
  return article(typeof value);
}

function article(noun: string): string {
  return /^[aeiou]/.test(noun) ? `an ${noun}` : `a ${noun}`;
}

/** The text of a validation error without "body", such as `budget.warnAt must be a number`. */
export function faultOf(error: unknown): string {
  const detail = error instanceof BlockhouseError ? error.details?.[0] : undefined;
  if (detail === undefined) return (error as Error).message;
  return detail.path === '' ? `it ${detail.message}` : `${detail.path} ${detail.message}`;
}
