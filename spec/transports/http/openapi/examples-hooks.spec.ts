import t from 'tap';
import { HOOK_EXAMPLES } from '../../../../transports/http/openapi/examples-hooks.ts';

t.test('a secret is only where it is shown once', async (t) => {
  const { MadeHook, ...others } = HOOK_EXAMPLES;
  t.match(MadeHook.value.secret, /^whsec_/);
  t.notMatch(JSON.stringify(others), 'whsec_');
});
