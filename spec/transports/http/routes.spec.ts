import { readFileSync } from 'node:fs';
import t from 'tap';
import { Router } from '../../../transports/http/router.ts';
import { ROUTES } from '../../../transports/http/routes.ts';

t.test('the routes of the contract are there, each route once', async (t) => {
  const names = ROUTES.map(({ method, path }) => `${method} ${path}`);
  const contract = [
    'GET /v1/health',
    'GET /v1/adapters',
    'GET /v1/adapters/:provider/models',
    'POST /v1/adapters/:provider/verify',
    'POST /v1/chat',
    'GET /api/health',
    'GET /api/auth/status',
    'GET /api/blocks',
    'POST /api/blocks',
    'GET /api/blocks/:name',
    'DELETE /api/blocks/:name',
    'POST /api/blocks/:name/start',
    'POST /api/blocks/:name/stop',
    'POST /api/blocks/:name/reset',
    'POST /api/blocks/:name/chat',
    'GET /api/blocks/:name/chat',
    'GET /api/blocks/:name/config',
    'PUT /api/blocks/:name/config',
    'GET /api/blocks/:name/logs',
    'GET /api/archive',
    'POST /api/archive/:name/restore',
    'DELETE /api/archive/:name',
  ];
  for (const name of contract) t.ok(names.includes(name), name);
  t.equal(new Set(names).size, names.length);
});

t.test(
  'health, what says that a server is there, the verdict about a token, signing in, signed deliveries, decision links, the end of a sign-in and the published contracts, and no other route, need no token',
  async (t) => {
    t.strictSame(
      ROUTES.filter((route) => route.public)
        .map(({ path }) => path)
        .sort(),
      [
        '/api/auth/status',
        '/api/decide/:ticket',
        '/api/decide/:ticket',
        '/api/health',
        '/api/hooks/:block/:hook',
        '/api/session',
        '/asyncapi.json',
        '/callback',
        '/ollama',
        '/openapi.json',
        '/v1/health',
      ],
    );
  },
);

t.test('a path of two parameters leads to its own route', async (t) => {
  const router = new Router(ROUTES);
  t.match(router.find('POST', '/api/blocks/a/chat/m1/cancel'), { route: { path: '/api/blocks/:name/chat/:id/cancel' }, params: { name: 'a', id: 'm1' } });
  t.match(router.find('DELETE', '/api/blocks/a/memory/facts/f1'), { params: { name: 'a', id: 'f1' } });
  t.match(router.find('GET', '/api/blocks/start'), { route: { path: '/api/blocks/:name' }, params: { name: 'start' } });
  t.match(router.find('GET', '/api/blocks/a/start'), { allow: ['POST', 'OPTIONS'] });
  t.equal(router.find('GET', '/api/blocks/a/b'), undefined);
});

t.test('docs/http.md lists every route', async (t) => {
  const text = readFileSync(new URL('../../../docs/http.md', import.meta.url), 'utf8');
  const listed = [...text.matchAll(/^\| `(GET|POST|PUT|PATCH|DELETE) (?!\/api\/ws)([^`?]+)/gm)].map(([, method, path]) => `${method} ${path}`);
  t.strictSame([...new Set(listed)].sort(), ROUTES.map(({ method, path }) => `${method} ${path}`).sort());
});
