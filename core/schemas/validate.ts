// Turns what is wrong with a value into a 400 that names the field and the cure. Each schema has its check at its first use (`checks.ts`). Pure: no I/O.
import type { ErrorObject, ValidateFunction } from 'ajv';
import { isObject } from '../base/json.ts';
import { BlockhouseError } from '../errors.ts';
import { checkOf, DEFS, inParts, noteSchema, type Parts } from './checks.ts';

/** Checks values against one schema. */
export interface Validator<T> {
  /** Throws INVALID_REQUEST naming the first wrong field. */
  (value: unknown): asserts value is T;
  /** Makes the check now, so that the first value does not wait for it. */
  prepare(): void;
}

/** A validator for a schema, whose type is `T`. Its check is made with the first value, or by `prepare`. */
export function compile<T = unknown>(schema: object): Validator<T> {
  let known: ValidateFunction | undefined;
  let parts: Parts | undefined;
  noteSchema(schema);
  const prepared = (): ValidateFunction => {
    known ??= checkOf(schema);
    return known;
  };
  const check = (value: unknown): asserts value is T => {
    const validate = known ?? prepared();
    if (validate(value)) return;
    parts ??= inParts(schema);
    throw describe(mostTelling(validate.errors ?? []), parts.$defs);
  };
  return Object.assign(check, { prepare: () => void prepared() });
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
