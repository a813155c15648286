import t from 'tap';
import { mergeTurns, piecesOf, textsAndCalls, writtenText } from '../../../adapters/shared/merge-turns.ts';
import type { Turn } from '../../../core/index.ts';

const user = (text: string): Turn => ({ role: 'user', text });
const assistant = (text: string, ...ids: string[]) => ({ role: 'assistant' as const, text, toolCalls: ids.map((id) => ({ id, name: 'f', arguments: {} })) });
const result = (toolCallId: string) => ({ toolCallId, toolName: 'f', content: toolCallId, isError: false });
const tool = (...ids: string[]): Turn => ({ role: 'tool', results: ids.map(result) });

t.test('neighbours of the same role become one turn', async (t) => {
  const { turns, warnings } = mergeTurns([user('a'), user('b'), assistant('c'), assistant('d'), user('e')]);
  t.same(turns, [
    { role: 'user', results: [], texts: ['a', 'b'], turns: [user('a'), user('b')] },
    { role: 'assistant', turns: [assistant('c'), assistant('d')] },
    { role: 'user', results: [], texts: ['e'], turns: [user('e')] },
  ]);
  t.same(warnings, []);
});

t.test('all results of a turn are one user turn, in call order, before the text', async (t) => {
  const { turns } = mergeTurns([user('a'), assistant('', '1', '2'), tool('1', '2'), user('then'), user('and')]);
  t.same(turns.at(-1), { role: 'user', results: [result('1'), result('2')], texts: ['then', 'and'], turns: [user('then'), user('and')] });
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

t.test('what a turn says and calls is in its order, else texts come first', async (t) => {
  const plain = assistant('One.', 'a');
  const [call] = plain.toolCalls;
  if (call === undefined) return t.fail('there is no call');
  const text = (words: string) => ({ type: 'text', text: words }) as const;
  t.same(piecesOf(plain), [{ part: text('One.') }, { call }]);
  t.same(textsAndCalls(plain), ['One.', call]);
  t.same(textsAndCalls(assistant('', 'a')), [call]);
  const thought = { type: 'reasoning', text: 'Hm.' } as const;
  const order = [{ part: text('One') }, { part: thought }, { part: text('.') }, { call }, { part: text('') }, { part: text('Two.') }];
  const mixed = { ...plain, text: 'One.\n\nTwo.', order };
  t.same(piecesOf(mixed), order);
  t.same(textsAndCalls(mixed), ['One.', call, 'Two.']);
  t.equal(writtenText(mixed), 'One.Two.');
  t.equal(writtenText(plain), 'One.');
});
