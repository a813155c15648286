import t from 'tap';
import { urlOf } from '../../../core/base/url.ts';

t.test('a text is a URL or none, however often it is asked', async (t) => {
  t.equal(urlOf('nothing'), undefined);
  t.equal(urlOf('http://a b'), undefined);
  let refused = 0;
  // Node's own check answers wrongly once it is compiled, after some thousand calls.
  for (let call = 0; call < 50_000; call += 1) if (urlOf('http://b\u00fccher.example/a')?.hostname !== 'xn--bcher-kva.example') refused += 1;
  t.equal(refused, 0);
});
