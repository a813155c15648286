import t from 'tap';
import { RefusedPart, withPlace } from '../../../core/gateway/refused-part.ts';

const image = { type: 'image', url: 'https://example.org/cat.png' } as const;
const refusal = new RefusedPart(image, 'has a URL, which it does not fetch');

t.test('a part that a provider refuses is named by its place in the request', async (t) => {
  const text = { type: 'text', text: 'What is it?' } as const;
  t.match(
    withPlace(refusal, {
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: [text, image] },
      ],
    }),
    {
      code: 'INVALID_REQUEST',
      message: 'messages[1].content[1] has a URL, which it does not fetch.',
      details: [{ path: 'messages[1].content[1]' }],
    },
  );
});

t.test('in the result of a tool, too', async (t) => {
  const results = [
    { toolCallId: '1', content: 'none' },
    { toolCallId: '2', content: [image] },
  ];
  const found = withPlace(refusal, { messages: [{ role: 'tool', toolResults: results }] as never });
  t.match(found, { details: [{ path: 'messages[0].toolResults[1].content[0]' }] });
});

t.test('a part that is nowhere in the request is still told, and another error stays as it is', async (t) => {
  t.match(withPlace(refusal, { messages: [{ role: 'user', content: 'Hello' }] }), {
    message: 'messages must not have a part that has a URL, which it does not fetch.',
  });
  const other = new Error('boom');
  t.equal(withPlace(other, { messages: [] }), other);
});
