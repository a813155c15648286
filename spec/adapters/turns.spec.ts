import t from 'tap';
import { idMapper, mergeTurns, metadataOf, objectSchema, outputText } from '../../adapters/turns.ts';
import type { Turn } from '../../core/index.ts';

const user = (text: string): Turn => ({ role: 'user', text });
const assistant = (text: string, ...ids: string[]) => ({ role: 'assistant' as const, text, toolCalls: ids.map((id) => ({ id, name: 'f', arguments: {} })) });
const result = (toolCallId: string) => ({ toolCallId, toolName: 'f', content: toolCallId, isError: false });
const tool = (...ids: string[]): Turn => ({ role: 'tool', results: ids.map(result) });

t.test('neighbours of the same role become one turn', async (t) => {
  const { turns, warnings } = mergeTurns([user('a'), user('b'), assistant('c'), assistant('d'), user('e')]);
  t.same(turns, [
    { role: 'user', results: [], texts: ['a', 'b'] },
    { role: 'assistant', turns: [assistant('c'), assistant('d')] },
    { role: 'user', results: [], texts: ['e'] },
  ]);
  t.same(warnings, []);
});

t.test('all results of a turn are one user turn, in call order, before the text', async (t) => {
  const { turns } = mergeTurns([user('a'), assistant('', '1', '2'), tool('1', '2'), user('then'), user('and')]);
  t.same(turns.at(-1), { role: 'user', results: [result('1'), result('2')], texts: ['then', 'and'] });
  t.equal(turns.length, 3);
});

t.test('a conversation that starts with the assistant is opened by a user turn, and the answer says so', async (t) => {
  const { turns, warnings } = mergeTurns([assistant('hello'), user('hi')]);
  t.same(
    turns.map(({ role }) => role),
    ['user', 'assistant', 'user'],
  );
  t.match(warnings, [{ field: 'messages[0]' }]);
});

t.test('the turns that were given stay untouched', async (t) => {
  const given = [user('a'), user('b')];
  const before = structuredClone(given);
  mergeTurns(given);
  t.same(given, before);
});

t.test('ids that the provider takes stay; others are rewritten, the same one always to the same one', async (t) => {
  const allowed = /^[a-zA-Z0-9_-]{1,64}$/;
  const map = idMapper(allowed);
  t.equal(map('toolu_1'), 'toolu_1');
  t.equal(map('a.b'), 'call_a_b');
  t.equal(map('a:b'), 'call_a_b_2', 'two foreign ids never become one');
  t.equal(map('a.b'), 'call_a_b');
  t.not(map('call_a_b'), 'call_a_b', 'not even when the provider would take it');
  const long = Array.from({ length: 30 }, (_, n) => map(`${n}${'.'.repeat(200)}`));
  t.equal(new Set(long).size, 30);
  for (const id of long) t.match(id, allowed);
});

t.test('parameters are an object schema with properties, and nothing else of them changes', async (t) => {
  t.same(objectSchema(undefined), { type: 'object', properties: {} });
  t.same(objectSchema({ additionalProperties: false }), { additionalProperties: false, type: 'object', properties: {} });
  const schema = { type: 'object', properties: { a: { $ref: '#/$defs/x' } }, required: ['a'], $defs: { x: { not: {} } } };
  t.same(objectSchema(schema), schema);
});

t.test("metadata is the adapter's own, and an object", async (t) => {
  t.same(metadataOf({ providerMetadata: { acme: { a: 1 } } }, 'acme'), { a: 1 });
  for (const own of [undefined, null, 'x', 1, [1]]) t.equal(metadataOf({ providerMetadata: { acme: own } }, 'acme'), undefined);
  t.equal(metadataOf({ providerMetadata: { other: { a: 1 } } }, 'acme'), undefined);
  t.equal(metadataOf({}, 'acme'), undefined);
});

t.test('a failed call is told in the text of its result, once', async (t) => {
  const result = { toolCallId: 'c', toolName: 'f', isError: true };
  t.equal(outputText({ ...result, content: 'no such city' }), 'Error: no such city');
  t.equal(outputText({ ...result, content: 'Error: no such city' }), 'Error: no such city');
  t.equal(outputText({ ...result, content: '{"error":"no such city"}' }), '{"error":"no such city"}');
  t.equal(outputText({ ...result, content: 'errands' }), 'Error: errands');
  t.equal(outputText({ ...result, content: '3 C', isError: false }), '3 C');
});
