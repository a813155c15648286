import t from 'tap';
import { SESSION_ROUTES } from '../../../../transports/http/routes/session.ts';

t.test('only the exchange for a session key needs no token', async (t) => {
  t.strictSame(
    Object.entries(SESSION_ROUTES).map(([key, route]) => [key, 'public' in route]),
    [
      ['POST /api/session', true],
      ['POST /api/session/code', false],
      ['POST /api/session/ticket', false],
    ],
  );
});
