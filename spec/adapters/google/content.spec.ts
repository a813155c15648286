import t from 'tap';
import { toGoogleParts } from '../../../adapters/google/content.ts';

t.test('data is inline, and a URL only from where Gemini can fetch', async (t) => {
  t.same(
    toGoogleParts([
      { type: 'text', text: 'look' },
      { type: 'image', mediaType: 'image/png', data: 'AAAA' },
      { type: 'document', mediaType: 'application/pdf', url: 'https://storage.googleapis.com/bucket/a.pdf' },
      { type: 'document', text: 'notes' },
      { type: 'audio', mediaType: 'audio/wav', data: 'BBBB' },
      { type: 'reasoning', text: 'hm' },
      { type: 'text', text: '' },
    ]),
    [
      { text: 'look' },
      { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
      { fileData: { mimeType: 'application/pdf', fileUri: 'https://storage.googleapis.com/bucket/a.pdf' } },
      { text: 'notes' },
      { inlineData: { mimeType: 'audio/wav', data: 'BBBB' } },
    ],
  );
  t.same(
    toGoogleParts([
      { type: 'document', mediaType: 'application/pdf', data: 'AAAA', name: 'a.pdf' },
      { type: 'document', text: 'notes', name: 'b.txt' },
    ]),
    [{ text: 'a.pdf:' }, { inlineData: { mimeType: 'application/pdf', data: 'AAAA' } }, { text: 'b.txt:' }, { text: 'notes' }],
    'Gemini has no field for the name of a file',
  );
  for (const url of ['https://example.com/a.png', 'http://storage.googleapis.com/a.png', 'https://youtube.com.evil.example/a'])
    t.throws(() => toGoogleParts([{ type: 'image', url }]), { code: 'INVALID_REQUEST', message: /can't fetch/ }, url);
});
