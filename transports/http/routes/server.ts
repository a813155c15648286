// The routes of the server itself: its health, the token, the published contract.
import * as server from '../handlers/server.ts';
import { json } from '../openapi/parts.ts';
import type { RouteEntry, RouteKey } from '../route.ts';

/** The routes of the server by `METHOD /path`. */
export const SERVER_ROUTES = {
  'GET /api/health': {
    id: 'serverHealth',
    summary: 'Health of the whole server',
    public: true,
    answers: { 200: json('ServerHealth', 'The server is up.') },
    handler: server.health,
  },
  'GET /api/auth/status': {
    id: 'authStatus',
    summary: 'Whether the presented token is valid',
    public: true,
    answers: { 200: json('AuthStatus', 'Whether it is; without a token, `false`.') },
    errors: ['TOO_MANY_ATTEMPTS'],
    handler: server.authStatus,
  },
  'GET /openapi.json': {
    id: 'openApi',
    summary: 'This document',
    answers: { 200: { description: 'The document.', content: { 'application/json': { schema: { type: 'object' } } } } },
    handler: server.openApi,
  },
} as const satisfies Record<RouteKey, RouteEntry>;
