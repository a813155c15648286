// Warns about unknown fields of a configuration: they are kept, so a misspelt field would otherwise silently have no effect. Pure: no I/O.
import { nearest, plain } from '../../base/closest.ts';
import { isObject } from '../../base/json.ts';
import { BlockConfigFile } from '../../schemas/block-config.ts';
import type { Warning } from '../../schemas/chat.ts';

/** More unknown fields than this are not typing errors. */
const MAX_WARNINGS = 20;
/** Longer names get no suggestion. */
const MAX_NAME_CHARACTERS = 64;
const SHORTEST_PART = 4;

/** The parts of a JSON schema that the search uses. */
interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

interface UnknownField {
  /** As in JavaScript: `fallbacks[0].modle`. */
  readonly path: string;
  readonly name: string;
  /** The known fields beside it, by name, with their paths. */
  readonly known: ReadonlyMap<string, string>;
}

/** The unknown fields of a change, each with the field that was probably meant. */
export function unknownFields(patch: unknown): readonly { readonly field: string; readonly meant: string | undefined }[] {
  return unknownIn(BlockConfigFile, patch, '').map((field) => ({ field: field.path, meant: nearMiss(field) }));
}

/** One warning for each unknown field of a change, 20 at most; `place` is put before each path. */
export function configWarnings(patch: unknown, place: '' | 'config.' = ''): readonly Warning[] {
  return unknownIn(BlockConfigFile, patch, '')
    .slice(0, MAX_WARNINGS)
    .map((field) => ({ field: `${place}${field.path.slice(0, 2 * MAX_NAME_CHARACTERS)}`, message: messageFor(field, place) }));
}

function messageFor(field: UnknownField, place: string): string {
  const near = nearMiss(field);
  const question = near === undefined ? '' : ` Did you mean ${place}${near}?`;
  return `This field is unknown to this version. It was saved but has no effect.${question}`;
}

function unknownIn(schema: Schema, value: unknown, path: string): UnknownField[] {
  const { properties, items } = described(schema);
  if (Array.isArray(value)) return items === undefined ? [] : value.flatMap((element, index) => unknownIn(items, element, `${path}[${index}]`));
  if (!isObject(value) || properties === undefined) return [];
  const at = (name: string): string => (path === '' ? name : `${path}.${name}`);
  return Object.entries(value).flatMap(([name, inner]) => {
    if (Object.hasOwn(properties, name)) return unknownIn(properties[name] ?? {}, inner, at(name));
    return [{ path: at(name), name, known: new Map(Object.keys(properties).map((known) => [known, at(known)])) }];
  });
}

/** The alternative that describes an object, if the schema has several. */
function described(schema: Schema): Schema {
  return schema.anyOf?.find(({ properties }) => properties !== undefined) ?? schema;
}

/** The path of the field that was probably meant: a similar name at the same place, or else the same name elsewhere. */
function nearMiss({ name, known }: UnknownField): string | undefined {
  if (name.length > MAX_NAME_CHARACTERS) return undefined;
  const alike = nearest(name, [...known.keys()]);
  if (alike !== undefined) return known.get(alike);
  const given = plain(name);
  return NESTED.get(given) ?? [...known].find(([candidate]) => given.length >= SHORTEST_PART && plain(candidate).includes(given))?.[1];
}

/** The nested fields by plain name. */
const NESTED: ReadonlyMap<string, string> = new Map(
  Object.entries<Schema>(BlockConfigFile.properties).flatMap(([outer, schema]) =>
    Object.keys(described(schema).properties ?? {}).map((inner): [string, string] => [plain(inner), `${outer}.${inner}`]),
  ),
);
