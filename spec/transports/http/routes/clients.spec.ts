import t from 'tap';
import { CLIENT_ROUTES } from '../../../../transports/http/routes/clients.ts';

t.test('no route for clients is public, and each that changes a file says how that may fail', async (t) => {
  for (const [key, route] of Object.entries(CLIENT_ROUTES)) {
    t.notOk('public' in route, key);
    if (!key.startsWith('GET'))
      t.ok(
        route.errors.some((code) => code === 'STORAGE_FULL'),
        key,
      );
    t.ok(
      route.errors.some((code) => code === 'WORKSPACE_DAMAGED'),
      key,
    );
  }
});
