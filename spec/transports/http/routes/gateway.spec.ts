import t from 'tap';
import { openApiDocument } from '../../../../transports/http/openapi/openapi.ts';
import { GATEWAY_LIVE_ROUTES } from '../../../../transports/http/routes/gateway-live.ts';
import { GATEWAY_ROUTES } from '../../../../transports/http/routes/gateway.ts';
import { routesOf } from '../../../../transports/http/wire/route.ts';

interface Operation {
  readonly operationId: string;
  readonly security?: readonly object[];
  readonly responses: Record<string, { readonly content: Record<string, object> }>;
}
const paths = openApiDocument(routesOf(GATEWAY_ROUTES))['paths'] as Record<string, Record<string, Operation>>;

t.test('the five routes of the gateway are described', async (t) => {
  t.strictSame(
    Object.entries(paths).flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method} ${path}`)),
    ['get /v1/health', 'get /v1/adapters', 'get /v1/adapters/{provider}/models', 'post /v1/adapters/{provider}/verify', 'post /v1/chat'],
  );
});

t.test('only the health of the gateway is open', async (t) => {
  for (const [path, methods] of Object.entries(paths))
    for (const operation of Object.values(methods)) t.strictSame(operation.security, path === '/v1/health' ? [] : undefined, path);
});

t.test('chat answers with JSON or a stream, verify with its result also when it fails', async (t) => {
  t.strictSame(Object.keys(paths['/v1/chat']?.['post']?.responses['200']?.content ?? {}), ['application/json', 'text/event-stream']);
  const verify = paths['/v1/adapters/{provider}/verify']?.['post']?.responses;
  for (const status of ['200', '503']) t.match(JSON.stringify(verify?.[status]), 'schemas/VerifyResult', status);
});

t.test('the statuses of the contract are there', async (t) => {
  const chat = Object.keys(paths['/v1/chat']?.['post']?.responses ?? {});
  for (const status of ['200', '400', '401', '500', '502', '503']) t.ok(chat.includes(status), status);
  t.ok('404' in (paths['/v1/adapters/{provider}/models']?.['get']?.responses ?? {}));
});

t.test('no route that watches the gateway is public, and the windows are those of the meter', async (t) => {
  for (const [key, route] of Object.entries(GATEWAY_LIVE_ROUTES)) t.notOk('public' in route, key);
  t.same(GATEWAY_LIVE_ROUTES['GET /api/gateway'].query.window.schema, { type: 'string', enum: ['15m', '90m', '24h'], default: '15m' });
});
