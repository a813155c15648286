import t from 'tap';
import { TOOL_ROUTES } from '../../../../transports/http/routes/tools.ts';

t.test('no route of servers of tools is open, and none is for keys of applications', async (t) => {
  for (const [key, route] of Object.entries(TOOL_ROUTES)) {
    t.match(key, /^[A-Z]+ \/api\/tools(?:\/|$)/);
    t.notOk('public' in route, key);
  }
});
