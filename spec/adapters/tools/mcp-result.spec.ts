// What becomes of a result, for the model.
import t from 'tap';
import { cleanText, errorResult, isShort, readResult } from '../../../adapters/tools/mcp-result.ts';

const PNG = Buffer.alloc(9).toString('base64');
const textsOf = (content: readonly unknown[]): readonly unknown[] => readResult({ content }).parts.map(({ text, ...other }) => text ?? other);

t.test('texts stay, without control characters and halves of characters', async (t) => {
  t.strictSame(
    textsOf([
      { type: 'text', text: 'one\r\n\ttwo\u0000\u0007\u009b' },
      { type: 'text', text: '\ud83d\ude00 \ud83d' },
    ]),
    ['one\r\n\ttwo', '\u{1f600} \ufffd'],
  );
  t.equal(cleanText('a\u001b[31mred'), 'a[31mred');
});

t.test('images stay as they are, up to four of five megabytes; others become a line with kind and size', async (t) => {
  const image = { type: 'image', mimeType: 'image/png', data: PNG };
  t.strictSame(textsOf([image]), [{ type: 'image', mediaType: 'image/png', data: PNG }]);
  t.strictSame(textsOf(Array.from({ length: 5 }, () => image)).at(-1), '[image, image/png, 9 bytes]');
  t.strictSame(textsOf([{ ...image, data: 'A'.repeat(8_000_000) }]), ['[image, image/png, 6000000 bytes]']);
  t.strictSame(
    textsOf([
      { ...image, data: 'not base64!' },
      { ...image, mimeType: 'image/svg+xml' },
      { ...image, mimeType: undefined, data: 7 },
    ]),
    ['[image, image/png, 8 bytes]', '[image, image/svg+xml, 9 bytes]', '[image, 0 bytes]'],
  );
});

t.test('links, audio and blobs become a line, and are not fetched', async (t) => {
  t.strictSame(
    textsOf([
      { type: 'resource_link', uri: 'https://example.com/a\nb', name: 'a.txt', mimeType: 'text/plain' },
      { type: 'audio', mimeType: 'audio/wav', data: PNG },
      { type: 'resource', resource: { uri: 'file:///a', mimeType: 'application/pdf', blob: PNG } },
      { type: 'resource', resource: { uri: 'file:///b', text: 'whole' } },
      { type: 'resource' },
      { type: 'hologram' },
      { type: `x${'y'.repeat(300)}` },
      'text',
    ]),
    [
      '[link to https://example.com/a b, a.txt, text/plain]',
      '[audio, audio/wav, 9 bytes]',
      '[resource file:///a, application/pdf, 9 bytes]',
      'whole',
      '[a part of the kind resource]',
      '[a part of the kind hologram]',
      `[a part of the kind x${'y'.repeat(199)}…]`,
      '[a part that is no object]',
    ],
  );
});

t.test('structured content is the text where there is no other', async (t) => {
  const structuredContent = { temperature: 21 };
  t.strictSame(readResult({ content: [], structuredContent }).parts, [{ type: 'text', text: '{"temperature":21}' }]);
  t.strictSame(readResult({ structuredContent }).parts, [{ type: 'text', text: '{"temperature":21}' }]);
  t.strictSame(readResult({ content: [{ type: 'text', text: '21 degrees' }], structuredContent }).parts, [{ type: 'text', text: '21 degrees' }]);
});

t.test('structured content is also given as it is, for a probe', async (t) => {
  const structuredContent = { payments: [{ id: 'p1' }] };
  t.strictSame(readResult({ content: [{ type: 'text', text: 'One payment.' }], structuredContent }).structuredContent, structuredContent);
  t.notOk('structuredContent' in readResult({ content: [] }));
});

t.test('what is no result says so, and a failure of the tool is one', async (t) => {
  const none = { isError: true, parts: [{ type: 'text', text: 'The server has answered with what is no result.' }] };
  for (const result of [undefined, null, 'text', []]) t.strictSame(readResult(result), none);
  t.strictSame(readResult({}), { isError: false, parts: [] });
  t.strictSame(readResult({ content: 'text', isError: 'yes' }), { isError: false, parts: [] });
  t.match(readResult({ content: [{ type: 'text', text: 'No such file.' }], isError: true }), { isError: true });
  t.strictSame(errorResult('It failed\u0007.'), { isError: true, parts: [{ type: 'text', text: 'It failed.' }] });
});

t.test('of very many parts the first thousand stay', async (t) => {
  const texts = textsOf(Array.from({ length: 1002 }, (_, at) => ({ type: 'text', text: String(at) })));
  t.equal(texts.length, 1001);
  t.equal(texts.at(-1), '[2 further parts are left out]');
});

t.test('a result of a few short texts is short, and no other', async (t) => {
  const text = (length: number) => ({ type: 'text', text: 'x'.repeat(length) });
  for (const content of [[], [text(65_536)], Array.from({ length: 100 }, () => text(10))]) t.ok(isShort({ content }));
  const many = Array.from({ length: 101 }, () => text(1));
  for (const content of [[text(40_000), text(40_000)], many, [{ type: 'image', data: PNG }], [5], undefined]) t.notOk(isShort({ content }));
  t.notOk(isShort({ content: [], structuredContent: {} }));
  t.notOk(isShort(5));
});
