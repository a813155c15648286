// The paths of `/v1`. Pure: no I/O.
import { BODY, body, errors, inPath, json, type Paths, UPSTREAM } from './parts.ts';
import { ref } from './schemas.ts';

const provider = inPath('provider', 'Adapter id');

const SSE_DESCRIPTION = `The chat response. With \`stream: true\` it is a stream of server-sent events instead: one \`start\` (ChatStart), any number of \`content\` (ChatContent), then exactly one \`done\` (ChatDone) or \`error\` (ErrorReport). Comments may stand between frames.`;

export const GATEWAY_PATHS: Paths = {
  '/v1/health': {
    get: {
      operationId: 'gatewayHealth',
      summary: 'Liveness and the registered adapter ids',
      security: [],
      responses: { 200: json('GatewayHealth', 'The server is up.') },
    },
  },
  '/v1/adapters': {
    get: {
      operationId: 'listAdapters',
      summary: 'Metadata of all registered adapters',
      responses: { 200: json('AdapterList', 'The adapters.'), ...errors() },
    },
  },
  '/v1/adapters/{provider}/models': {
    get: {
      operationId: 'listModels',
      summary: 'Models of a provider',
      description: 'Live from the daemon for ollama, a curated list for the others.',
      parameters: [provider],
      responses: { 200: json('ModelList', 'The models.'), ...errors('ADAPTER_NOT_FOUND', ...UPSTREAM) },
    },
  },
  '/v1/adapters/{provider}/verify': {
    post: {
      operationId: 'verifyAdapter',
      summary: 'Probe credentials or reachability, without an inference',
      parameters: [provider],
      requestBody: body('VerifyRequest', false),
      responses: {
        ...errors('ADAPTER_NOT_FOUND', ...BODY),
        200: json('VerifyResult', 'All is wired correctly.'),
        503: json('VerifyResult', 'Credentials are missing, or the probe failed; `detail` says why.'),
      },
    },
  },
  '/v1/chat': {
    post: {
      operationId: 'chat',
      summary: 'The single inference endpoint',
      requestBody: body('ChatRequest'),
      responses: {
        200: {
          description: SSE_DESCRIPTION,
          content: { 'application/json': { schema: ref('ChatResponse') }, 'text/event-stream': { schema: { type: 'string' } } },
        },
        ...errors(...BODY, 'QUEUE_FULL', 'SHUTTING_DOWN', ...UPSTREAM),
      },
    },
  },
};
