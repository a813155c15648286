import t from 'tap';
import { partsOf, textOf, textParts } from '../../../core/gateway/parts.ts';
import { toPrompt } from '../../../core/gateway/prompt.ts';

t.test('the text of an assistant is joined as the model wrote it; the texts of others have a line each', async (t) => {
  t.equal(textOf(undefined, 'user'), '');
  t.equal(textOf('one', 'user'), 'one');
  const parts = [
    { type: 'text', text: 'one' },
    { type: 'text', text: '' },
    { type: 'image', url: 'https://x' },
    { type: 'text', text: 'two' },
  ] as const;
  for (const role of ['user', 'system', 'tool']) t.equal(textOf(parts, role), 'one\ntwo', role);
  t.equal(textOf(parts, 'assistant'), 'onetwo');
});

t.test('several texts of a message stay parts, and those of a tool are one text', async (t) => {
  const texts = [
    { type: 'text', text: 'one ' },
    { type: 'text', text: 'two' },
  ] as const;
  for (const role of ['user', 'assistant']) t.equal(partsOf(texts, role, 'content'), texts, role);
  t.equal(partsOf(texts, 'tool', 'content'), undefined);
  t.equal(partsOf([texts[0], { type: 'text', text: '' }], 'user', 'content'), undefined);
  const call = { id: 'a', name: 'f', arguments: {} };
  const { turns } = toPrompt({
    adapter: 'x',
    model: 'm',
    messages: [
      { role: 'user', content: texts },
      { role: 'assistant', content: texts, toolCalls: [call] },
      { role: 'tool', toolResults: [{ toolCallId: 'a', content: texts }] },
    ],
  });
  t.strictSame(turns[0], { role: 'user', text: 'one \ntwo', parts: texts });
  t.match(turns[1], { text: 'one two', parts: texts });
  t.strictSame(turns[2], { role: 'tool', results: [{ toolCallId: 'a', toolName: 'f', content: 'one \ntwo', isError: false }] });
});

t.test('the URL of an image or a document is http or https', async (t) => {
  for (const url of ['http://x/a.png', 'HTTPS://x']) t.ok(partsOf([{ type: 'image', url }], 'user', 'messages[0].content'), url);
  for (const url of ['file:///etc/passwd', 'gs://b/a.pdf', 'data:image/png;base64,AA', 'x.png', '//x/a', 'https://', 'https:///a', ' https://x'])
    for (const type of ['image', 'document'] as const)
      t.throws(
        () =>
          partsOf(
            [
              { type: 'text', text: 'a' },
              { type, url },
            ],
            'user',
            'messages[0].content',
          ),
        { code: 'INVALID_REQUEST', message: 'messages[0].content[1].url must be an http or https URL.' },
        url,
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

t.test('a text is one part, and no text is none', async (t) => {
  for (const text of ['one', ' ']) t.strictSame(textParts(text), [{ type: 'text', text }]);
  t.strictSame(textParts(''), []);
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
