import t from 'tap';
import { noRoute } from '../../../transports/http/no-route.ts';
import { Router } from '../../../transports/http/router.ts';

const router = new Router([
  { method: 'POST', path: '/v1/messages' },
  { method: 'GET', path: '/openapi.json' },
]);

t.test('a client whose base URL lacks the /v1, or has one too many, reads that', async (t) => {
  t.match(noRoute('/messages', router), {
    code: 'NOT_FOUND',
    message: 'There is no route /messages; the base URL must end with /v1, so that the path is /v1/messages.',
  });
  t.match(noRoute('/v1/v1/messages', router), { message: /the base URL must not end with \/v1, so that the path is \/v1\/messages/ });
});

t.test('for any other path, the list of routes is named where there is one', async (t) => {
  t.match(noRoute('/made/up', router), { message: 'There is no route /made/up; GET /openapi.json lists the routes.' });
  t.match(noRoute('/made/up', new Router([])), { message: 'There is no route /made/up.' });
  t.ok(noRoute(`/${'x'.repeat(5000)}`, router).message.length < 300);
});
