import t from 'tap';
import { closedObject, count, defaultsOf, listOf, money, object, oneOf, orNull, string, withDefault, withoutDefaults } from '../../../core/schemas/fields.ts';
import { refusedField } from '../../support/refused-field.ts';

t.test('an object requires the fields that are not optional, and allows unknown ones', async (t) => {
  const schema = object({ name: string, size: count, note: string }, ['note']);
  t.strictSame(schema, { type: 'object', required: ['name', 'size'], properties: { name: string, size: count, note: string } });
  t.equal(refusedField(schema, { name: 'a', size: 1, more: true }), undefined);
  t.equal(refusedField(schema, { name: 'a' }), 'size');
});

t.test('a closed object refuses an unknown field', async (t) => {
  t.equal(refusedField(closedObject({ name: string }), { name: 'a' }), undefined);
  t.equal(refusedField(closedObject({ name: string }), { name: 'a', more: true }), 'more');
});

t.test('the other parts take what their names say', async (t) => {
  t.equal(refusedField(object({ a: orNull(string) }), { a: null }), undefined);
  t.equal(refusedField(object({ a: money }), { a: -1 }), 'a');
  t.equal(refusedField(object({ a: listOf(string) }), { a: ['x', 1] }), 'a[1]');
  t.equal(refusedField(object({ a: oneOf(['x', 'y']) }), { a: 'z' }), 'a');
});

t.test('a default is written once: the description names it, and nested ones are found', async (t) => {
  const limit = withDefault(5, { type: 'integer', description: 'The most' });
  t.same(limit, { type: 'integer', description: 'The most; default 5', default: 5 });
  const properties = {
    none: { type: 'string' },
    on: { type: 'boolean', default: false },
    inner: { type: 'object', properties: { limit } },
    bare: { type: 'object', properties: { name: string } },
  };
  t.same(defaultsOf(properties), { on: false, inner: { limit: 5 } });
  t.same(withoutDefaults(properties), { ...properties, on: { type: 'boolean' } });
  t.equal(withoutDefaults({ limit }).limit.type, 'integer');
});
