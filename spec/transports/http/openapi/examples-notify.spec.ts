import t from 'tap';
import { NOTIFY_EXAMPLES } from '../../../../transports/http/openapi/examples-notify.ts';

t.test('a secret is only where it is shown once, and a target is shown without the path of its address', async (t) => {
  const { MadeTarget, ...others } = NOTIFY_EXAMPLES;
  t.match(MadeTarget.value.secret, /^whsec_/);
  t.notMatch(JSON.stringify(others), 'whsec_');
  t.equal(MadeTarget.value.target.url, 'https://push.example/…');
});
