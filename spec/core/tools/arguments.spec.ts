// How arguments of calls are checked against the schemas of servers.
import { setImmediate as nextTurn } from 'node:timers/promises';
import t from 'tap';
import { argumentCheck, prepareChecks } from '../../../core/tools/arguments.ts';
import { sweep } from '../../support/sweep.ts';

t.test('arguments are checked, and what is wrong has a place', async (t) => {
  const check = argumentCheck({
    type: 'object',
    properties: { to: { type: 'string', pattern: '^(a+)+$' }, kind: { enum: ['x', 'y'] }, pattern: { type: 'integer' }, of: { $ref: '#/$defs/of' } },
    $defs: { of: { type: 'object', properties: { inner: { type: 'number' } } } },
    required: ['to'],
    additionalProperties: false,
  });
  t.equal(check({ to: `${'a'.repeat(50)}!`, pattern: 5 }), undefined, 'a pattern of a server is not run, a field of this name is a field');
  t.match(check({}), /The arguments must have required property 'to'\./);
  t.match(check({ to: 5 }), /^\/to must be string\.$/);
  t.match(check({ to: 'a', kind: 'z' }), /^\/kind must be equal to one of the allowed values: \["x","y"\]\.$/);
  t.match(check({ to: 'a', of: { inner: 'x' } }), /^\/of\/inner must be number\.$/);
  t.match(check({ to: 'a', more: 1 }), /must NOT have additional properties/);
});

t.test('definitions that name each other again and again are not followed for ever', async (t) => {
  const twice = (at: number): object => ({ [at % 2 === 0 ? 'allOf' : 'anyOf']: [{ $ref: `#/$defs/a${at + 1}` }, { $ref: `#/$defs/a${at + 1}` }] });
  const bombOf = (last: object) => ({
    type: 'object',
    $defs: { ...Object.fromEntries(Array.from({ length: 16 }, (_, at) => [`a${at}`, twice(at)])), a16: last },
    properties: { a: { not: { not: { $ref: '#/$defs/a0' } } }, b: { type: 'string' } },
  });
  for (const last of [{ type: 'object' }, { type: 'string' }]) {
    const check = argumentCheck({ ...bombOf(last), $defs: { ...bombOf(last).$defs, ...(last.type === 'string' && onlyAny()) } });
    t.match(check({ a: {} }), /follows too many references/);
    t.equal(check({ b: 'x' }), undefined, 'what needs none of them is checked');
  }
  const endless = argumentCheck({ type: 'object', $defs: { a: { allOf: [{ $ref: '#/$defs/a' }] } }, properties: { a: { $ref: '#/$defs/a' } } });
  t.match(endless({ a: 1 }), /follows too many references/);
  const wide = { type: 'object', properties: Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`p${at}`, { type: 'string', maxLength: 3 }])) };
  const uses = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`q${at}`, { $ref: '#/$defs/wide' }]));
  const many = argumentCheck({ type: 'object', $defs: { wide }, properties: uses });
  t.match(many({ q7: { p1: 'four' } }), /^\/q7\/p1 must NOT have more than 3 characters/);

  /** Each choice fails, so all are tried. */
  function onlyAny(): object {
    return Object.fromEntries(Array.from({ length: 16 }, (_, at) => [`a${at}`, { anyOf: [{ $ref: `#/$defs/a${at + 1}` }, { $ref: `#/$defs/a${at + 1}` }] }]));
  }
});

t.test('counted-comparisons: a value is compared with every branch of a schema, so where there are many, many values are not checked', async (t) => {
  const branches = Array.from({ length: 600 }, (_, at) => ({ const: at }));
  const of = (items: object): object => ({ type: 'object', properties: { a: { type: 'array', ...items } } });
  const leads = { ...of({ items: { $ref: '#/$defs/any' } }), $defs: { any: { anyOf: branches } } };
  const tooMany = [
    [of({ items: { enum: branches.map((_, at) => [at]) } }), [599]],
    [leads, 599],
    [of({ items: { anyOf: branches } }), 599],
    [of({ contains: { anyOf: branches } }), -1],
  ] as const;
  for (const [schema, value] of tooMany.slice(0, sweep(4, 2))) {
    const check = argumentCheck(schema as Record<string, unknown>);
    t.match(check({ a: Array.from({ length: 40_000 }, () => value) }), /too many values for the schema of the tool/);
    t.notMatch(check({ a: [value, value] }) ?? '', /too many/, 'few are checked');
  }
  const twice = (at: number): object => ({ allOf: [{ $ref: `#/$defs/a${at + 1}` }, { $ref: `#/$defs/a${at + 1}` }] });
  const last = { anyOf: [...branches, {}] };
  const defs = { ...Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`a${at}`, twice(at)])), a12: last };
  t.match(argumentCheck({ type: 'object', $defs: defs, properties: { a: { $ref: '#/$defs/a0' } } })({ a: 1 }), /too many values/);
  const texts = branches.map((_, at) => ({ maxLength: at }));
  t.match(argumentCheck({ type: 'object', properties: { a: { anyOf: texts } } })({ a: 'x'.repeat(4_000_000) }), /too many values/);
  const each = (branch: object): object => ({
    type: 'object',
    properties: { a: { anyOf: Array.from({ length: 300 }, (_, at) => ({ ...branch, minItems: 1e6 + at })) } },
  });
  const numbers = Array.from({ length: 50_000 }, (_, n) => n);
  t.match(argumentCheck(each({ type: 'array', uniqueItems: true }) as Record<string, unknown>)({ a: numbers }), /too many values/);
  const fields = Object.fromEntries(numbers.map((n) => [`f${n}`, n]));
  const looks = [{ additionalProperties: false }, { enum: [{}] }, { minProperties: 1e6 }, { unevaluatedProperties: false }, { const: {} }];
  for (const looked of looks.slice(0, sweep(5, 1))) t.match(argumentCheck(each(looked) as Record<string, unknown>)({ a: fields }), /too many values/);
  const rows = argumentCheck(of({ items: { type: 'object', properties: { kind: { enum: ['x', 'y'] }, n: { type: 'integer' } } } }) as Record<string, unknown>);
  t.equal(rows({ a: Array.from({ length: 50_000 }, (_, n) => ({ kind: 'x', n })) }), undefined, 'many values of a usual schema are checked');
});

