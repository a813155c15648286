import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import t from 'tap';
import { acceptsOf, hasAtLeast, hasAtMost } from '../../../core/schemas/accepts.ts';
import { schemas } from '../../../core/index.ts';
import { isObject } from '../../../core/base/json.ts';
import { sample, sweep } from '../../support/sweep.ts';

type Schema = Readonly<Record<string, unknown>>;

const ALL = Object.entries<unknown>({ ...schemas, ...schemas.frames }).filter(
  (entry): entry is [string, Schema] => isObject(entry[1]) && ('type' in entry[1] || 'anyOf' in entry[1]),
);

const judge = new Ajv({
  strict: true,
  strictTypes: false,
  strictRequired: false,
  validateSchema: false,
  meta: false,
  inlineRefs: false,
  code: { optimize: false },
});

const FIELDS = { type: 'object', required: ['a'], properties: { a: { type: 'string' }, b: { type: 'integer' } } };

/** For each keyword, values on both sides of it. */
const CASES: readonly (readonly [schema: Schema, values: readonly unknown[]])[] = [
  [{ description: 'd', default: 1 }, [1, 'x', null, {}]],
  ...['string', 'boolean', 'null', 'number', 'integer', 'array', 'object'].map(
    (type) => [{ type }, ['', 'x', true, false, null, 0, -0, 1.5, 1e300, Number.NaN, Number.POSITIVE_INFINITY, [], {}, undefined]] as const,
  ),
  [{ const: 'x' }, ['x', 'y', null]],
  [{ const: 0 }, [0, -0, false, '']],
  [{ enum: ['a', null, 1] }, ['a', 'b', null, 1, '1', undefined]],
  [{ anyOf: [{ type: 'null' }, { type: 'string', minLength: 2 }] }, [null, 'a', 'ab', 1]],
  [{ type: 'number', minimum: 0, maximum: 1 }, [-0.1, 0, -0, 0.5, 1, 1.1]],
  [{ minimum: 1 }, [0, 1, 'x', null]],
  [{ type: 'array', minItems: 1, maxItems: 2, items: { type: 'string' } }, [[], ['a'], ['a', 1], ['a', 'b'], ['a', 'b', 'c']]],
  [{ type: 'array', uniqueItems: true, items: { type: 'string' } }, [[], ['a', 'b'], ['a', 'a']]],
  [{ type: 'object', minProperties: 1, maxProperties: 2 }, [{}, { a: 1 }, { a: 1, b: 1 }, { a: 1, b: 1, c: 1 }]],
  [{ type: 'string', maxLength: 3, pattern: '^.{2}$' }, ['a', 'ab', '😀😀', '😀', 'abcd']],
  [FIELDS, [{}, { a: 'x' }, { a: 1 }, { a: 'x', b: 1.5 }, { a: 'x', c: 1 }, { a: undefined }, { a: 'x', b: undefined }]],
  [{ ...FIELDS, additionalProperties: false }, [{ a: 'x' }, { a: 'x', c: 1 }, { a: 'x', c: undefined }, JSON.parse('{"a":"x","__proto__":1}')]],
  [
    { ...FIELDS, additionalProperties: { type: 'null' } },
    [
      { a: 'x', c: null },
      { a: 'x', c: 1 },
    ],
  ],
  [{ type: 'object', additionalProperties: { type: 'null' } }, [{}, { c: null }, { c: 1 }]],
  [{ type: 'object', required: ['toString'] }, [JSON.parse('{"toString":1}')]],
];

t.test('each keyword means what it means to Ajv', async (t) => {
  for (const [schema, values] of CASES) {
    const [accepts, expected] = [acceptsOf(schema), judge.compile(schema)];
    for (const value of values) t.equal(accepts?.(value), expected(value), `${JSON.stringify(schema)} ${JSON.stringify(value)}`);
  }
});

t.test('what only Ajv understands is left to it', async (t) => {
  const left: unknown[] = [
    { type: 'text' },
    { type: ['string', 'null'] },
    { type: 'constructor' },
    { format: 'uri' },
    { $ref: '#' },
    { oneOf: [{}] },
    { patternProperties: {} },
    { const: {} },
    { enum: [[]] },
    { items: [{ type: 'string' }] },
    { anyOf: [{ not: {} }] },
    { properties: { a: { not: {} } } },
    { properties: JSON.parse('{"__proto__":{}}') },
    { properties: [] },
    { required: 'a' },
    { required: [1] },
    { anyOf: {} },
    { enum: [] },
    { minimum: '1' },
    { maxLength: null },
    { uniqueItems: 'yes' },
    { pattern: 1 },
    { additionalProperties: { not: {} } },
    false,
    null,
  ];
  for (const schema of left) t.equal(acceptsOf(schema), undefined, JSON.stringify(schema));
});

t.test('never-more: an object whose fields are not its own is left to Ajv', async (t) => {
  class Getter {
    get b(): number {
      return 1.5;
    }
    a = 'x';
  }
  const { type: _, ...untyped } = FIELDS;
  for (const accepts of [FIELDS, untyped].map(acceptsOf)) {
    for (const value of [new Getter(), Object.assign(Object.create({ b: 1.5 }), { a: 'x' }), Object.create({ a: 'x' })]) t.equal(accepts?.(value), false);
    t.equal(accepts?.(Object.assign(Object.create(null), { a: 'x' })), true, 'as what has no prototype is none');
  }
  t.equal(acceptsOf({ type: 'array', uniqueItems: true })?.([{}, []]), false, 'and so is a list whose items have to be compared deeply');
});

