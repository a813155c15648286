import t from 'tap';
import { readAttachments, withAttachments } from '../../../cli/talk/attachments.ts';

const bytes = (text: string): Buffer => Buffer.from(text, 'latin1');
const FILES = {
  'a.dat': bytes('\x89PNG\r\n\x1a\nrest'),
  'b.dat': bytes('\xff\xd8\xff\xe0rest'),
  'c.dat': bytes('GIF89arest'),
  'd.dat': bytes('RIFF\x01\x02\x03\x04WEBPrest'),
  'e.dat': bytes('%PDF-1.7 rest'),
  'f.md': Buffer.from('\ufeffSüß'),
  'zip.txt': bytes('PK\x03\x04\x00\x00'),
  'latin.txt': bytes('S\xfc\xdf'),
  'empty.txt': '',
  large: Buffer.alloc(20 * 1024 * 1024 + 1, 'x'),
  full: Buffer.alloc(20 * 1024 * 1024, 'x'),
};

t.test('the type of an image comes from its first bytes, not from its name', async (t) => {
  const folder = t.testdir(FILES);
  const parts = await readAttachments({ images: ['a', 'b', 'c', 'd'].map((name) => `${folder}/${name}.dat`), files: [] });
  t.same(
    parts.map(({ mediaType }) => mediaType),
    ['image/png', 'image/jpeg', 'image/gif', 'image/webp'],
  );
  t.strictSame(parts[2], { type: 'image', mediaType: 'image/gif', data: bytes('GIF89arest').toString('base64') });
});

t.test('an http or https address is passed on as a URL', async (t) => {
  t.strictSame(await readAttachments({ images: ['HTTPS://example.org/a.png'], files: [] }), [{ type: 'image', url: 'HTTPS://example.org/a.png' }]);
});

t.test('a PDF goes as data and a text file as text, both with their names; images come first', async (t) => {
  const folder = t.testdir(FILES);
  t.strictSame(await readAttachments({ images: [`${folder}/c.dat`], files: [`${folder}/e.dat`, `${folder}/f.md`] }), [
    { type: 'image', mediaType: 'image/gif', data: bytes('GIF89arest').toString('base64') },
    { type: 'document', mediaType: 'application/pdf', data: bytes('%PDF-1.7 rest').toString('base64'), name: 'e.dat' },
    { type: 'document', mediaType: 'text/plain', text: 'Süß', name: 'f.md' },
  ]);
});

t.test('what can not be sent is refused with the option, the file and the reason', async (t) => {
  const folder = t.testdir(FILES);
  const image = (name: string) => readAttachments({ images: [`${folder}/${name}`], files: [] });
  const file = (name: string) => readAttachments({ images: [], files: [`${folder}/${name}`] });
  await t.rejects(image('none.png'), { kind: 'usage', message: /^--image: .*none\.png is not there\.$/ });
  await t.rejects(image('.'), { kind: 'usage', message: /is a folder/ });
  await t.rejects(image('e.dat'), { kind: 'usage', message: /e\.dat is not a PNG, JPEG, GIF or WebP image\.$/ });
  await t.rejects(image('large'), { kind: 'usage', message: /large is larger than 20 MiB\.$/ });
  await t.rejects(file('empty.txt'), { kind: 'usage', message: /^--file: .*empty\.txt is empty\.$/ });
  await t.rejects(file('a.dat'), { kind: 'usage', message: /is an image; send it with --image\.$/ });
  await t.rejects(file('zip.txt'), { kind: 'usage', message: /is neither a PDF nor text in UTF-8\.$/ });
  await t.rejects(file('latin.txt'), { kind: 'usage', message: /is neither a PDF nor text in UTF-8\.$/ });
  await t.rejects(readAttachments({ images: [], files: ['https://example.org/a.pdf'] }), { kind: 'usage', message: /is a URL; download the file first\.$/ });
  t.equal((await file('full'))[0]?.text?.length, 20 * 1024 * 1024, 'the limit itself is allowed');
});

t.test('attachments stand before the text, and without any the content is the text', (t) => {
  t.equal(withAttachments('hi', []), 'hi');
  t.strictSame(withAttachments('hi', [{ type: 'image', url: 'https://a.b' }]), [
    { type: 'image', url: 'https://a.b' },
    { type: 'text', text: 'hi' },
  ]);
  t.end();
});