t.test('a document of many parts is checked by a schema with a choice for each kind of part', async (t) => {
  const kinds = Array.from({ length: 20 }, (_, at) => `kind${at}`);
  const colors = { enum: ['default', 'gray', 'brown', 'orange', 'yellow', 'green', 'blue', 'purple', 'pink', 'red'] };
  const part = (kind: string): object => ({
    type: 'object',
    properties: {
      type: { const: kind },
      [kind]: {
        type: 'object',
        properties: { text: { type: 'array', items: { $ref: '#/$defs/text' } }, colors, parts: { type: 'array', items: { $ref: '#/$defs/part' } } },
      },
    },
    required: ['type', kind],
  });
  const text = { anyOf: [{ type: 'object', properties: { words: { type: 'string', maxLength: 2000 }, colors }, required: ['words'] }, { type: 'null' }] };
  const parts = { type: 'array', items: { $ref: '#/$defs/part' } };
  const check = argumentCheck({ type: 'object', properties: { parts }, $defs: { text, part: { anyOf: kinds.map(part) } } });
  const given = Array.from({ length: 500 }, () => ({
    type: 'kind19',
    kind19: { text: [{ words: 'Some words of a paragraph.', colors: 'red' }], colors: 'default' },
  }));
  t.equal(check({ parts: given }), undefined);
  t.match(check({ parts: [...given, { type: 'kind20' }] }), /^\/parts\/500/);
});

t.test('looked-up: items that shall differ are not compared with each other', async (t) => {
  const check = argumentCheck({ type: 'object', properties: { a: { type: 'array', uniqueItems: true }, b: { type: 'array', uniqueItems: false } } });
  let reads = 0;
  const get = (all: unknown[], name: string | symbol): unknown => {
    reads += 1;
    return Reflect.get(all, name);
  };
  const counted = (items: readonly unknown[]): unknown => new Proxy([...items], { get });
  t.equal(check({ a: counted(Array.from({ length: 2000 }, (_, at) => ({ at }))) }), undefined);
  t.ok(reads < 100_000, `${reads} reads of 2000 items`);
  t.equal(
    check({
      a: [
        { x: 1, y: 2 },
        { y: 2, x: 1 },
      ],
    }),
    '/a must NOT have duplicate items.',
  );
  t.equal(check({ a: [1, '1', [1], null, true] }), undefined);
  t.equal(check({ b: [1, 1] }), undefined);
});

const schemaOf = (name: string): Record<string, unknown> => ({ type: 'object', properties: { [name]: { type: 'string' } } });

t.test('compiled-once: an equal schema of a later message has the same check, of the newest thousand', async (t) => {
  const check = argumentCheck(schemaOf('first'));
  t.equal(argumentCheck(schemaOf('first')), check);
  for (let at = 0; at < 999; at += 1) argumentCheck(schemaOf(`other${at}`));
  t.equal(argumentCheck(schemaOf('first')), check, 'it was used, so it is one of the newest');
  for (let at = 0; at < 1000; at += 1) argumentCheck(schemaOf(`more${at}`));
  t.not(argumentCheck(schemaOf('first')), check);
});

t.test('while schemas are prepared, others have a turn after each that is compiled', async (t) => {
  const schemas = ['a', 'b', 'c', 'd'].map((name) => schemaOf(`turn-${name}`));
  const broken = { type: 'object', properties: { a: { $ref: '#/$defs/none' } } };
  const turnsOf = async (work: Promise<void>): Promise<number> => {
    let turns = 0;
    let isDone = false;
    void work.then(() => {
      isDone = true;
    });
    for (; !isDone; turns += 1) await nextTurn();
    return turns;
  };
  t.ok((await turnsOf(prepareChecks([...schemas, broken]))) >= 5);
  t.ok((await turnsOf(prepareChecks([...schemas, broken]))) <= 2, 'all are compiled by now');
  t.throws(() => argumentCheck(broken), /none/);
});
