import t from 'tap';
import { novaSchema } from '../../../adapters/bedrock/tool-schema.ts';
import { parseJson } from '../../../core/base/json.ts';

t.test('only type, properties and required stand at the top, and what else restricts is named', async (t) => {
  const given = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Args',
    description: 'd',
    type: 'object',
    properties: { a: { type: 'string', pattern: '^x', description: 'one' } },
    required: ['a'],
    additionalProperties: false,
    anyOf: [{ required: ['a'] }],
  };
  t.same(novaSchema(given), {
    schema: { type: 'object', properties: { a: { type: 'string', pattern: '^x', description: 'one' } }, required: ['a'] },
    dropped: ['additionalProperties', 'anyOf'],
  });
  t.same(novaSchema({ type: 'object', properties: {}, additionalProperties: true }).dropped, []);
});

t.test('a reference is replaced by what it names, with what stands beside it', async (t) => {
  const given = {
    type: 'object',
    properties: { a: { $ref: '#/$defs/A', description: 'mine' }, list: { type: 'array', items: { $ref: '#/definitions/B~1C' } }, $ref: { type: 'string' } },
    $defs: { A: { type: 'object', description: 'its', properties: { b: { $ref: '#/definitions/B~1C' } } } },
    definitions: { 'B/C': { enum: ['x'] } },
  };
  t.same(novaSchema(given), {
    schema: {
      type: 'object',
      properties: {
        a: { type: 'object', description: 'mine', properties: { b: { enum: ['x'] } } },
        list: { type: 'array', items: { enum: ['x'] } },
        $ref: { type: 'string' },
      },
    },
    dropped: [],
  });
});

t.test('a reference that leads back to itself, nowhere or too far is anything, and named', async (t) => {
  const tree = {
    type: 'object',
    properties: { root: { $ref: '#/$defs/Node' } },
    $defs: { Node: { type: 'object', properties: { next: { $ref: '#/$defs/Node' } } } },
  };
  t.same(novaSchema(tree), {
    schema: { type: 'object', properties: { root: { type: 'object', properties: { next: {} } } } },
    dropped: ['$ref'],
  });
  t.same(novaSchema({ type: 'object', properties: { a: { $ref: '#/$defs/Gone' }, b: { $ref: 'https://a.example/s' } } }).schema['properties'], {
    a: {},
    b: {},
  });
  const $defs = Object.fromEntries(
    Array.from({ length: 40 }, (_, n) => [`D${n}`, { properties: { l: { $ref: `#/$defs/D${n + 1}` }, r: { $ref: `#/$defs/D${n + 1}` } } }]),
  );
  const wide = novaSchema({ type: 'object', properties: { a: { $ref: '#/$defs/D0' } }, $defs });
  t.same(wide.dropped, ['$ref']);
  t.ok(JSON.stringify(wide.schema).length < 1_000_000);
});

t.test('names like __proto__ stay names', async (t) => {
  const given = parseJson('{"type":"object","properties":{"__proto__":{"$ref":"#/$defs/__proto__"}},"$defs":{}}') as Record<string, unknown>;
  t.same(Object.keys(novaSchema(given).schema['properties'] as object), ['__proto__']);
});
