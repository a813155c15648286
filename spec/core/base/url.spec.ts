import t from 'tap';
import { isLinkPath, urlOf, withoutTicket } from '../../../core/base/url.ts';

t.test('a text is a URL or none, however often it is asked', async (t) => {
  t.equal(urlOf('nothing'), undefined);
  t.equal(urlOf('http://a b'), undefined);
  let refused = 0;
  // Node's own check answers wrongly once it is compiled, after some thousand calls.
  for (let call = 0; call < 50_000; call += 1) if (urlOf('http://b\u00fccher.example/a')?.hostname !== 'xn--bcher-kva.example') refused += 1;
  t.equal(refused, 0);
});

t.test('no path is shown with a ticket, in whatever spelling', async (t) => {
  for (const path of ['/api/decide/x', '/api/decide/x/', '/x/api/decide/x', '/api/decide%2Fx', '/api/decide%2fx', '/API/DECIDE/x', 'http://h/api/decide/x'])
    t.match(withoutTicket(path), /\/api\/decide\/…$/, path);
  for (const path of ['/api/blocks/decide', '/api/decide', '/', '']) t.equal(withoutTicket(path), path);
  t.ok(isLinkPath('/api/decide/x'));
  t.notOk(isLinkPath('/api/decided/x'));
});
