import t from 'tap';
import { NOTIFY_ROUTES } from '../../../../transports/http/routes/notify.ts';

t.test('decision links are open, and no route of targets is', async (t) => {
  const open = Object.entries(NOTIFY_ROUTES).flatMap(([key, route]) => ('public' in route ? [key] : []));
  t.strictSame(open, ['GET /api/decide/:ticket', 'POST /api/decide/:ticket']);
});
