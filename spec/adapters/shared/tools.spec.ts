import t from 'tap';
import { idMapper, objectSchema, outputText } from '../../../adapters/shared/tools.ts';

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

t.test('of very many foreign ids that look alike, each gets one of its own without a look at all others', async (t) => {
  const allowed = /^[a-zA-Z0-9_-]{1,64}$/;
  const map = idMapper(allowed);
  const foreign = Array.from({ length: 30_000 }, (_, n) => `${n}${'x'.repeat(64)}`);
  const made = foreign.map(map);
  const again = made.map((id) => map(id)); // a client may also send what was made
  t.equal(new Set([...made, ...again]).size, 60_000);
  t.same(foreign.slice(-3).map(map), made.slice(-3));
  t.equal(
    [...made, ...again].find((id) => !allowed.test(id)),
    undefined,
  );
});

t.test('parameters are an object schema with properties, and nothing else of them changes', async (t) => {
  t.same(objectSchema(undefined), { type: 'object', properties: {} });
  t.same(objectSchema({ additionalProperties: false }), { additionalProperties: false, type: 'object', properties: {} });
  const schema = { type: 'object', properties: { a: { $ref: '#/$defs/x' } }, required: ['a'], $defs: { x: { not: {} } } };
  t.same(objectSchema(schema), schema);
});

t.test('a failed call is told in the text of its result, once', async (t) => {
  const result = { toolCallId: 'c', toolName: 'f', isError: true };
  t.equal(outputText({ ...result, content: 'no such city' }), 'Error: no such city');
  t.equal(outputText({ ...result, content: 'Error: no such city' }), 'Error: no such city');
  t.equal(outputText({ ...result, content: '{"error":"no such city"}' }), '{"error":"no such city"}');
  t.equal(outputText({ ...result, content: 'errands' }), 'Error: errands');
  t.equal(outputText({ ...result, content: '3 C', isError: false }), '3 C');
});
