import t from 'tap';
import { documentTo, pageLink } from '../../../cli/serve/page-link.ts';

t.test('the code is in the fragment, which reaches no server', async (t) => {
  const link = pageLink(new URL('http://127.0.0.1:8420'), 'abc');
  t.equal(link, 'http://127.0.0.1:8420/ui/#code=abc');
  t.equal(new URL(link).search, '');
});

t.test('the text of an address stays text', async (t) => {
  const html = documentTo('http://x/?a=1&b="</script><script>alert(1)//#code=c');
  t.equal(html.match(/<script>/g)?.length, 1);
  t.match(html, 'content="1; url=http://x/?a=1&amp;b=&quot;&lt;/script>');
  t.match(html, /location\.replace\("http:\/\/x\/\?a=1&b=\\"\\u003c\/script>\\u003cscript>/);
});
