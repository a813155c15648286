import t from 'tap';
import { readRequest } from '../../../../../transports/http/dialects/openai-responses/request.ts';

const read = (body: object) => readRequest({ model: 'm', input: 'hi', ...body });

t.test('a plain request has nothing but its messages', async (t) => {
  t.match(read({}), { model: 'm', stream: false, warnings: [], chat: { messages: [{ role: 'user', content: 'hi' }] } });
  t.same(Object.keys(read({}).chat), ['messages']);
});

t.test('null counts as absent, everywhere', async (t) => {
  const names = [
    'instructions',
    'tools',
    'tool_choice',
    'stream',
    'temperature',
    'top_p',
    'max_output_tokens',
    'parallel_tool_calls',
    'text',
    'reasoning',
    'include',
    'metadata',
    'prompt_cache_key',
    'service_tier',
    'truncation',
    'safety_identifier',
    'user',
    'store',
    'previous_response_id',
    'conversation',
    'background',
    'prompt',
    'client_metadata',
    'stream_options',
    'max_tool_calls',
    'top_logprobs',
  ];
  const { chat, warnings } = read(Object.fromEntries(names.map((name) => [name, null])));
  t.same([Object.keys(chat), warnings], [['messages'], []]);
  t.same(Object.keys(read({ text: { format: null, verbosity: null }, reasoning: { effort: null, summary: null }, metadata: {} }).chat), ['messages']);
});

t.test("a field of the gateway's request has the client's name", async (t) => {
  const { field } = read({
    instructions: 'Be brief.',
    tools: [{ type: 'web_search' }, { type: 'namespace', name: 'crm', tools: [{ type: 'function', name: 'find' }] }],
    input: [
      { type: 'reasoning', summary: [] },
      {
        role: 'user',
        content: [{ type: 'input_hologram' }, { type: 'input_text', text: 'a' }, { type: 'input_image', image_url: 'https://example.com/a.png' }],
      },
      { role: 'assistant', content: 'ok' },
      { type: 'function_call', call_id: 'a', name: 'find' },
      { type: 'function_call_output', call_id: 'a', output: [{ type: 'input_image', image_url: 'https://example.com/a.png' }] },
    ],
  });
  for (const [ours, theirs] of [
    ['messages[0].content', 'instructions'],
    ['messages[1].content[1].url', 'input[1].content[2]'],
    ['messages[1]', 'input[1]'],
    ['messages[2].toolCalls[0].arguments', 'input[3]'],
    ['messages[3].toolResults[0].content[0]', 'input[4].output[0]'],
    ['messages', 'input'],
    ['tools[0].parameters.type', 'tools[1].tools[0]'],
    ['toolChoice.name', 'tool_choice'],
    ['config.topP', 'top_p'],
    ['config.output.schema', 'text.format'],
    ['config.reasoning.effort', 'reasoning.effort'],
    ['config.metadata.a', 'metadata'],
    ['adapter', undefined],
  ] as const)
    t.equal(field?.(ours), theirs, ours);
});

t.test('the user is named by the field that says it', async (t) => {
  t.equal(read({ user: 'me' }).field?.('config.user'), 'user');
  t.equal(read({ safety_identifier: 'me' }).field?.('config.user'), 'safety_identifier');
});

t.test('a request of developers alone has their last message from the user', async (t) => {
  const { chat, warnings, field } = read({ instructions: 'Be brief.', input: [{ role: 'developer', content: 'Say hi.' }] });
  t.match(chat.messages, [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Say hi.' },
  ]);
  t.match(warnings, [{ field: 'input' }]);
  t.equal(field?.('messages[1].content'), 'input[0]');
});
