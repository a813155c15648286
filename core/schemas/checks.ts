// Makes the function that checks values against one of our schemas: the one that the build has made of it, or by compiling it with Ajv now.
// Pure, but for the files of the build.
//
// small-functions: Ajv makes one function of a schema, and V8 leaves a very long one unoptimised, which made the check of a chat request ten times as
//   slow. So each larger object of a schema becomes a function of its own.
// counted-when-long: Ajv counts the characters of every text that has a limit, which takes a tenth of a second for an image of 30 MB. A text is counted only
//   when its length in UTF-16 units alone does not say whether it fits.
// made-ahead: to load Ajv and compile the schema of a chat request takes a third as long as a whole start. So the build writes the checks of all schemas into
//   `dist/checks` (cli/build-checks.ts). A file has the name of its schema's text, so one of another schema is never taken; where there is none, the schema is compiled.
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import type { Ajv as AjvType, CodeOptions, KeywordCxt, Name, ValidateFunction } from 'ajv';
import { isObject } from '../base/json.ts';

/** Ajv and the files of the build are loaded with the first check, so that a server starts faster; some servers never need them. */
const load = createRequire(import.meta.url);
/** Where the build puts its files: seen from the program, from the modules that other programs import, and from the source. */
const PLACES = ['../checks', '../../checks', '../../dist/checks'];

type Schema = Readonly<Record<string, unknown>>;

/** A schema whose larger objects stand in `$defs`. */
export interface Parts extends Schema {
  readonly $defs: Readonly<Record<string, Schema>>;
}

/** Of all validators of this process, for the build. */
const schemas = new Set<object>();
let loaded: AjvType | undefined;
let made: ReadonlySet<string> | undefined;
let place = '';

/** Says that a validator has been made of this schema. */
export function noteSchema(schema: object): void {
  schemas.add(schema);
}

/** The schemas of all validators that were made so far. */
export function notedSchemas(): readonly object[] {
  return [...schemas];
}

/** The function that checks values against a schema. With `isCompiled`, what the build has made is not looked at. */
export function checkOf(schema: object, isCompiled = false): ValidateFunction {
  const name = isCompiled ? '' : nameOf(schema);
  if (!isCompiled && filesOfBuild().has(name)) return load(`${place}/${name}.cjs`) as ValidateFunction; // made-ahead
  loaded ??= newAjv();
  return loaded.compile(inParts(schema));
}

/** The name of the file in which a build keeps the check of a schema. */
export function nameOf(schema: object): string {
  return createHash('sha256').update(JSON.stringify(schema)).digest('hex').slice(0, 16);
}

function filesOfBuild(): ReadonlySet<string> {
  if (made !== undefined) return made;
  for (const each of PLACES) {
    try {
      made = new Set(load(`${each}/names.cjs`) as readonly string[]);
      place = each;
      return made;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error;
    }
  }
  made = new Set();
  return made;
}

/** An Ajv with our options and keywords. */
export function newAjv(code: CodeOptions = {}): AjvType {
  const { Ajv, str, _ } = load('ajv') as typeof import('ajv');
  // Only the first fault: a hostile body could make collecting all of them slow.
  // The schemas are our own constants; checking them against the metaschema would double the time of the first check.
  const ajv = new Ajv({
    allErrors: false,
    strict: true,
    strictTypes: false,
    strictRequired: false,
    verbose: true,
    messages: true,
    validateSchema: false,
    meta: false,
    inlineRefs: false, // small-functions
    code: { optimize: false, ...code }, // shortening its code takes Ajv two fifths of the time, and V8 makes the same of both
  });
  // counted-when-long. A character has one or two units.
  const lengths = {
    maxLength: {
      word: 'more',
      isWrong: (text: Name, limit: KeywordCxt['schemaCode']) =>
        _`${text}.length > ${limit} && (${text}.length > ${limit} * 2 || [...${text}].length > ${limit})`,
    },
    minLength: {
      word: 'fewer',
      isWrong: (text: Name, limit: KeywordCxt['schemaCode']) =>
        _`${text}.length < ${limit} || (${text}.length < ${limit} * 2 && [...${text}].length < ${limit})`,
    },
  };
  for (const [keyword, { word, isWrong }] of Object.entries(lengths)) {
    const error = { message: ({ schemaCode }: Pick<KeywordCxt, 'schemaCode'>) => str`must NOT have ${word} than ${schemaCode} characters` };
    ajv.removeKeyword(keyword);
    ajv.addKeyword({ keyword, type: 'string', schemaType: 'number', error, code: (cxt: KeywordCxt) => cxt.fail(isWrong(cxt.data, cxt.schemaCode)) });
  }
  return ajv;
}

/** An object with this many fields becomes a function of its own (small-functions). */
const LARGE_OBJECT = 8;
/** What a reference to a part begins with. */
export const DEFS = '#/$defs/';

/** A schema with its parts, as it is compiled. */
export function inParts(schema: object): Parts {
  const defs: Record<string, Schema> = {};
  const part = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(part);
    if (!isObject(value)) return value;
    const copy = mapValues(value, part);
    const { type, properties } = value as { readonly type?: unknown; readonly properties?: unknown };
    if (type !== 'object' || !isObject(properties) || Object.keys(properties).length < LARGE_OBJECT) return copy;
    const name = String(Object.keys(defs).length);
    defs[name] = copy;
    return { $ref: `${DEFS}${name}` };
  };
  return { ...mapValues(schema, part), $defs: defs };
}

function mapValues(values: object, change: (value: unknown) => unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]));
}
