import t from 'tap';
import { audioPart, contentOfParts, sourceOf } from '../../../../../transports/http/dialects/shared/media.ts';

t.test('a data: URL is its bytes and their type, and an http URL stays one', async (t) => {
  t.same(sourceOf('data:image/png;base64,AAAA', 'x'), { mediaType: 'image/png', data: 'AAAA' });
  t.same(sourceOf('data:text/plain;charset=utf-8;base64,QQ==', 'x'), { mediaType: 'text/plain', data: 'QQ==' });
  t.same(sourceOf('https://example.com/a.png', 'x'), { url: 'https://example.com/a.png' });
});

t.test('the type of a data: URL is written as providers know it', async (t) => {
  t.same(sourceOf('data:image/jpg;base64,AAAA', 'x'), { mediaType: 'image/jpeg', data: 'AAAA' });
  t.same(sourceOf('data:IMAGE/PNG;base64,AAAA', 'x'), { mediaType: 'image/png', data: 'AAAA' });
});

t.test('a data: URL with millions of parameters is refused like any other address', async (t) => {
  t.throws(() => sourceOf(`data:image/png;${'a=b;'.repeat(7_000_000)}base64,AAAA`, 'x'), /^x must be an http or https URL/);
});

t.test('any other address is refused by its field', async (t) => {
  for (const url of ['file:///etc/passwd', '/etc/passwd', 'data:text/plain,hello', '', null, 5])
    t.throws(() => sourceOf(url, 'input[0].content[0].image_url'), /^input\[0\]\.content\[0\]\.image_url /, String(url));
});

t.test('an audio has its type from its format', async (t) => {
  t.same(audioPart({ data: 'A', format: 'mp3' }, 'x'), { type: 'audio', mediaType: 'audio/mpeg', data: 'A' });
  t.same(audioPart({ data: 'A', format: 'wav' }, 'x'), { type: 'audio', mediaType: 'audio/wav', data: 'A' });
  for (const audio of [null, {}, { data: 'A' }]) t.throws(() => audioPart(audio, 'x'), /^x /);
});

t.test('a text alone is a text; with a mark, or beside another part, it stays a part', async (t) => {
  const a = { type: 'text', text: 'a' } as const;
  t.equal(contentOfParts([]), '');
  t.equal(contentOfParts([a]), 'a');
  t.same(contentOfParts([{ ...a, cache: '5m' }]), [{ ...a, cache: '5m' }]);
  t.same(contentOfParts([a, a]), [a, a]);
});
