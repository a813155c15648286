import t from 'tap';
import { blocksOf, cacheOf, type Notes, partsOf } from '../../../../../transports/http/dialects/anthropic/content.ts';
import { Sources } from '../../../../../transports/http/dialects/shared/sources.ts';

const notes = (): Notes => ({ warnings: [], sources: new Sources() });
const read = (content: unknown) => partsOf(content, 'messages.0.content', notes());

t.test('every block that a model can read is a part', async (t) => {
  t.same(read('hi'), [{ type: 'text', text: 'hi' }]);
  t.same(
    read([
      { type: 'text', text: 'hi', citations: null },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
      { type: 'image', source: { type: 'url', url: 'https://a.example/x.png' } },
      { type: 'document', title: 'a.pdf', source: { type: 'base64', media_type: 'application/pdf', data: 'BBBB' } },
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'words' } },
      {
        type: 'document',
        source: {
          type: 'content',
          content: [
            { type: 'text', text: 'one' },
            { type: 'text', text: 'two' },
          ],
        },
      },
      {
        type: 'search_result',
        title: 'T',
        source: 'https://a.example',
        content: [
          { type: 'text', text: 'found' },
          { type: 'text', text: 'more' },
        ],
      },
    ]),
    [
      { type: 'text', text: 'hi' },
      { type: 'image', mediaType: 'image/png', data: 'AAAA' },
      { type: 'image', url: 'https://a.example/x.png' },
      { type: 'document', mediaType: 'application/pdf', data: 'BBBB', name: 'a.pdf' },
      { type: 'document', mediaType: 'text/plain', text: 'words' },
      { type: 'document', mediaType: 'text/plain', text: 'one\ntwo' },
      { type: 'text', text: 'T\nhttps://a.example\n\nfound\n\nmore' },
    ],
  );
});

t.test('a document keeps its images, in their order, and what is said about it', async (t) => {
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };
  const content = [{ type: 'text', text: 'one' }, { type: 'text', text: 'two' }, image, { type: 'text', text: 'three' }];
  t.same(read([{ type: 'document', title: 'T', context: 'of 2020', cache_control: { type: 'ephemeral' }, source: { type: 'content', content } }]), [
    { type: 'text', text: 'of 2020' },
    { type: 'document', mediaType: 'text/plain', text: 'one\ntwo', name: 'T' },
    { type: 'image', mediaType: 'image/png', data: 'AAAA' },
    { type: 'document', mediaType: 'text/plain', text: 'three', name: 'T', cache: '5m' },
  ]);
  t.same(read([{ type: 'document', source: { type: 'content', content: 'words' } }]), [{ type: 'document', mediaType: 'text/plain', text: 'words' }]);
});

t.test('citations that are asked for are missed with a warning', async (t) => {
  const own = notes();
  const source = { type: 'text', media_type: 'text/plain', data: 'words' };
  partsOf(
    [
      { type: 'document', source, citations: { enabled: true } },
      { type: 'document', source, citations: { enabled: false } },
      { type: 'search_result', title: 'T', source: 's', content: [], citations: { enabled: true } },
      { type: 'text', text: 'said', citations: [{ type: 'char_location' }] },
    ],
    'messages.0.content',
    own,
  );
  t.same(
    own.warnings.map(({ field }) => field),
    ['messages.0.content.0.citations', 'messages.0.content.2.citations'],
  );
});

t.test('marks for caching stay on their parts', async (t) => {
  t.same(cacheOf({ cache_control: { type: 'ephemeral' } }), { cache: '5m' });
  t.same(cacheOf({ cache_control: { type: 'ephemeral', ttl: '1h' } }), { cache: '1h' });
  t.same(cacheOf({ cache_control: null }), {});
  t.same(read([{ type: 'text', text: 'a', cache_control: { type: 'ephemeral' } }]), [{ type: 'text', text: 'a', cache: '5m' }]);
});

t.test('a block of next month is left out with a warning', async (t) => {
  const own = notes();
  t.same(partsOf([{ type: 'hologram' }, { type: 'text', text: 'hi' }], 'messages.0.content', own), [{ type: 'text', text: 'hi' }]);
  t.match(own.warnings, [{ field: 'messages.0.content.0' }]);
});

t.test('a stored file and an odd form are refused by the name of the field', async (t) => {
  t.throws(() => read([{ type: 'image', source: { type: 'file', file_id: 'f' } }]), { message: /^messages\.0\.content\.0\.source names a stored file/ });
  t.throws(() => read([{ type: 'image' }]), { message: /^messages\.0\.content\.0\.source must be an object/ });
  t.throws(() => read([{ type: 'image', source: { type: 'base64', data: 'A' } }]), { message: /media_type is required/ });
  t.throws(() => read([{ type: 'document', source: { type: 'odd' } }]), { message: /source\.type must be base64 or url/ });
  t.throws(() => blocksOf(7, 'system'), { message: /^system must be a string or a list/ });
  t.throws(() => blocksOf(['x'], 'system'), { message: /^system\.0 must be an object/ });
  t.same(blocksOf(null, 'system'), []);
});
