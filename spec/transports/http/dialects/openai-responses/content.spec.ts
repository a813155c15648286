import t from 'tap';
import type { Warning } from '../../../../../core/index.ts';
import { contentOf } from '../../../../../transports/http/dialects/openai-responses/content.ts';
import { Sources } from '../../../../../transports/http/dialects/shared/sources.ts';

function read(content: unknown) {
  const notes = { warnings: [] as Warning[], sources: new Sources() };
  return { content: contentOf(content, 'input[0].content', notes), ...notes };
}

t.test('texts of every type are text', async (t) => {
  const parts = ['input_text', 'output_text', 'text', 'summary_text'].map((type) => ({ type, text: type }));
  t.same(
    read([...parts, { type: 'refusal', refusal: 'no' }]).content,
    ['input_text', 'output_text', 'text', 'summary_text', 'no'].map((text) => ({ type: 'text', text })),
  );
  t.equal(read([{ type: 'input_text', text: 'alone' }]).content, 'alone');
  for (const [given, text] of [
    [null, ''],
    [undefined, ''],
    ['a', 'a'],
    [[], ''],
    [[{ type: 'input_text', text: null }], ''],
  ] as const)
    t.equal(read(given).content, text);
});

t.test('parts of each kind are read, and what is not known is left out with a warning', async (t) => {
  const { content, warnings, sources } = read([
    { type: 'input_hologram' },
    { type: null },
    { type: 'input_image', image_url: 'https://example.com/a.png', detail: 'original' },
    { type: 'input_file', file_url: 'https://example.com/a.pdf' },
    { type: 'input_audio', input_audio: { data: 'A', format: 'mp3' } },
  ]);
  t.same(content, [
    { type: 'image', url: 'https://example.com/a.png' },
    { type: 'document', url: 'https://example.com/a.pdf' },
    { type: 'audio', mediaType: 'audio/mpeg', data: 'A' },
  ]);
  t.match(warnings, [{ field: 'input[0].content[0]' }, { field: 'input[0].content[1]' }]);
  t.equal(sources.of({ content }, 'content[1].url'), 'input[0].content[3]');
});

t.test('stored files and wrong parts are refused by their field', async (t) => {
  for (const [content, message] of [
    [5, /^input\[0\]\.content must be a string/],
    [[null], /^input\[0\]\.content\[0\] must be an object/],
    [[{ type: 'input_file', file_id: 'f' }], /^input\[0\]\.content\[0\]\.file_id names a stored file/],
    [[{ type: 'input_image' }], /^input\[0\]\.content\[0\]\.image_url is required/],
    [[{ type: 'input_file' }], /^input\[0\]\.content\[0\]\.file_url is required/],
  ] as const)
    t.throws(() => read(content), message);
});
