// The published document, and a judge of values by its schemas.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

export const published = JSON.parse(readFileSync(resolve(import.meta.dirname, '../openapi.json'), 'utf8')) as Document;

interface Document {
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: Record<'schemas' | 'examples' | 'responses' | 'securitySchemes', Record<string, object>>;
}
interface Operation {
  readonly requestBody?: Content;
  readonly responses: Record<string, Partial<Content>>;
}
interface Content {
  readonly content: Record<string, { readonly schema: object }>;
}

/** Unknown fields of these are kept, so an answer may have any. */
const OPEN = ['BlockConfigFile', 'BlockConfigPatch'];

/** A copy in which no object may have a field that the document does not describe. */
function closed(value: unknown, name = ''): unknown {
  if (typeof value !== 'object' || value === null || OPEN.includes(name)) return value;
  if (Array.isArray(value)) return value.map((item) => closed(item));
  const copy = Object.fromEntries(Object.entries(value).map(([key, part]) => [key, closed(part, key)]));
  return 'properties' in copy && !('additionalProperties' in copy) ? { ...copy, additionalProperties: false } : copy;
}

const judged = closed(published) as object;
const ajv = new Ajv2020({ strict: false, allErrors: true, inlineRefs: false, code: { optimize: false } });
ajv.addSchema(judged, 'openapi');

/** By pointer, and by text: hundreds of answers have the same schema, whose references all begin at the document. Compiling one takes some milliseconds. */
const validators = new Map<string, ValidateFunction>();

function validatorAt(pointer: string): ValidateFunction {
  let part: unknown = judged;
  for (const key of keysOf(pointer)) part = (part as Record<string, unknown> | undefined)?.[key];
  const text = JSON.stringify(part);
  const validate = part === undefined ? undefined : (validators.get(text) ?? ajv.getSchema(`openapi#${pointer}`));
  if (validate === undefined) throw new Error(`the document has nothing at ${pointer}`);
  validators.set(text, validate).set(pointer, validate);
  return validate;
}

/** The faults of a value against a schema of the document, fields that it does not describe among them; none is good. */
export function faults(pointer: string, value: unknown): unknown[] {
  const validate = validators.get(pointer) ?? validatorAt(pointer);
  void validate(value);
  return validate.errors ?? [];
}

const keysOf = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((key) => decodeURIComponent(key).replaceAll('~1', '/').replaceAll('~0', '~'));

export function pointerTo(...keys: string[]): string {
  return keys.map((key) => `/${encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'))}`).join('');
}
