import t from 'tap';
import { CREDENTIAL_ROUTES } from '../../../../transports/http/routes/credentials.ts';

t.test('no route of credentials is public, and a change says how it may fail', async (t) => {
  for (const [key, route] of Object.entries(CREDENTIAL_ROUTES)) {
    t.notOk('public' in route, key);
    if (!key.startsWith('GET')) t.ok((route.errors as readonly string[]).includes('WRONG_STATE'), key);
  }
});
