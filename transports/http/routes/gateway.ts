// The routes of `/v1`: the public gateway.
import * as gateway from '../handlers/gateway.ts';
import { BODY, body, json, UPSTREAM } from '../openapi/parts.ts';
import { ref } from '../openapi/schemas.ts';
import type { RouteEntry, RouteKey } from '../route.ts';

const provider = { provider: 'Adapter id' };

const SSE_DESCRIPTION = `The chat response. With \`stream: true\` it is a stream of server-sent events instead: one \`start\` (ChatStart), any number of \`content\` (ChatContent), then exactly one \`done\` (ChatDone) or \`error\` (ErrorReport). Comments may occur between frames.`;

/** The routes of the gateway by `METHOD /path`. */
export const GATEWAY_ROUTES = {
  'GET /v1/health': {
    id: 'gatewayHealth',
    summary: 'Liveness and the registered adapter ids',
    public: true,
    answers: { 200: json('GatewayHealth', 'The server is up.') },
    handler: gateway.health,
  },
  'GET /v1/adapters': {
    id: 'listAdapters',
    summary: 'Metadata of all registered adapters',
    answers: { 200: json('AdapterList', 'The adapters.') },
    handler: gateway.adapters,
  },
  'GET /v1/adapters/:provider/models': {
    id: 'listModels',
    summary: 'Models of a provider',
    description: 'For ollama the live list of its daemon; for the other providers a curated list.',
    params: provider,
    answers: { 200: json('ModelList', 'The models.') },
    errors: ['ADAPTER_NOT_FOUND', ...UPSTREAM],
    handler: gateway.models,
  },
  'POST /v1/adapters/:provider/verify': {
    id: 'verifyAdapter',
    summary: 'Check the credential or the address of a provider, without calling a model',
    params: provider,
    body: body('VerifyRequest', false),
    answers: {
      200: json('VerifyResult', 'The credential and the address work.'),
      503: json('VerifyResult', 'The credential is missing, or the check failed; `detail` says why.'),
    },
    errors: ['ADAPTER_NOT_FOUND', ...BODY],
    handler: gateway.verify,
  },
  'POST /v1/chat': {
    id: 'chat',
    summary: 'Send messages to a model of any provider',
    body: body('ChatRequest'),
    answers: {
      200: {
        description: SSE_DESCRIPTION,
        content: { 'application/json': { schema: ref('ChatResponse') }, 'text/event-stream': { schema: { type: 'string' } } },
      },
    },
    errors: [...BODY, 'QUEUE_FULL', 'KEY_FORBIDDEN', 'KEY_CAP_REACHED', ...UPSTREAM],
    handler: gateway.chat,
  },
} as const satisfies Record<RouteKey, RouteEntry>;
