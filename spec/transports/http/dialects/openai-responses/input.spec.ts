import t from 'tap';
import type { Message, Warning } from '../../../../../core/index.ts';
import { additionalTools, readInput } from '../../../../../transports/http/dialects/openai-responses/input.ts';
import { Toolbox } from '../../../../../transports/http/dialects/openai-responses/tools.ts';
import { packState } from '../../../../../transports/http/dialects/shared/packed-state.ts';
import { Sources } from '../../../../../transports/http/dialects/shared/sources.ts';

function read(input: unknown): { messages: Message[]; warnings: Warning[] } {
  const notes = { warnings: [] as Warning[], sources: new Sources() };
  return { messages: readInput(input, new Toolbox([], notes), notes), warnings: notes.warnings };
}
const USAGE = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
const call = (id: string) => ({ type: 'function_call', call_id: id, name: 'f', arguments: '{}' });
const output = (id: string) => ({ type: 'function_call_output', call_id: id, output: id });

t.test('the items of one turn of the assistant are one message, with the state wherever it stands', async (t) => {
  const state = packState({
    usage: USAGE,
    stopReason: 'tool_use',
    providerMetadata: { x: 1 },
    toolCalls: [{ id: 'b', name: 'f', arguments: {}, providerMetadata: { y: 2 } }],
  });
  const reasoning = { type: 'reasoning', summary: [], encrypted_content: state };
  const texts = [
    { role: 'assistant', content: 'One.' },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Two.' }] },
  ];
  for (const items of [
    [reasoning, ...texts, call('a'), call('b')],
    [...texts, call('a'), call('b'), reasoning],
  ]) {
    t.same(read([...items, output('a'), output('b')]).messages.slice(0, 1), [
      {
        role: 'assistant',
        content: 'One.Two.',
        toolCalls: [
          { id: 'a', name: 'f', arguments: {} },
          { id: 'b', name: 'f', arguments: {}, providerMetadata: { y: 2 } },
        ],
        providerMetadata: { x: 1 },
      },
    ]);
  }
});

t.test('messages in a row are paragraphs, unless a state is bound to their exact text', async (t) => {
  const texts = ['One.', 'Two.'].map((content) => ({ role: 'assistant', content }));
  t.match(read(texts).messages, [{ content: 'One.\n\nTwo.' }]);
});

t.test('calls after a result are a turn of their own', async (t) => {
  t.match(
    read([call('a'), output('a'), call('b'), output('b')]).messages.map(({ role }) => role),
    ['assistant', 'tool', 'assistant', 'tool'],
  );
});

t.test('a local shell is a call like any other, and its output may name the item', async (t) => {
  const shell = { type: 'local_shell_call', id: 'lsh_1', call_id: 'call_1', action: { type: 'exec', command: ['ls'] } };
  t.match(read([shell, { type: 'local_shell_call_output', id: 'lsh_1', output: '{}' }]).messages, [
    { toolCalls: [{ id: 'call_1', name: 'local_shell', arguments: { command: ['ls'] } }] },
    { toolResults: [{ toolCallId: 'call_1', content: '{}' }] },
  ]);
});

t.test('a call that comes twice is taken once', async (t) => {
  const { messages, warnings } = read([call('a'), call('a')]);
  t.match(messages, [{ toolCalls: [{ id: 'a' }] }]);
  t.match(warnings, [{ field: 'input[1]' }]);
  t.equal(messages.length, 1);
});

t.test('a text after a call, and another call with the same id, begin another message with its own place and states', async (t) => {
  const toolCalls = [{ id: 'b', name: 'f', arguments: {}, providerMetadata: { y: 2 } }];
  const state = packState({ usage: USAGE, stopReason: 'tool_use', providerMetadata: { x: 1 }, toolCalls });
  const { messages, warnings } = read([
    { role: 'assistant', content: 'One.' },
    call('a'),
    { type: 'reasoning', summary: [], encrypted_content: state },
    { role: 'assistant', content: 'Two.' },
    call('b'),
    { ...call('b'), arguments: '{"x":1}' },
    output('a'),
  ]);
  t.match(messages, [
    { content: 'One.', toolCalls: [{ id: 'a' }], providerMetadata: { x: 1 } },
    { content: 'Two.', toolCalls: [{ id: 'b', providerMetadata: { y: 2 } }], providerMetadata: undefined },
    { content: undefined, toolCalls: [{ id: 'b', arguments: { x: 1 } }] },
    { role: 'tool' },
  ]);
  t.same(warnings, []);
});

t.test('a call and its output have the same id, however long it is', async (t) => {
  const { messages } = read([call('x'.repeat(3000)), output('x'.repeat(3000))]);
  const [{ toolCalls }, { toolResults }] = messages as unknown as [{ toolCalls: { id: string }[] }, { toolResults: { toolCallId: string }[] }];
  t.equal(toolCalls[0]?.id, toolResults[0]?.toolCallId);
  t.ok((toolCalls[0]?.id.length ?? 0) < 256);
});

t.test('what has no place is refused by its item', async (t) => {
  for (const [input, message] of [
    [5, /^input must be/],
    [[null], /^input\[0\] must be an object/],
    [['hi'], /^input\[0\] must be an object/],
    [[{ type: 'function_call', name: 'f' }], /^input\[0\]\.call_id is required/],
    [[{ type: 'function_call', call_id: 'a' }], /^input\[0\]\.name is required/],
    [[{ type: 'function_call_output', output: '' }], /^input\[0\]\.call_id is required/],
    [[{ role: 'user', content: 5 }], /^input\[0\]\.content must be/],
    [[{ type: 'item_reference', id: 'a' }], /^input\[0\] refers to a stored item/],
  ] as const)
    t.throws(() => read(input), message, JSON.stringify(input));
});

t.test('tools are found among the items', async (t) => {
  t.same(additionalTools([null, 'x', { type: 'additional_tools', tools: [{ type: 'function', name: 'f' }] }, { type: 'additional_tools' }]), [
    { tools: [{ type: 'function', name: 'f' }], path: 'input[2].tools' },
    { tools: [], path: 'input[3].tools' },
  ]);
  t.same(additionalTools('hi'), []);
});
