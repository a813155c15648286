import t from 'tap';
import { pageLink } from '../../cli/page-link.ts';

t.test('the code is in the fragment, which reaches no server', async (t) => {
  const link = pageLink(new URL('http://127.0.0.1:8420'), 'abc');
  t.equal(link, 'http://127.0.0.1:8420/ui/#code=abc');
  t.equal(new URL(link).search, '');
});
