import t from 'tap';
import { toChatParts, toInputParts, toOutput } from '../../../adapters/openai/content.ts';
import type { ContentPart } from '../../../core/index.ts';

const IMAGE: ContentPart = { type: 'image', mediaType: 'image/png', data: 'AAAA', detail: 'low' };
const PDF: ContentPart = { type: 'document', mediaType: 'application/pdf', data: 'BBBB', name: 'a.pdf' };

t.test('Responses takes text, images and documents, by data or by URL', async (t) => {
  t.same(
    toInputParts([
      { type: 'text', text: 'look' },
      IMAGE,
      { type: 'image', url: 'https://x/y.png' },
      PDF,
      { type: 'document', url: 'https://x/z.pdf' },
      { type: 'document', text: 'notes' },
    ]),
    [
      { type: 'input_text', text: 'look' },
      { type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail: 'low' },
      { type: 'input_image', image_url: 'https://x/y.png', detail: 'auto' },
      { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,BBBB' },
      { type: 'input_file', file_url: 'https://x/z.pdf' },
      { type: 'input_text', text: 'notes' },
    ],
  );
  t.throws(() => toInputParts([{ type: 'audio', mediaType: 'audio/wav', data: 'CCCC' }]), { code: 'INVALID_REQUEST', message: /audio/ });
});

t.test('the output of a tool is text, or parts with its images', async (t) => {
  const result = { toolCallId: '1', toolName: 'f', content: 'text', isError: false };
  t.equal(toOutput(result), 'text');
  t.match(toOutput({ ...result, parts: [IMAGE] }), [{ type: 'input_image' }]);
});

t.test('Chat Completions takes images, audio and the data of documents', async (t) => {
  t.same(toChatParts([IMAGE, PDF, { type: 'audio', mediaType: 'audio/mpeg', data: 'CCCC' }]), [
    { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } },
    { type: 'file', file: { file_data: 'data:application/pdf;base64,BBBB', filename: 'a.pdf' } },
    { type: 'input_audio', input_audio: { data: 'CCCC', format: 'mp3' } },
  ]);
  t.throws(() => toChatParts([{ type: 'document', url: 'https://x' }]), { message: /URL/ });
  t.throws(() => toChatParts([{ type: 'audio', mediaType: 'audio/ogg', data: 'x' }]), { message: /audio\/ogg/ });
});
