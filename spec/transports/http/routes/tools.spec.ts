import t from 'tap';
import { TOOL_ROUTES } from '../../../../transports/http/routes/tools.ts';

/** Where a browser comes back from a sign-in, which has no token to show. */
const OPEN = ['GET /callback'];

t.test('of the routes of servers of tools only the end of a sign-in is open, and none is for keys of applications', async (t) => {
  for (const [key, route] of Object.entries(TOOL_ROUTES)) {
    if (!OPEN.includes(key)) t.match(key, /^[A-Z]+ \/api\/tools(?:\/|$)/);
    t.equal('public' in route, OPEN.includes(key), key);
  }
});
