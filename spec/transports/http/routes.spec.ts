import t from 'tap';
import { routes } from '../../../transports/http/routes.ts';
import { DEFAULT_SSE_TIMING } from '../../../transports/http/sse.ts';

const all = routes(DEFAULT_SSE_TIMING);

t.test('the gateway surface of the contract is there, each route once', async (t) => {
  const names = all.map(({ method, path }) => `${method} ${path}`);
  const contract = [
    'GET /v1/health',
    'GET /v1/adapters',
    'GET /v1/adapters/:provider/models',
    'POST /v1/adapters/:provider/verify',
    'POST /v1/chat',
    'GET /api/health',
    'GET /api/auth/status',
  ];
  for (const name of contract) t.ok(names.includes(name), name);
  t.equal(new Set(names).size, names.length);
});

t.test('the three routes of the contract, and no other, need no token', async (t) => {
  t.strictSame(
    all
      .filter((route) => route.public)
      .map(({ path }) => path)
      .sort(),
    ['/api/auth/status', '/api/health', '/v1/health'],
  );
});