t.test('counted-when-long: a text is as long as it has characters, whatever their units', async (t) => {
  for (const text of ['', 'a', '😀', 'ab', 'a😀', '😀😀', 'abc', '😀😀😀', 'a\ud83d', 'abcd', 'ab\ud83d\udc00\ud83d', 'é'.repeat(4)]) {
    const { length } = [...text];
    for (const limit of [0, 1, 2, 3, 4])
      t.same([hasAtMost(text, limit), hasAtLeast(text, limit)], [length <= limit, length >= limit], `${JSON.stringify(text)} ${limit}`);
  }
});

t.test('no schema of ours is left to Ajv', async (t) => {
  t.ok(ALL.length > 40, `${ALL.length} schemas`);
  for (const [name, schema] of ALL) t.type(acceptsOf(schema), 'function', name);
});

/** Numbers from 0 to 1 that a seed repeats. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Each keyword with an argument that it takes. */
const KNOWN: Schema = Object.assign({}, ...CASES.map(([schema]) => schema));

const ODD = ['', 'x', 'a b', '\n', '😀', null, true, 0, -1, 1.5, 1e9, [], {}, ['x'], { x: 1 }];

/** A value that a schema may have meant, now and then with a fault. */
function valueFor(schema: Schema, random: () => number): unknown {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  if (random() < 0.03) return pick(ODD);
  const { anyOf, enum: list, const: only, type, minimum = 0, minItems = 0, required = [], default: given } = schema;
  const properties = (schema['properties'] ?? {}) as Record<string, Schema>;
  if (anyOf !== undefined) return valueFor(pick(anyOf as Schema[]), random);
  if (only !== undefined) return only;
  if (list !== undefined) return pick(list as unknown[]);
  if (given !== undefined && random() < 0.3) return given;
  if (type === 'string') return pick(['a', 'ab', 'a-b', 'a/b', 'eu-west-1', '2026-11-20T10:00:00.000Z', 'x'.repeat(300), ...ODD.slice(0, 5)]);
  if (type === 'integer' || type === 'number') return Number(minimum) + pick([0, 0, 1, 5, 0.5, -1]);
  if (type === 'boolean') return random() < 0.5;
  if (type === 'null') return null;
  if (type === 'array') return Array.from({ length: Number(minItems) + Math.floor(random() * 3) }, () => valueFor((schema['items'] ?? {}) as Schema, random));
  if (type !== 'object') return pick(ODD);
  const names = Object.keys(properties).filter((name) => random() < ((required as string[]).includes(name) ? 0.98 : 0.3));
  const fields = names.map((name) => [name, valueFor(properties[name] ?? {}, random)] as const);
  const rest = isObject(schema['additionalProperties']) ? schema['additionalProperties'] : {};
  return Object.fromEntries([...fields, ...(random() < 0.1 ? [[pick(['x', 'constructor', 'a-b']), valueFor(rest, random)] as const] : [])]);
}

/** `npm test` takes these of our schemas, which have all keywords, and some of the others. */
const WITH_ALL_KEYWORDS = ['ChatRequest', 'CreateBlock', 'CreateKey', 'Decide', 'SetCredential'];

t.test('each schema of ours accepts what Ajv accepts, and nothing else', async (t) => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  t.comment(`seed ${seed}`);
  const random = randomFrom(seed);
  const counts = { right: 0, wrong: 0 };
  const taken = new Set([...sample(ALL, 40, 7).map(([name]) => name), ...WITH_ALL_KEYWORDS]);
  for (const [name, schema] of ALL.filter(([name]) => taken.has(name))) {
    const [accepts, expected] = [acceptsOf(schema), judge.compile(schema)];
    for (let n = 0; n < sweep(2000, 60); n += 1) {
      const value = valueFor(schema, random);
      const isRight = expected(value);
      counts[isRight ? 'right' : 'wrong'] += 1;
      if (accepts?.(value) !== isRight) t.fail(`${name} ${JSON.stringify(value)}: Ajv says ${isRight}`);
    }
  }
  t.ok(counts.right > 50 && counts.wrong > 50, JSON.stringify(counts));
});

t.test('never-more: of schemas that a server has made up, those that have a check are compiled by Ajv, and accept no more than it does', async (t) => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  t.comment(`seed ${seed}`);
  const random = randomFrom(seed);
  const lenient = new Ajv2020({ strict: false, validateSchema: false, logger: false, addUsedSchema: false, inlineRefs: false, code: { optimize: false } });
  const counts = { understood: 0, left: 0 };
  for (let n = 0; n < sweep(20_000, 300); n += 1) {
    const [base, values] = CASES[Math.floor(random() * CASES.length)] as (typeof CASES)[number];
    const name = Object.keys(KNOWN)[Math.floor(random() * Object.keys(KNOWN).length)] ?? '';
    const schema = { ...base, [name]: random() < 0.5 ? KNOWN[name] : ODD[Math.floor(random() * ODD.length)] };
    const accepts = acceptsOf(schema);
    counts[accepts === undefined ? 'left' : 'understood'] += 1;
    if (accepts === undefined) continue;
    const expected = lenient.compile(schema);
    for (const value of [...values, ...ODD]) if (accepts(value) && !expected(value)) t.fail(`${JSON.stringify(schema)} ${JSON.stringify(value)}`);
  }
  t.ok(counts.understood > 50 && counts.left > 50, JSON.stringify(counts));
});
