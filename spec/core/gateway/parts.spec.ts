import t from 'tap';
import { partsOf, textOf } from '../../../core/gateway/parts.ts';
import { toPrompt } from '../../../core/gateway/prompt.ts';

t.test('the text of a content is its text parts, a line for each', async (t) => {
  t.equal(textOf(undefined), '');
  t.equal(textOf('one'), 'one');
  t.equal(
    textOf([
      { type: 'text', text: 'one' },
      { type: 'text', text: '' },
      { type: 'image', url: 'https://x' },
      { type: 'text', text: 'two' },
    ]),
    'one\ntwo',
  );
});

t.test('parts are kept only if their text does not say everything', async (t) => {
  t.equal(partsOf('one', 'user', 'content'), undefined);
  t.equal(partsOf([{ type: 'text', text: 'one' }], 'user', 'content'), undefined);
  for (const part of [
    { type: 'text', text: 'one', cache: '5m' },
    { type: 'text', text: 'one', providerMetadata: { x: {} } },
    { type: 'document', text: 'a file', name: 'a.txt' },
  ] as const)
    t.strictSame(partsOf([part], 'user', 'content'), [part]);
});

t.test('an image beside tool results becomes part of a user turn, in its order with the text', async (t) => {
  const image = { type: 'image', mediaType: 'image/png', data: 'AAAA' } as const;
  const { turns } = toPrompt({
    adapter: 'x',
    model: 'm',
    messages: [
      { role: 'user', content: 'hi' },
      {
        role: 'assistant',
        toolCalls: [
          { id: 'a', name: 'f', arguments: {} },
          { id: 'b', name: 'f', arguments: {} },
        ],
      },
      { role: 'tool', toolResults: [{ toolCallId: 'a', content: 'ok' }], content: 'first' },
      { role: 'tool', toolResults: [{ toolCallId: 'b', content: 'ok' }], content: [image] },
    ],
  });
  t.same(turns[3], { role: 'user', text: 'first', parts: [{ type: 'text', text: 'first' }, image] });
});
