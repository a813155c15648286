// How arguments of calls are checked against the schemas of servers.
import t from 'tap';
import { argumentCheck } from '../../../core/tools/arguments.ts';

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
