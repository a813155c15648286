import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import t from 'tap';
import { MODULES } from '../../../cli/checks.ts';
import { checkOf, DEFS, inParts, nameOf, notedSchemas } from '../../../core/schemas/checks.ts';
import { ChatRequest } from '../../../core/schemas/chat.ts';
import { compile } from '../../../core/schemas/validate.ts';
import { addressOf } from '../../support/node-args.ts';
import { sample } from '../../support/sweep.ts';

const BUILT = resolve(import.meta.dirname, '../../../dist/checks');
const load = createRequire(import.meta.url);
const TEXTS = ['', 'a', 'x'.repeat(65), '\u{1f600}'.repeat(40), 'read', 'ollama', '2026-01-01T00:00:00.000Z'];

/** Values that are near to what a schema describes: right in most of it, and wrong in one place. */
function nearTo(schema: unknown, depth = 0): unknown[] {
  const { type, properties, items, anyOf, enum: words, const: only } = schema as Readonly<Record<string, unknown>>;
  if (only !== undefined) return [only, null];
  if (Array.isArray(words)) return [words[0], 'none of them'];
  if (Array.isArray(anyOf)) return anyOf.flatMap((each) => nearTo(each, depth + 1).slice(0, 3));
  if (type === 'string') return TEXTS;
  if (type === 'integer' || type === 'number') return [1, -1, 0.5, 1e12, '1'];
  if (type === 'boolean') return [true, 'true'];
  if (type === 'array') return [[], {}, ...(depth > 6 ? [] : nearTo(items, depth + 1).map((each) => [each]))];
  if (type !== 'object' || typeof properties !== 'object' || properties === null || depth > 6) return [{}, [], null];
  const fields = Object.entries(properties).map(([name, inner]) => [name, nearTo(inner, depth + 1)] as const);
  const whole = Object.fromEntries(fields.map(([name, [first]]) => [name, first]));
  const changed = fields.flatMap(([name, values]) => values.slice(1).map((value) => ({ ...whole, [name]: value })));
  const without = fields.map(([name]) => Object.fromEntries(Object.entries(whole).filter(([other]) => other !== name)));
  return [whole, {}, { ...whole, max_tokens: 1 }, ...without, ...changed];
}

t.test('each check that the build has made is of a schema of today, and finds the same as one that is compiled', async (t) => {
  await Promise.all(MODULES.map((path) => import(addressOf(path))));
  const schemas = new Map(notedSchemas().map((schema) => [nameOf(schema), schema]));
  const files = readdirSync(BUILT).filter((name) => name !== 'names.cjs');
  t.ok(files.length > 70);
  let values = 0;
  let faults = 0;
  const names = files.map((file) => file.replace('.cjs', '')).sort();
  for (const name of names) if (!schemas.has(name)) t.fail(`${name} is the check of no schema; build again`);
  for (const name of sample(names, 8, 0)) {
    const schema = schemas.get(name) ?? {};
    const [made, compiled] = [checkOf(schema), checkOf(schema, true)];
    t.equal(made, load(join(BUILT, `${name}.cjs`)));
    for (const value of nearTo(schema)) {
      values += 1;
      if (made(value) !== compiled(value)) return t.fail(JSON.stringify({ value, errors: [made.errors, compiled.errors] }));
      if (made.errors !== null) faults += 1;
      t.strictSame(made.errors, compiled.errors);
    }
  }
  t.ok(faults > 100 && values - faults > 20, `${faults} of ${values} values are refused`);
});

t.test('a schema that the build does not know is compiled, and one that differs in a word is another', async (t) => {
  const schema = { type: 'object', properties: { a: { type: 'string', maxLength: 2 } }, required: ['a'] };
  const check = checkOf(schema);
  t.ok(check({ a: 'xy' }));
  t.notOk(check({ a: 'xyz' }));
  t.match(check.errors, [{ keyword: 'maxLength', message: 'must NOT have more than 2 characters', data: 'xyz', parentSchema: schema.properties.a }]);
  t.not(nameOf(schema), nameOf({ ...schema, required: [] }));
  t.equal(nameOf(schema), nameOf(structuredClone(schema)));
});

t.test('characters are counted, not units', async (t) => {
  const check = checkOf({ type: 'string', minLength: 2, maxLength: 3 });
  const smile = '\u{1f600}';
  t.strictSame(
    [1, 2, 3, 4].map((count) => check(smile.repeat(count))),
    [false, true, true, false],
  );
  t.strictSame(
    ['a', 'ab', 'abc', 'abcd'].map((text) => check(text)),
    [false, true, true, false],
  );
});

t.test('a large object is a part, which a reference names', async (t) => {
  const parts = inParts(ChatRequest);
  t.ok(Object.keys(parts.$defs).length > 0);
  t.match(JSON.stringify(parts.properties), `"$ref":"${DEFS}0"`);
  t.notMatch(JSON.stringify(inParts({ type: 'object', properties: { a: {} } })), '$ref');
});

t.test('a validator is noted for the build', async (t) => {
  const schema = { type: 'boolean' };
  compile(schema);
  t.ok(notedSchemas().includes(schema));
  t.match(readFileSync(join(BUILT, 'names.cjs'), 'utf8'), nameOf(ChatRequest));
});
