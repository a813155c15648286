import t from 'tap';
import { readRequest } from '../../../../../transports/http/dialects/openai-chat/request.ts';

const read = (body: object) => readRequest({ model: 'm', messages: [{ role: 'user', content: 'hi' }], ...body });

t.test('a plain request has nothing but its messages', async (t) => {
  t.match(read({}), { model: 'm', stream: false, warnings: [], chat: { messages: [{ role: 'user', content: 'hi' }] } });
  t.same(Object.keys(read({}).chat), ['messages']);
});

t.test("a field of the gateway's request has the client's name", async (t) => {
  const image = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } };
  const { field } = read({
    tools: [{ type: 'function', function: { name: 'f' } }],
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'a' }, image] },
      { role: 'assistant', content: '' },
      { role: 'assistant', tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }] },
      { role: 'tool', tool_call_id: 'a', content: [image] },
    ],
  });
  for (const [ours, theirs] of [
    ['messages[0].content[1].url', 'messages[0].content[1]'],
    ['messages[1].toolCalls[0].arguments', 'messages[2].tool_calls[0]'],
    ['messages[2].toolResults[0].content[0]', 'messages[3].content[0]'],
    ['tools[0].parameters', 'tools[0]'],
    ['config.maxTokens', 'max_completion_tokens'],
    ['config.output.schema', 'response_format'],
    ['toolChoice.name', 'tool_choice'],
    ['messages', 'messages'],
    ['adapter', undefined],
  ] as const)
    t.equal(field?.(ours), theirs, ours);
});
