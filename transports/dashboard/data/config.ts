// The configuration of a block as a form: which fields there are, what was changed, and what that is as a patch. Pure.
import { ownOf } from '../base/own.ts';

/** The parts of a published schema that the form uses. */
export interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** A field of the form. */
export interface ConfigField {
  /** `budget.dailyUsd`. */
  readonly path: string;
  readonly kind: 'text' | 'long' | 'number' | 'flag' | 'choice' | 'list' | 'rules' | 'json';
  readonly description: string;
  readonly isNullable: boolean;
  readonly choices: readonly string[];
  readonly least: number | undefined;
  readonly most: number | undefined;
}

export type Values = Readonly<Record<string, unknown>>;

/** Texts of several lines. */
const LONG = new Set(['systemPrompt']);

/** The fields of a schema; objects become their own fields, and lists of texts one field with a line each. In `rules`, a line may be JSON. */
export function fieldsOf(schema: Schema, prefix = ''): readonly ConfigField[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, given]): readonly ConfigField[] => {
    const isNullable = given.anyOf?.some(({ type }) => type === 'null') === true;
    const inner = isNullable ? (given.anyOf?.find(({ type }) => type !== 'null') ?? given) : given;
    const path = `${prefix}${name}`;
    if (inner.properties !== undefined) return fieldsOf(inner, `${path}.`);
    return [
      {
        path,
        kind: kindOf(name, inner),
        description: given.description ?? inner.description ?? '',
        isNullable,
        choices: inner.enum ?? [],
        least: inner.minimum,
        most: inner.maximum,
      },
    ];
  });
}

function kindOf(name: string, { type, enum: choices, items }: Schema): ConfigField['kind'] {
  if (choices !== undefined) return 'choice';
  if (type === 'boolean') return 'flag';
  if (type === 'integer' || type === 'number') return 'number';
  if (type === 'array') {
    if (items?.anyOf?.some((each) => each.type === 'string') === true) return 'rules';
    return items?.type === 'string' ? 'list' : 'json';
  }
  return LONG.has(name) ? 'long' : 'text';
}

/** The value at a path; undefined if there is none. */
export function valueAt(values: Values, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => (isObject(value) ? ownOf(value, name) : undefined), values);
}

/** The values with one changed; undefined removes it. An object stays when its last field goes, so that the patch sends it as empty. */
export function withValue(values: Values, path: string, value: unknown): Values {
  const [name = '', ...rest] = path.split('.');
  const { [name]: _old, ...others } = values;
  const old = ownOf(values, name);
  if (rest.length === 0) return value === undefined ? others : { ...values, [name]: value };
  return { ...values, [name]: withValue(isObject(old) ? old : {}, rest.join('.'), value) };
}

/** The top-level fields that differ, each as a whole, because the server merges whole fields. A removed field is `null`. */
export function patchOf(base: Values, draft: Values): Values {
  const names = new Set([...Object.keys(base), ...Object.keys(draft)]);
  return Object.fromEntries([...names].filter((name) => !isSame(ownOf(base, name), ownOf(draft, name))).map((name) => [name, ownOf(draft, name) ?? null]));
}

/** The paths of the fields whose values differ. */
export function changedPaths(fields: readonly ConfigField[], base: Values, draft: Values): readonly string[] {
  return fields.map(({ path }) => path).filter((path) => !isSame(valueAt(base, path), valueAt(draft, path)));
}

/** The settable fields of a stored configuration: what the server counts itself is left out. */
export function settable(config: Values, schema: Schema): Values {
  return Object.fromEntries(Object.entries(config).filter(([name]) => Object.hasOwn(schema.properties ?? {}, name)));
}

/** Fields that no form knows; they are kept as they are. */
export function unknownFields(config: Values, schema: Schema): Values {
  const counted = new Set(['name', 'createdAt', 'updatedAt', 'rev']);
  return Object.fromEntries(Object.entries(config).filter(([name]) => !Object.hasOwn(schema.properties ?? {}, name) && !counted.has(name)));
}

/** The paths of all values except objects, in any of these. */
export function leavesOf(all: readonly Values[], prefix = ''): readonly string[] {
  const names = new Set(all.flatMap((values) => Object.keys(values)));
  return [...names].flatMap((name) => {
    const inner = all.map((values) => ownOf(values, name)).filter(isObject);
    return inner.length > 0 ? leavesOf(inner, `${prefix}${name}.`) : [`${prefix}${name}`];
  });
}

/** Whose value of a field is taken. */
export type Side = 'mine' | 'theirs';

/** Their configuration, with my value in each differing field whose side is `mine`. */
export function merged(mine: Values, theirs: Values, differing: readonly string[], sideOf: (path: string) => Side): Values {
  return differing.filter((path) => sideOf(path) === 'mine').reduce((values, path) => withValue(values, path, valueAt(mine, path)), theirs);
}

/** The value of an empty field that can't be null, by its kind; undefined leaves the field out. */
const EMPTY: Partial<Record<ConfigField['kind'], unknown>> = { list: [], rules: [], text: '', long: '' };

/** The value of what was typed, or a text that says what is wrong. An empty field is null where its schema allows it. */
export function parsed(field: ConfigField, text: string): { readonly value: unknown } | string {
  if (text.trim() === '') return { value: field.isNullable ? null : EMPTY[field.kind] };
  switch (field.kind) {
    case 'number': {
      const value = Number(text);
      if (Number.isNaN(value)) return 'This must be a number.';
      if (field.least !== undefined && value < field.least) return `The least is ${field.least}.`;
      return field.most !== undefined && value > field.most ? `The most is ${field.most}.` : { value };
    }
    case 'list':
      return { value: text.split('\n').filter((line) => line.trim() !== '') };
    case 'rules':
      return parsedRules(text.split('\n').filter((line) => line.trim() !== ''));
    case 'json':
      return parsedJson(text);
    default:
      return { value: text };
  }
}

/** A line that begins as JSON does is JSON. */
function parsedRules(lines: readonly string[]): { readonly value: unknown } | string {
  const rules = lines.map((line) => (line.trim().startsWith('{') ? parsedJson(line) : { value: line.trim() }));
  const wrong = rules.find((each) => typeof each === 'string');
  return wrong ?? { value: rules.map((each) => (typeof each === 'string' ? each : each.value)) };
}

/** A value as it is typed. */
export function typed({ kind }: ConfigField, value: unknown): string {
  if (value === undefined || value === null) return '';
  if (kind === 'list' && Array.isArray(value)) return value.join('\n');
  if (kind === 'rules' && Array.isArray(value)) return value.map((each) => (typeof each === 'string' ? each : JSON.stringify(each))).join('\n');
  return kind === 'json' || typeof value === 'object' ? JSON.stringify(value, null, 2) : String(value);
}

/** JSON as a value, or what is wrong with it. */
export function parsedJson(text: string): { readonly value: unknown } | string {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return `This is not JSON: ${(error as Error).message}.`;
  }
}

/** Equal as JSON, whatever the order of fields. */
export function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, inner]) => [name, sorted(inner)]),
  );
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
