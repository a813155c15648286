import t from 'tap';
import { SERVER_ROUTES } from '../../../../transports/http/routes/server.ts';

t.test('only health, the verdict about a token and the contracts are public', async (t) => {
  t.strictSame(
    Object.entries(SERVER_ROUTES).map(([key, route]) => [key, 'public' in route]),
    [
      ['GET /api/health', true],
      ['GET /api/auth/status', true],
      ['GET /api/adapters', false],
      ['GET /api/settings', false],
      ['GET /openapi.json', true],
      ['GET /asyncapi.json', true],
    ],
  );
});

t.test('the verdict about a token can be that there were too many', async (t) => {
  t.strictSame(SERVER_ROUTES['GET /api/auth/status'].errors, ['TOO_MANY_ATTEMPTS']);
});
