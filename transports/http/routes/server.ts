// The routes of the server itself: its health, the token, the published contract.
import * as gateway from '../handlers/gateway.ts';
import * as server from '../handlers/server.ts';
import { json, taggedAs } from '../openapi/parts.ts';
import type { RouteEntry, RouteKey } from '../wire/route.ts';

/** The routes of the server by `METHOD /path`. */
export const SERVER_ROUTES = {
  'GET /api/health': {
    id: 'serverHealth',
    tag: 'Server',
    summary: 'Health of the server',
    description:
      'Says that the server is up, its version, how many blocks it has, and how many of them run. `standIn` is what to set as the `adapter` of a block that is to answer without a model.',
    public: true,
    answers: { 200: json('ServerHealth', 'The server is up.') },
    handler: server.health,
  },
  'GET /api/auth/status': {
    id: 'authStatus',
    tag: 'Server',
    summary: 'Check the token',
    description: 'Says whether the token of the request is valid. A request without a token is answered, too.',
    public: true,
    answers: { 200: json('AuthStatus', 'Whether it is; without a token, `false`.') },
    errors: ['TOO_MANY_ATTEMPTS'],
    handler: server.authStatus,
  },
  'GET /api/adapters': {
    id: 'adapterStatus',
    tag: 'Server',
    summary: 'State of the providers',
    description:
      'Says whether each provider can be used at this moment. Looks at auth.json, the environment of this server, local daemons and credential chains; calls no model and tries no key.',
    query: { adapter: { schema: { type: 'string' }, description: 'Only this one' } },
    answers: { 200: json('AdapterStatusList', 'The providers.') },
    errors: ['INVALID_REQUEST', 'ADAPTER_NOT_FOUND'],
    handler: gateway.status,
  },
  'GET /api/settings': {
    id: 'listSettings',
    tag: 'Server',
    summary: 'List settings',
    description: 'What auth.json and the environment of this server set for the providers. Secrets are masked.',
    answers: { 200: json('SettingList', 'The settings.') },
    errors: ['ADAPTER_NOT_CONFIGURED'],
    handler: gateway.settings,
  },
  'GET /api/nodes': {
    id: 'listNodes',
    tag: 'Server',
    summary: 'List the servers',
    description: 'The servers that share the workspace, the oldest first. Without a database there is one.',
    answers: { 200: json('NodeList', 'The servers.') },
    handler: server.nodes,
  },
  'POST /api/nodes/:node/drain': {
    id: 'drainNode',
    tag: 'Server',
    summary: 'Drain a server',
    description:
      'Asks any server of the workspace, by its id, to give its blocks away and to take no more. Each block goes when the reply under way is over. The server still answers requests, and stays drained until it ends or is asked otherwise, also when it has lost its lease and joins again. It needs a database.',
    answers: { 200: json('ServerNode', 'The server.') },
    params: { node: 'The id of the server, from `GET /api/nodes`' },
    errors: ['NODE_NOT_FOUND', 'WRONG_STATE'],
    handler: server.drain,
  },
  'DELETE /api/nodes/:node/drain': {
    id: 'undrainNode',
    tag: 'Server',
    summary: 'End the drain of a server',
    description: 'Lets a server that is drained take blocks again.',
    answers: { 200: json('ServerNode', 'The server.') },
    params: { node: 'The id of the server, from `GET /api/nodes`' },
    errors: ['NODE_NOT_FOUND', 'WRONG_STATE'],
    handler: server.undrain,
  },
  'GET /openapi.json': {
    id: 'openApi',
    tag: 'Server',
    summary: 'Contract of these routes',
    description: 'This document (OpenAPI 3.1).',
    public: true,
    ...taggedAs((headers) => ({
      description: 'The document, compressed for who takes gzip.',
      headers,
      content: { 'application/json': { schema: { type: 'object' } } },
    })),
    handler: server.openApi,
  },
  'GET /asyncapi.json': {
    id: 'asyncApi',
    tag: 'Server',
    summary: 'Contract of the WebSocket',
    description: 'The messages of the WebSocket at `/api/ws` (AsyncAPI 3.0). A server without a WebSocket has no such document.',
    public: true,
    ...taggedAs((headers) => ({
      description: 'The document, compressed for who takes gzip.',
      headers,
      content: { 'application/json': { schema: { type: 'object' } } },
    })),
    errors: ['NOT_FOUND'],
    handler: server.asyncApi,
  },
} as const satisfies Record<RouteKey, RouteEntry>;
