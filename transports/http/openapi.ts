// The published contract: OpenAPI 3.1 out of the schemas that validate at run time. `npm run generate` writes
// it to spec/openapi.json; `verify` proves that file fresh. Pure: no I/O.
import { VERSION } from '../../core/index.ts';
import { BLOCK_PATHS } from './openapi/blocks.ts';
import { CHAT_PATHS } from './openapi/chat.ts';
import { GATEWAY_PATHS } from './openapi/gateway.ts';
import { errors, json, type Paths } from './openapi/parts.ts';
import { schemas } from './openapi/schemas.ts';
import { WORKSPACE_PATHS } from './openapi/workspace.ts';

const SERVER_PATHS: Paths = {
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
      responses: { 200: json('AuthStatus', 'The verdict; also without a token.'), 429: errors()['429'] },
    },
  },
  '/openapi.json': {
    get: {
      operationId: 'openApi',
      summary: 'This document',
      responses: { 200: { description: 'The document.', content: { 'application/json': { schema: { type: 'object' } } } }, ...errors() },
    },
  },
};

/** A fresh document at each call. */
export function openApiDocument(): Record<string, unknown> {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Blockhouse',
      version: VERSION,
      description: 'Named LLM agents in plain files, and one request shape for five LLM providers, on your own machine.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: 'http://127.0.0.1:8420', description: 'The default address' }],
    security: [{ token: [] }],
    paths: { ...GATEWAY_PATHS, ...SERVER_PATHS, ...BLOCK_PATHS, ...CHAT_PATHS, ...WORKSPACE_PATHS },
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer', description: 'The token of the workspace; `blockhouse token` prints it.' } },
      schemas: schemas(),
    },
  };
}
