import t from 'tap';
import { SKILL_ROUTES } from '../../../../transports/http/routes/skills.ts';

t.test('no route of skills is open, and none is for keys of applications', async (t) => {
  for (const [key, route] of Object.entries(SKILL_ROUTES)) {
    t.match(key, /^[A-Z]+ \/api\/skills(?:\/|$)/);
    t.notOk('public' in route, key);
  }
});
