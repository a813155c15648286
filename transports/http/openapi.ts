// The published contract: OpenAPI 3.1 out of the schemas that validate at run time. `npm run generate` writes
// it to spec/openapi.json; `verify` proves that file fresh. Pure: no I/O.
import {
  AdapterList,
  AuthStatus,
  ChatContent,
  ChatDone,
  ChatRequest,
  ChatResponse,
  ChatStart,
  ERROR_TABLE,
  type ErrorCode,
  ErrorReport,
  GatewayHealth,
  ModelList,
  ServerHealth,
  VERSION,
  VerifyRequest,
  VerifyResult,
} from '../../core/index.ts';

const SCHEMAS = {
  AdapterList,
  AuthStatus,
  ChatContent,
  ChatDone,
  ChatRequest,
  ChatResponse,
  ChatStart,
  ErrorReport,
  GatewayHealth,
  ModelList,
  ServerHealth,
  VerifyRequest,
  VerifyResult,
};
type SchemaName = keyof typeof SCHEMAS;

const ref = (name: SchemaName) => ({ $ref: `#/components/schemas/${name}` });
const json = (name: SchemaName, description: string) => ({ description, content: { 'application/json': { schema: ref(name) } } });

/** One response for each status that these codes have; `UNAUTHORIZED`, `FORBIDDEN_ORIGIN` and `INTERNAL_ERROR` may come everywhere. */
function errors(...codes: ErrorCode[]): Record<string, unknown> {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of [...codes, 'UNAUTHORIZED', 'FORBIDDEN_ORIGIN', 'INTERNAL_ERROR'] as ErrorCode[]) {
    const { status } = ERROR_TABLE[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus]
      .sort(([a], [b]) => a - b)
      .map(([status, list]) => [String(status), json('ErrorReport', list.map((code) => `\`${code}\`: ${ERROR_TABLE[code].meaning}`).join('\n'))]),
  );
}

const UPSTREAM = [
  'UPSTREAM_UNREACHABLE',
  'UPSTREAM_TIMEOUT',
  'UPSTREAM_REJECTED',
  'UPSTREAM_AUTH',
  'UPSTREAM_FAILED',
  'UPSTREAM_MALFORMED',
  'UPSTREAM_RATE_LIMITED',
  'ADAPTER_NOT_CONFIGURED',
] as const;
const BODY = ['INVALID_REQUEST', 'BODY_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] as const;

const provider = { name: 'provider', in: 'path', required: true, schema: { type: 'string' }, description: 'Adapter id' };

const SSE_DESCRIPTION = `The chat response. With \`stream: true\` it is a stream of server-sent events instead: one \`start\` (ChatStart), any number of \`content\` (ChatContent), then exactly one \`done\` (ChatDone) or \`error\` (ErrorReport). Comments may stand between frames.`;

/** A fresh document at each call. */
export function openApiDocument(): Record<string, unknown> {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Blockhouse',
      version: VERSION,
      description: 'One request shape for five LLM providers, on your own machine.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: 'http://127.0.0.1:8420', description: 'The default address' }],
    security: [{ token: [] }],
    paths: {
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
          requestBody: { required: false, content: { 'application/json': { schema: ref('VerifyRequest') } } },
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
          requestBody: { required: true, content: { 'application/json': { schema: ref('ChatRequest') } } },
          responses: {
            200: {
              description: SSE_DESCRIPTION,
              content: { 'application/json': { schema: ref('ChatResponse') }, 'text/event-stream': { schema: { type: 'string' } } },
            },
            ...errors(...BODY, 'QUEUE_FULL', 'SHUTTING_DOWN', ...UPSTREAM),
          },
        },
      },
      '/api/health': {
        get: {
          operationId: 'serverHealth',
          summary: 'Health of the whole server',
          security: [],
          responses: { 200: json('ServerHealth', 'The server is up.') },
        },
      },
      '/api/auth/status': {
        get: {
          operationId: 'authStatus',
          summary: 'Whether the presented token is valid',
          security: [],
          responses: { 200: json('AuthStatus', 'The verdict; also without a token.') },
        },
      },
      '/openapi.json': {
        get: {
          operationId: 'openApi',
          summary: 'This document',
          responses: { 200: { description: 'The document.', content: { 'application/json': { schema: { type: 'object' } } } }, ...errors() },
        },
      },
    },
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer', description: 'The token of the workspace; `blockhouse token` prints it.' } },
      schemas: SCHEMAS,
    },
  };
}
