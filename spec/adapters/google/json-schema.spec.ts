import t from 'tap';
import { cleanSchema } from '../../../adapters/google/json-schema.ts';
import { parseJson } from '../../../core/base/json.ts';

const UNSUPPORTED = ['allOf', 'not', 'if', 'then', 'else', 'patternProperties', 'dependentSchemas'];

const table: { fact: string; given: Record<string, unknown>; want: Record<string, unknown>; dropped?: string[] }[] = [
  {
    fact: 'supported keywords pass unchanged',
    given: {
      type: 'object',
      required: ['a'],
      properties: { a: { type: ['string', 'null'], format: 'date', title: 'A', enum: ['x', 'y'] } },
      propertyOrdering: ['a'],
    },
    want: {
      type: 'object',
      required: ['a'],
      properties: { a: { type: ['string', 'null'], format: 'date', title: 'A', enum: ['x', 'y'] } },
      propertyOrdering: ['a'],
    },
  },
  { fact: 'const becomes an enum of one', given: { const: 'x' }, want: { enum: ['x'] } },
  {
    fact: 'null is no member of an enum: its type says it',
    given: { type: ['string', 'null'], enum: ['a', null] },
    want: { type: ['string', 'null'], enum: ['a'] },
  },
  { fact: 'a member that Gemini refuses is left out and named', given: { enum: ['', 'a', 1] }, want: { enum: ['a', 1] }, dropped: ['enum'] },
  {
    fact: 'an enum without members that it takes is left out and named',
    given: { type: 'boolean', const: true },
    want: { type: 'boolean' },
    dropped: ['enum'],
  },
  { fact: 'an enum of null alone is left out', given: { type: 'null', enum: [null] }, want: { type: 'null' } },
  { fact: 'const wins over enum, whatever the order', given: { const: 0, enum: [0, 1] }, want: { enum: [0] } },
  { fact: 'a constraint at the root is left out and named', given: { type: 'object', not: { required: ['a'] } }, want: { type: 'object' }, dropped: ['not'] },
  {
    fact: 'every keyword outside the list is left out and named once',
    given: {
      ...Object.fromEntries(UNSUPPORTED.map((keyword) => [keyword, {}])),
      properties: { a: { pattern: 'x' }, b: { pattern: 'y', minLength: 1 } },
    },
    want: { properties: { a: {}, b: {} } },
    dropped: [...UNSUPPORTED, 'pattern', 'minLength'],
  },
  {
    fact: 'annotations are left out in silence',
    given: { $schema: 'https://json-schema.org/draft/2020-12/schema', $comment: 'c', default: 1, examples: [1], readOnly: true, 'x-ui': 'wide' },
    want: {},
  },
  { fact: 'items are cleaned', given: { items: { type: 'string', pattern: 'x' } }, want: { items: { type: 'string' } }, dropped: ['pattern'] },
  { fact: 'anyOf is cleaned', given: { anyOf: [{ const: 1 }, { multipleOf: 2 }] }, want: { anyOf: [{ enum: [1] }, {}] }, dropped: ['multipleOf'] },
  { fact: 'oneOf is cleaned', given: { oneOf: [{ uniqueItems: true }] }, want: { oneOf: [{}] }, dropped: ['uniqueItems'] },
  { fact: 'prefixItems are cleaned', given: { prefixItems: [{ const: 'a' }] }, want: { prefixItems: [{ enum: ['a'] }] } },
  { fact: '$defs are cleaned', given: { $defs: { pattern: { pattern: 'x' } } }, want: { $defs: { pattern: {} } }, dropped: ['pattern'] },
  { fact: 'additionalProperties as a schema is cleaned', given: { additionalProperties: { const: 1 } }, want: { additionalProperties: { enum: [1] } } },
  { fact: 'additionalProperties as a boolean stays', given: { additionalProperties: false }, want: { additionalProperties: false } },
  {
    fact: 'properties named like keywords stay',
    given: {
      properties: { const: { type: 'string' }, pattern: { type: 'string' }, not: { const: 1 }, $schema: {}, default: {}, definitions: { type: 'object' } },
    },
    want: {
      properties: { const: { type: 'string' }, pattern: { type: 'string' }, not: { enum: [1] }, $schema: {}, default: {}, definitions: { type: 'object' } },
    },
  },
  {
    fact: 'definitions become $defs, and references follow',
    given: { properties: { a: { $ref: '#/definitions/A' } }, definitions: { A: { const: 1 } } },
    want: { properties: { a: { $ref: '#/$defs/A' } }, $defs: { A: { enum: [1] } } },
  },
  {
    fact: 'nothing but $ stands beside a reference',
    given: { properties: { a: { $ref: '#/$defs/A', description: 'd', minItems: 1 } }, $defs: { A: {} } },
    want: { properties: { a: { $ref: '#/$defs/A' } }, $defs: { A: {} } },
    dropped: ['minItems'],
  },
  {
    fact: 'at the root other keywords may stand beside a reference',
    given: { $ref: '#/$defs/A', type: 'object', $defs: { A: {} } },
    want: { $ref: '#/$defs/A', type: 'object', $defs: { A: {} } },
  },
  {
    fact: 'a tuple in items becomes prefixItems',
    given: { items: [{ type: 'string' }, { const: 1 }] },
    want: { prefixItems: [{ type: 'string' }, { enum: [1] }] },
  },
  { fact: 'the schema true becomes an empty one', given: { properties: { a: true } }, want: { properties: { a: {} } } },
  { fact: 'the schema false becomes an empty one and is named', given: { properties: { a: false } }, want: { properties: { a: {} } }, dropped: ['false'] },
  {
    fact: 'properties that are no object are left out and named',
    given: { type: 'object', properties: [1] },
    want: { type: 'object' },
    dropped: ['properties'],
  },
];

for (const { fact, given, want, dropped } of table) {
  t.test(fact, async (t) => {
    const cleaned = cleanSchema(given);
    t.strictSame(cleaned.schema, want);
    t.strictSame([...cleaned.dropped].sort(), [...(dropped ?? [])].sort());
  });
}

t.test('the given schema is not changed', async (t) => {
  const given = { properties: { a: { const: 1, pattern: 'x' } } };
  const before = structuredClone(given);
  cleanSchema(given);
  t.strictSame(given, before);
});

t.test('a property named __proto__ stays a property and changes no prototype', async (t) => {
  const text = '{"properties":{"__proto__":{"type":"string","polluted":true}},"__proto__":{"polluted":true}}';
  const { schema, dropped } = cleanSchema(parseJson(text) as Record<string, unknown>);
  t.equal(JSON.stringify(schema), '{"properties":{"__proto__":{"type":"string"}}}');
  t.strictSame([...dropped].sort(), ['__proto__', 'polluted']);
  t.equal(({} as { polluted?: boolean }).polluted, undefined);
  t.equal(Object.getPrototypeOf(schema), Object.prototype);
});
