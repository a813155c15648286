// The routes of the server itself: its health, the token, the published contract.
import * as gateway from '../handlers/gateway.ts';
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
  'GET /api/adapters': {
    id: 'adapterStatus',
    summary: 'Whether each adapter can be used at this moment',
    description: "Looks at auth.json, this server's environment, local daemons and credential chains. Calls no model and tries no key.",
    query: { adapter: { schema: { type: 'string' }, description: 'Only this one' } },
    answers: { 200: json('AdapterStatusList', 'The adapters.') },
    errors: ['INVALID_REQUEST', 'ADAPTER_NOT_FOUND'],
    handler: gateway.status,
  },
  'GET /api/settings': {
    id: 'listSettings',
    summary: "What auth.json and this server's environment set for the adapters; secrets are masked",
    answers: { 200: json('SettingList', 'The settings.') },
    errors: ['ADAPTER_NOT_CONFIGURED'],
    handler: gateway.settings,
  },
  'GET /openapi.json': {
    id: 'openApi',
    summary: 'This document',
    public: true,
    answers: { 200: { description: 'The document.', content: { 'application/json': { schema: { type: 'object' } } } } },
    handler: server.openApi,
  },
  'GET /asyncapi.json': {
    id: 'asyncApi',
    summary: 'The contract of the WebSocket (AsyncAPI)',
    public: true,
    answers: { 200: { description: 'The document.', content: { 'application/json': { schema: { type: 'object' } } } } },
    errors: ['NOT_FOUND'],
    handler: server.asyncApi,
  },
} as const satisfies Record<RouteKey, RouteEntry>;
