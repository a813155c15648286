import t from 'tap';
import { readRequest } from '../../../dialects/openai-chat/request.ts';

const read = (body: object) => readRequest({ model: 'm', messages: [{ role: 'user', content: 'hi' }], ...body });

t.test('a plain request has nothing but its messages', async (t) => {
  t.match(read({}), { model: 'm', stream: false, warnings: [], chat: { messages: [{ role: 'user', content: 'hi' }] } });
  t.same(Object.keys(read({}).chat), ['messages']);
});

t.test('arguments that are no JSON object are kept as text', async (t) => {
  const asked = (args: unknown) => {
    const messages = [
      { role: 'user', content: 'hi' },
      { role: 'assistant', tool_calls: [{ id: 'a', function: { name: 'f', arguments: args } }] },
    ];
    const [, message] = read({ messages }).chat.messages;
    return message?.role === 'assistant' ? message.toolCalls?.[0]?.arguments : undefined;
  };
  t.same(
    [asked('{"a":1}'), asked(''), asked(null), asked({ b: 2 }), asked('[1]'), asked('{broken')],
    [{ a: 1 }, {}, {}, { b: 2 }, { value: [1] }, { value: '{broken' }],
  );
});

t.test('parts of each kind are read, and a wrong one is refused by its place', async (t) => {
  const parts = (content: unknown): unknown => read({ messages: [{ role: 'user', content }] }).chat.messages[0]?.['content' as never];
  t.same(parts([{ type: 'input_audio', input_audio: { data: 'A', format: 'mp3' } }]), [{ type: 'audio', mediaType: 'audio/mpeg', data: 'A' }]);
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
    'they stay parts',
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
