import t from 'tap';
import { HOOK_ROUTES } from '../../../../transports/http/routes/hooks.ts';

t.test('the door for deliveries is open, and no other route of hooks', async (t) => {
  const open = Object.entries(HOOK_ROUTES).flatMap(([key, route]) => ('public' in route ? [key] : []));
  t.strictSame(open, ['POST /api/hooks/:block/:hook']);
});
