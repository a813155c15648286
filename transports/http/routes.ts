// Every route of the server.
import * as gateway from './handlers/gateway.ts';
import * as server from './handlers/server.ts';
import type { Route } from './router.ts';
import type { SseTiming } from './sse.ts';

export function routes(timing: SseTiming): Route[] {
  return [
    { method: 'GET', path: '/v1/health', public: true, handler: gateway.health },
    { method: 'GET', path: '/v1/adapters', handler: gateway.adapters },
    { method: 'GET', path: '/v1/adapters/:provider/models', handler: gateway.models },
    { method: 'POST', path: '/v1/adapters/:provider/verify', handler: gateway.verify },
    { method: 'POST', path: '/v1/chat', handler: gateway.chat(timing) },
    { method: 'GET', path: '/api/health', public: true, handler: server.health },
    { method: 'GET', path: '/api/auth/status', public: true, handler: server.authStatus },
    { method: 'GET', path: '/openapi.json', handler: server.openApi },
  ];
}
