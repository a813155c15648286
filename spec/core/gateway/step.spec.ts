import t from 'tap';
import { toPrompt } from '../../../core/gateway/prompt.ts';
import type { Message, ToolCall } from '../../../core/schemas/chat.ts';

const user = (content = 'hi'): Message => ({ role: 'user', content });
const call = (id: string, name = 'f'): ToolCall => ({ id, name, arguments: {} });
const says = (content: string, ...toolCalls: ToolCall[]): Message => ({ role: 'assistant', content, toolCalls });
const results = (...ids: string[]): Message => ({ role: 'tool', toolResults: ids.map((id) => ({ toolCallId: id, content: `r-${id}` })) });
const turnsOf = (messages: Message[]) => toPrompt({ adapter: 'a', model: 'm', messages }).turns;

t.test('calls in messages in a row are one turn, and their results come after it in the order of the calls', async (t) => {
  t.match(turnsOf([user(), says('', call('1')), says('', call('2'), call('3')), results('3', '1'), results('2'), user()]), [
    { role: 'user' },
    { role: 'assistant', text: '', toolCalls: [{ id: '1' }, { id: '2' }, { id: '3' }], order: undefined },
    { role: 'tool', results: [{ toolCallId: '1' }, { toolCallId: '2' }, { toolCallId: '3' }] },
    { role: 'user' },
  ]);
});

t.test('a text after a call has its place in the order; for providers without one it is a paragraph', async (t) => {
  const [, turn] = turnsOf([user(), says('One.', call('1')), says('Two.', call('2')), says('Three.'), results('1', '2')]);
  const text = (words: string) => ({ part: { type: 'text', text: words } });
  t.same(turn, {
    role: 'assistant',
    text: 'One.\n\nTwo.\n\nThree.',
    toolCalls: [call('1'), call('2')],
    order: [text('One.'), { call: call('1') }, text('Two.'), { call: call('2') }, text('Three.')],
    providerMetadata: undefined,
  });
});

t.test('parts and states of all messages are kept', async (t) => {
  const cached = { type: 'text', text: 'One.', cache: '5m' } as const;
  const [, turn] = turnsOf([
    user(),
    { role: 'assistant', content: [cached], toolCalls: [call('1')], providerMetadata: { x: 1 } },
    { ...says('Two.', call('2')), providerMetadata: { y: 2 } },
    results('1', '2'),
  ]);
  t.match(turn, { parts: [cached, { text: 'Two.' }], order: [{ part: cached }, {}, {}, {}], providerMetadata: { x: 1, y: 2 } });
});

t.test('a text before the first call, and one after the results, are turns of their own', async (t) => {
  const turns = turnsOf([user(), says('One.'), says('Two.', call('1')), results('1'), says('Three.')]);
  t.match(turns.slice(1), [{ text: 'One.' }, { text: 'Two.' }, { role: 'tool' }, { text: 'Three.' }]);
});

t.test('the same id in two messages of a step is answered in order, and no result is too many', async (t) => {
  const step = [user(), says('', call('1', 'f')), says('', call('1', 'g'))];
  t.match(turnsOf([...step, results('1'), results('1')])[2], {
    results: [
      { toolCallId: '1', toolName: 'f' },
      { toolCallId: '1_2', toolName: 'g' },
    ],
  });
  t.throws(() => turnsOf([...step, results('1')]), { code: 'INVALID_REQUEST', details: [{ path: 'messages[2].toolCalls[0]' }] });
  t.throws(() => turnsOf([...step, results('1'), results('1'), results('1')]), {
    code: 'INVALID_REQUEST',
    details: [{ path: 'messages[5].toolResults[0].toolCallId' }],
  });
  t.throws(() => turnsOf([user(), says('', call('1'), call('2')), results('1'), says('', call('3')), results('2', '3')]), {
    code: 'INVALID_REQUEST',
    details: [{ path: 'messages[1].toolCalls[1]' }],
  });
});
