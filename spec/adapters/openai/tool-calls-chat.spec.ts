import t from 'tap';
import { CallSlots } from '../../../adapters/openai/tool-calls-chat.ts';

const delta = (index: number | undefined, id?: string, name?: string, args?: unknown) => ({
  ...(index !== undefined && { index }),
  ...(id !== undefined && { id }),
  function: { ...(name !== undefined && { name }), arguments: args },
});
const gather = (...deltas: unknown[]): [string, string, string][] => {
  const slots = new CallSlots();
  for (const each of deltas) slots.addDeltas([each]);
  return slots.list().map(({ id, name, text }) => [id, name, text]);
};

t.test('fragments of parallel calls are told apart by their index', async (t) => {
  t.same(gather(delta(0, 'a', 'f', ''), delta(1, 'b', 'g', '{"y'), delta(0, undefined, undefined, '{"x":1}'), delta(1, undefined, undefined, '":2}')), [
    ['a', 'f', '{"x":1}'],
    ['b', 'g', '{"y":2}'],
  ]);
});

t.test('whole calls without an index are calls of their own', async (t) => {
  t.same(gather(delta(undefined, 'a', 'f', '{}'), delta(undefined, 'b', 'f', '{}')), [
    ['a', 'f', '{}'],
    ['b', 'f', '{}'],
  ]);
  t.equal(gather(delta(undefined, undefined, 'f', '{}'), delta(undefined, undefined, 'f', '{}')).length, 2, 'also without ids');
  t.equal(gather(delta(-1, undefined, 'f', '{}'), delta(-1, undefined, 'f', '{}')).length, 2, 'also with an index that is none');
});

t.test('whole calls that all have the index 0 are calls of their own', async (t) => {
  t.same(gather(delta(0, 'a', 'f', '{}'), delta(0, 'b', 'f', '{'), delta(0, undefined, undefined, '}')), [
    ['a', 'f', '{}'],
    ['b', 'f', '{}'],
  ]);
});

t.test('fragments without an index belong to the last call', async (t) => {
  t.same(gather(delta(undefined, 'a', 'f', '{"x"'), delta(undefined, undefined, undefined, ':1}')), [['a', 'f', '{"x":1}']]);
});

t.test('id and name repeated with every fragment are taken once', async (t) => {
  t.same(gather(delta(0, 'a', 'f', '{"x"'), delta(0, 'a', 'f', ':1}')), [['a', 'f', '{"x":1}']]);
  t.same(gather(delta(0, '', 'f', '{"x"'), delta(0, '', 'f', ':1}')), [['', 'f', '{"x":1}']]);
});

t.test('an id that comes late is taken', async (t) => {
  t.same(gather(delta(0, undefined, 'f', ''), delta(0, 'a', undefined, '{}')), [['a', 'f', '{}']]);
  t.same(gather(delta(0), delta(0, 'a', 'f', '{}')), [['a', 'f', '{}']], 'together with the name');
});

t.test('a whole list has one call for each entry, whatever ids and indices it has', async (t) => {
  const slots = new CallSlots();
  slots.addWhole([delta(0, 'a', 'f', '{}'), delta(0, 'a', 'f', { x: 1 }), null]);
  t.match(slots.list(), [{ id: 'a', text: '{}' }, { id: 'a', text: '', object: { x: 1 } }, { name: '' }]);
});

t.test('each of very many calls has the place in which it came', async (t) => {
  const slots = new CallSlots();
  const events = slots.addDeltas(Array.from({ length: 9000 }, (_, index) => ({ index, function: { name: 'f' } })));
  t.strictSame(
    events.map((event) => event.type === 'toolCallStart' && event.index),
    Array.from({ length: 9000 }, (_, index) => index),
  );
});
