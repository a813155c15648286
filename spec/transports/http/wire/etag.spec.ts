import { gunzipSync } from 'node:zlib';
import t from 'tap';
import { documentReply } from '../../../../transports/http/wire/document.ts';
import { etagOfBytes, isKnown, tagged } from '../../../../transports/http/wire/etag.ts';
import { Written } from '../../../../transports/http/wire/reply.ts';

const asking = (known?: string) => ({ headers: known === undefined ? {} : { 'if-none-match': known } });

t.test('the same bytes have the same tag, and others another one', async (t) => {
  t.equal(etagOfBytes('a'), etagOfBytes(Buffer.from('a')));
  t.not(etagOfBytes('a'), etagOfBytes('b'));
  t.match(etagOfBytes(''), /^"[\w-]{22}"$/);
});

t.test('a client has what it names, alone, in a list, weakly, or as anything', async (t) => {
  const etag = '"abc"';
  for (const known of ['"abc"', 'W/"abc"', '"x", "abc"', '*']) t.ok(isKnown(asking(known), etag), known);
  for (const known of ['"x"', 'abc', '', undefined]) t.notOk(isKnown(asking(known), etag), String(known));
});

t.test('who has the body gets 304 without one, and everybody else the body, with the tag', async (t) => {
  const { status, body, headers = {} } = tagged(asking(), { a: 1 });
  t.match([status, body.content], [200, '{"a":1}']);
  t.match(tagged(asking(headers['etag']), { a: 1 }), { status: 304, body: undefined, headers });
  t.match(tagged(asking(headers['etag']), { a: 2 }), { status: 200 });
});

t.test('what is written already goes out as it is', async (t) => {
  const written = new Written('{}');
  const reply = tagged(asking(), written);
  t.equal(reply.body, written);
  t.equal(tagged(asking(reply.headers?.['etag']), written).status, 304);
});

t.test('a document that stays is compressed once, for who takes gzip', async (t) => {
  const text = JSON.stringify({ words: 'the same again '.repeat(500) });
  const [plain, zipped, again] = await Promise.all(
    [{}, { 'accept-encoding': 'br;q=1, GZIP ; q=0.5' }, { 'accept-encoding': '*' }].map((headers) => documentReply({ headers }, text)),
  );
  t.ok(plain?.body.content instanceof Buffer, 'bytes that all answers share, for a text would be copied for each of them');
  t.equal(String(plain?.body.content), text);
  t.equal(gunzipSync(zipped?.body.content as Uint8Array).toString(), text);
  t.equal(again?.body, zipped?.body);
  for (const accept of ['', 'br', 'gzip;q=0', 'gzip; q=0.0', 'xgzip'])
    t.equal((await documentReply({ headers: { 'accept-encoding': accept } }, text)).body, plain?.body, accept);
  t.match(await documentReply({ headers: { 'if-none-match': plain?.headers?.['etag'] ?? '' } }, text), { status: 304, body: undefined });
});

t.test('a long run of blanks in the list of encodings costs in proportion to its length', async (t) => {
  // Longer than a head may be: work for each pair of them would take far longer than a test may.
  const blanks = ' '.repeat(4 * 1024 * 1024);
  const text = JSON.stringify({ words: 'some other words '.repeat(500) });
  const [given, refused] = await Promise.all(
    [`a${blanks}b, gzip${blanks};${blanks}q=1`, `gzip${blanks};${blanks}q=0`].map((accept) => documentReply({ headers: { 'accept-encoding': accept } }, text)),
  );
  t.equal(gunzipSync(given?.body.content as Uint8Array).toString(), text);
  t.equal(String(refused?.body.content), text);
});
