// How arguments of calls are checked against the schemas of servers.
import { setImmediate as nextTurn } from 'node:timers/promises';
import t from 'tap';
import { argumentCheck, prepareChecks } from '../../../core/tools/arguments.ts';

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
