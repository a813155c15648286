import t from 'tap';
import { closedObject, count, defaultOf, listOf, money, object, oneOf, orNull, preset, string } from '../../../core/schemas/fields.ts';
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

t.test('a default is written once: the description says it, and an object has those of its fields', async (t) => {
  const size = preset(4, { ...count, description: 'How many' });
  t.strictSame(size, { ...count, default: 4, description: 'How many; default 4' });
  t.strictSame(defaultOf({ properties: { size, cap: { ...money, default: null }, name: string, inner: object({ size }), empty: object({ name: string }) } }), {
    size: 4,
    cap: null,
    inner: { size: 4 },
  });
  t.equal(defaultOf(object({ name: string })), undefined);
});
