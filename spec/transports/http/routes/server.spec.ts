import t from 'tap';
import { CONNECTION_ROUTES } from '../../../../transports/http/routes/connections.ts';
import { CREDENTIAL_ROUTES } from '../../../../transports/http/routes/credentials.ts';
import { PRICE_ROUTES } from '../../../../transports/http/routes/prices.ts';
import { SERVER_ROUTES } from '../../../../transports/http/routes/server.ts';
import { SESSION_ROUTES } from '../../../../transports/http/routes/session.ts';

t.test('only health, the verdict about a token and the contracts are public', async (t) => {
  t.strictSame(
    Object.entries(SERVER_ROUTES).map(([key, route]) => [key, 'public' in route]),
    [
      ['GET /api/health', true],
      ['GET /api/auth/status', true],
      ['GET /api/adapters', false],
      ['GET /api/settings', false],
      ['GET /api/nodes', false],
      ['POST /api/nodes/:node/drain', false],
      ['DELETE /api/nodes/:node/drain', false],
      ['GET /openapi.json', true],
      ['GET /asyncapi.json', true],
    ],
  );
});

t.test('the verdict about a token can be that there were too many', async (t) => {
  t.strictSame(SERVER_ROUTES['GET /api/auth/status'].errors, ['TOO_MANY_ATTEMPTS']);
});

t.test('a change of credentials says how it may fail', async (t) => {
  for (const [key, route] of Object.entries(CREDENTIAL_ROUTES))
    if (!key.startsWith('GET')) t.ok((route.errors as readonly string[]).includes('WRONG_STATE'), key);
});

t.test('connections and prices are the business of the workspace alone', async (t) => {
  for (const [key, route] of Object.entries({ ...CONNECTION_ROUTES, ...PRICE_ROUTES })) t.notOk('public' in route || 'keys' in route, key);
});

t.test('only the exchange for a session key needs no token', async (t) => {
  t.strictSame(
    Object.entries(SESSION_ROUTES).flatMap(([key, route]) => ('public' in route ? [key] : [])),
    ['POST /api/session'],
  );
});
