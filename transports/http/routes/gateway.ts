// The routes of `/v1`: the public gateway.
import * as gateway from '../handlers/gateway.ts';
import { BODY, body, either, json, UPSTREAM } from '../openapi/parts.ts';
import { ref } from '../openapi/schemas.ts';
import type { RouteEntry, RouteKey } from '../wire/route.ts';

const provider = { provider: 'Provider id' };

/** The routes of the gateway by `METHOD /path`. */
export const GATEWAY_ROUTES = {
  'GET /v1/health': {
    id: 'gatewayHealth',
    tag: 'Gateway',
    summary: 'Health of the gateway',
    description:
      'Says that the server is up, its version, and which providers it has. For load balancers and smoke tests. Asks nobody, so it is quick. With `deep`, which needs the token of the workspace, it looks at the disk and the database, and says how the last call of each provider has ended.',
    public: true,
    query: { deep: { schema: { type: 'string' }, description: 'Present, with or without a value, for the deep look' } },
    answers: {
      200: either(json('GatewayHealth', 'The server is up.'), json('DeepHealth', 'With `deep`: it works, or nothing but a provider fails.')),
      503: either(json('ErrorReport', '`STORE_UNREACHABLE`, as below.'), json('DeepHealth', "With `deep`: the disk or the database can't be used.")),
    },
    errors: ['STORE_UNREACHABLE', 'UNAUTHORIZED', 'TOO_MANY_ATTEMPTS'],
    handler: gateway.health,
  },
  'GET /v1/adapters': {
    id: 'listAdapters',
    tag: 'Gateway',
    summary: 'List providers',
    description: 'The metadata of all registered providers.',
    answers: { 200: json('AdapterList', 'The providers.') },
    handler: gateway.adapters,
  },
  'GET /v1/adapters/:provider/models': {
    id: 'listModels',
    tag: 'Gateway',
    summary: 'List models',
    description: 'The models of a provider: for ollama the live list of its daemon, for the other providers a curated list.',
    params: provider,
    answers: { 200: json('ModelList', 'The models.') },
    errors: ['ADAPTER_NOT_FOUND', 'KEY_CAP_REACHED', 'QUEUE_FULL', ...UPSTREAM],
    handler: gateway.models,
  },
  'POST /v1/adapters/:provider/verify': {
    id: 'verifyAdapter',
    tag: 'Gateway',
    summary: 'Check a provider',
    description: 'Checks the credential or the address of a provider without calling a model. The answer is a 503 when the check fails.',
    params: provider,
    body: body('VerifyRequest', false),
    answers: {
      200: json('VerifyResult', 'The credential and the address work.'),
      503: json('VerifyResult', 'The credential is missing, or the check failed; `detail` says why.'),
    },
    errors: ['ADAPTER_NOT_FOUND', ...BODY, 'KEY_FORBIDDEN', 'KEY_CAP_REACHED'],
    handler: gateway.verify,
  },
  'POST /v1/chat': {
    id: 'chat',
    tag: 'Gateway',
    summary: 'Send messages to a model',
    description:
      'One request for the models of every provider. With `stream: true`, the answer is a stream of server-sent events: one `start`, any number of `content`, then exactly one `done` or `error`. Comments may occur between the events. With `stream: {"reasoning": true, "toolDeltas": true}`, or one of the two, `reasoning`, `toolCallStart` and `toolCallDelta` come among the `content`.',
    body: body('ChatRequest'),
    answers: {
      200: {
        description: 'The answer, or with `stream` its events.',
        content: { 'application/json': { schema: ref('ChatResponse') }, 'text/event-stream': { schema: ref('ChatEvent') } },
      },
    },
    errors: [...BODY, 'KEY_FORBIDDEN', 'PRICE_UNKNOWN', 'KEY_CAP_REACHED', ...UPSTREAM],
    handler: gateway.chat,
  },
} as const satisfies Record<RouteKey, RouteEntry>;
