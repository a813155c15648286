import t from 'tap';
import { readRequest } from '../../../../../transports/http/dialects/openai-chat/request.ts';

const read = (body: object) => readRequest({ model: 'm', ...body });

t.test('parts of each kind are read, and a wrong one is refused by its place', async (t) => {
  const parts = (content: unknown): unknown => read({ messages: [{ role: 'user', content }] }).chat.messages[0]?.['content' as never];
  t.same(parts([{ type: 'input_audio', input_audio: { data: 'A', format: 'mp3' } }]), [{ type: 'audio', mediaType: 'audio/mpeg', data: 'A' }]);
  const long = { filename: `${'x'.repeat(300)}.pdf`, file_data: 'data:application/pdf;base64,QQ==' };
  t.same(parts([{ type: 'file', file: long }]), [{ type: 'document', mediaType: 'application/pdf', data: 'QQ==', name: `${'x'.repeat(252)}.pdf` }]);
  t.same(parts([{ type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,QQ==' } }]), [
    { type: 'document', mediaType: 'application/pdf', data: 'QQ==', name: 'a.pdf' },
  ]);
  t.same(
    parts([
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ]),
    [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ],
  );
  const refusalOf = (content: unknown): unknown => {
    try {
      return parts(content);
    } catch (error) {
      return error;
    }
  };
  for (const [content, path] of [
    [5, 'messages[0].content'],
    [[{ type: 'video' }], 'messages[0].content[0].type'],
    [[{ type: 'image_url', image_url: { url: 'file:///etc/passwd' } }], 'messages[0].content[0].image_url.url'],
  ] as const)
    t.match(refusalOf(content), { details: [{ path }] }, path);
});

t.test('a call and its result have the same id, however long it is', async (t) => {
  const id = 'x'.repeat(3000);
  const { messages } = read({
    messages: [
      { role: 'user', content: 'hi' },
      { role: 'assistant', tool_calls: [{ id, type: 'function', function: { name: 'f', arguments: '[1]' } }] },
      { role: 'tool', tool_call_id: id, content: 'x' },
    ],
  }).chat;
  t.match(messages, [{}, { toolCalls: [{ id: /^call_/, arguments: { value: [1] } }] }, { toolResults: [{ toolCallId: /^call_/, content: 'x' }] }]);
});

t.test('what a provider wants back with a call goes out and comes back in extra_content', async (t) => {
  const call = { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } };
  const [, message] = read({
    messages: [
      { role: 'user', content: 'hi' },
      {
        role: 'assistant',
        tool_calls: [
          { ...call, extra_content: { one: { signature: 's' } } },
          { ...call, id: 'b', extra_content: 'odd' },
        ],
      },
    ],
  }).chat.messages;
  t.match(message, {
    toolCalls: [
      { id: 'a', providerMetadata: { one: { signature: 's' } } },
      { id: 'b', providerMetadata: undefined },
    ],
  });
});
