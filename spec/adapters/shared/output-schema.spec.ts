import { transformJSONSchema } from '@anthropic-ai/sdk/lib/transform-json-schema';
import t from 'tap';
import { outputSchema } from '../../../adapters/shared/output-schema.ts';

const string = { type: 'string' };
const SCHEMAS: Readonly<Record<string, object>> = {
  'limits of numbers, which some libraries write for every integer': {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    properties: { n: { type: 'integer', minimum: -9007199254740991, maximum: 9007199254740991, description: 'A count' }, s: { ...string, minLength: 1 } },
    required: ['n'],
    additionalProperties: false,
  },
  'literals and alternatives': {
    type: 'object',
    properties: {
      kind: { type: 'string', enum: ['a', 'b'] },
      only: { type: 'string', const: 'x' },
      either: { oneOf: [string, { type: 'null' }], default: null },
      all: { allOf: [{ type: 'object', properties: { a: string } }] },
    },
  },
  'formats and lists': {
    type: 'object',
    properties: {
      at: { ...string, format: 'date-time' },
      odd: { ...string, pattern: '^\\+', format: 'phone' },
      some: { type: 'array', items: { type: 'integer', multipleOf: 2 }, minItems: 1 },
      many: { type: 'array', items: string, maxItems: 9, uniqueItems: true, minItems: 2 },
    },
  },
  references: { $defs: { node: { type: 'object', properties: { v: { type: 'number', minimum: 0 } } } }, $ref: '#/$defs/node' },
  'types that are a list': { type: 'object', properties: { a: { type: ['string', 'null'], maxLength: 3 } } },
  'objects that are open': { type: 'object', properties: { __proto__: string }, title: 'Open' },
};

for (const [title, schema] of Object.entries(SCHEMAS)) {
  t.test(`${title} are sent as the official client sends them`, async (t) => {
    t.same(outputSchema(schema as Record<string, unknown>).schema, transformJSONSchema(schema as Parameters<typeof transformJSONSchema>[0]));
  });
}

t.test('a restriction that is only described is warned of, and nothing else is', async (t) => {
  const fieldsOf = (schema: Record<string, unknown>) => outputSchema(schema).warnings;
  t.match(fieldsOf({ type: 'object', properties: { n: { type: 'integer', minimum: 1 }, s: { ...string, pattern: 'x' } } }), [
    { field: 'config.output', message: /only reads them: minimum, pattern\./ },
  ]);
  t.same(fieldsOf({ $schema: 'x', type: 'object', properties: { a: { ...string, default: 'b' } }, additionalProperties: false }), []);
});

t.test('an object of any properties and a map become closed, which is warned of', async (t) => {
  t.match(outputSchema({ type: 'object' }), { schema: { properties: {}, additionalProperties: false }, warnings: [{ message: /additionalProperties/ }] });
  const { schema, warnings } = outputSchema({ type: 'object', additionalProperties: { type: 'string' } });
  t.match(schema, { type: 'object', properties: {}, additionalProperties: false, description: /additionalProperties/ });
  t.match(warnings, [{ message: /additionalProperties/ }]);
});

t.test('an object that may be null keeps its properties', async (t) => {
  const schema = { type: ['object', 'null'], properties: { a: string }, required: ['a'] };
  t.same(outputSchema(schema).schema, { ...schema, additionalProperties: false });
});

t.test('definitions of older drafts stay, and what is given is not changed', async (t) => {
  const schema = { definitions: { a: { type: 'integer', minimum: 1 } }, $ref: '#/definitions/a' };
  const before = structuredClone(schema);
  t.same(outputSchema(schema).schema, { definitions: { a: { type: 'integer', description: '{minimum: 1}' } }, $ref: '#/definitions/a' });
  t.same(schema, before);
});

t.test('a keyword that every object inherits is described like any other one', async (t) => {
  const { schema } = outputSchema({ type: 'object', properties: { a: { ...string, constructor: [string], toString: [string] } } });
  t.match(schema['properties'], { a: { type: 'string', description: /constructor.*toString/ } });
});
