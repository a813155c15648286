import t from 'tap';
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
