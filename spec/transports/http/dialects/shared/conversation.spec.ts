import t from 'tap';
import type { Message, Warning } from '../../../../../core/index.ts';
import { clampedTemperature, mended, ToolNames } from '../../../../../transports/http/dialects/shared/conversation.ts';

const user = (content: string): Message => ({ role: 'user', content });
const asks = (...ids: string[]): Message => ({ role: 'assistant', toolCalls: ids.map((id) => ({ id, name: 'f', arguments: {} })) });
const gives = (...ids: string[]): Message => ({ role: 'tool', toolResults: ids.map((toolCallId) => ({ toolCallId, content: toolCallId })) });

t.test('a sound conversation stays as it is, and results of one turn come together', async (t) => {
  const { messages, warnings } = mended([user('hi'), asks('a', 'b'), gives('a'), gives('b'), user('then')], 'messages');
  t.same(messages, [user('hi'), asks('a', 'b'), gives('a', 'b'), user('then')]);
  t.same(warnings, []);
});

t.test('a call without a result gets one, wherever the conversation goes on or ends', async (t) => {
  for (const after of [[], [user('then')], [gives('a'), user('then')]]) {
    const { messages, warnings } = mended([user('hi'), asks('a', 'b'), ...after], 'input');
    t.match(messages[2], { role: 'tool', toolResults: [{}, { toolCallId: 'b', content: '(no result)' }] });
    t.match(warnings, [{ field: 'input', message: /no result/ }]);
  }
});

t.test('a result without its call, or a second one, becomes text of the user', async (t) => {
  const { messages, warnings } = mended([user('hi'), asks('a'), gives('a'), gives('a'), gives('z')], 'messages');
  t.same(messages.slice(2), [gives('a'), user('a'), user('z')]);
  t.equal(warnings.length, 2);
});

t.test('an empty turn of the assistant is left out', async (t) => {
  const thought: Message = { role: 'assistant', content: [{ type: 'reasoning', text: 'hm' }] };
  const { messages, warnings } = mended([user('hi'), { role: 'assistant', content: ' ' }, { role: 'assistant' }, thought, user('there')], 'messages');
  t.same(messages, [user('hi'), user('there')]);
  t.equal(warnings.length, 3);
});

t.test('names of tools are mapped to ones that all providers take, and back, without a collision', async (t) => {
  const names = new ToolNames();
  const given = ['plain', 'a.b', 'a/b', '1st', 'x'.repeat(80), `${'x'.repeat(80)}y`];
  const ours = given.map((name) => names.toOurs(name));
  t.equal(ours[0], 'plain');
  t.equal(new Set(ours).size, given.length);
  for (const name of ours) t.match(name, /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/);
  t.same(
    ours.map((name) => names.toTheirs(name)),
    given,
  );
  t.equal(names.toOurs('a.b'), ours[1], 'the same for the same name');
  t.equal(names.toTheirs('unknown'), 'unknown');
});

t.test('a temperature above 1 is sent as 1, with a warning', async (t) => {
  const warnings: Warning[] = [];
  t.equal(clampedTemperature(0.7, warnings), 0.7);
  t.equal(clampedTemperature(1.5, warnings), 1);
  t.match(warnings, [{ field: 'temperature' }]);
});

t.test('calls in messages in a row are one step, whose results come after the last of them', async (t) => {
  const says = (content: string): Message => ({ role: 'assistant', content });
  for (const given of [
    [asks('a'), asks('b'), says('Wait.'), gives('b'), gives('a')],
    [asks('a'), asks('b'), says('Wait.'), gives('a', 'b')],
  ]) {
    const { messages, warnings } = mended([user('hi'), ...given, user('then')], 'messages');
    t.same(messages, [user('hi'), asks('a'), asks('b'), says('Wait.'), gives('a', 'b'), user('then')]);
    t.same(warnings, []);
  }
});

t.test("a result that comes after another's words is put to its call, which is said if the words are the user's or the assistant's", async (t) => {
  const system: Message = { role: 'system', content: 's' };
  for (const [between, isLate] of [
    [system, false],
    [user('then'), true],
    [asks('b'), true],
  ] as const) {
    const { messages, warnings } = mended([user('hi'), asks('a', 'x'), gives('x'), between, gives('a')], 'messages');
    t.same(messages.slice(0, 3), [user('hi'), asks('a', 'x'), gives('a', 'x')]);
    t.equal(
      warnings.some(({ message }) => /late/.test(message)),
      isLate,
    );
  }
});

t.test('an id that comes again means the last step, and within a step the first call that waits', async (t) => {
  const gives = (content: string): Message => ({ role: 'tool', toolResults: [{ toolCallId: 'a', content }] });
  const { messages, warnings } = mended([user('hi'), asks('a'), user('again'), asks('a'), asks('a'), gives('one'), gives('two')], 'messages');
  const [first, second] = [messages[2], messages[6]];
  t.match(first, { toolResults: [{ content: '(no result)' }] });
  t.match(second, { toolResults: [{ content: 'one' }, { content: 'two' }] });
  t.equal(warnings.length, 1);
});
