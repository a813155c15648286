import t from 'tap';
import { toContent } from '../../../adapters/ollama/content.ts';

t.test('text is joined, and images stand beside it', async (t) => {
  t.same(
    toContent([
      { type: 'text', text: 'look' },
      { type: 'image', mediaType: 'image/png', data: 'AAAA' },
      { type: 'document', text: 'notes' },
      { type: 'reasoning', text: 'hm' },
    ]),
    { content: 'look\nnotes', images: ['AAAA'] },
  );
  t.same(toContent([{ type: 'text', text: 'a' }]), { content: 'a' });
});

t.test('what Ollama would have to fetch or read is refused', async (t) => {
  t.throws(() => toContent([{ type: 'image', url: 'https://x' }]), { code: 'INVALID_REQUEST', message: /has a URL/ });
  t.throws(() => toContent([{ type: 'document', mediaType: 'application/pdf', data: 'AAAA' }]), {
    code: 'INVALID_REQUEST',
    message: /is not text/,
  });
});
