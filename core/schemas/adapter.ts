// The adapter resources of `/v1`: metadata, models, verify, health. Pure: no I/O.
import type { XStatic } from 'typebox/schema';
import { ChatConfig } from './chat.ts';

const string = { type: 'string' } as const;
const boolean = { type: 'boolean' } as const;
const strings = { type: 'array', items: string } as const;
const count = { type: 'integer', minimum: 0 } as const;
const ok = { type: 'string', const: 'ok' } as const;

/** GET `/v1/adapters/{id}`, and an entry of the list. */
export const AdapterInfo = {
  type: 'object',
  required: ['id', 'displayName', 'authRequired', 'defaultModel', 'supportsStreaming', 'envVars'],
  properties: {
    id: string,
    displayName: string,
    authRequired: boolean,
    defaultModel: string,
    defaultBaseURL: string,
    supportsStreaming: boolean,
    envVars: strings,
  },
} as const;
/** A value that `AdapterInfo` accepts. */
export type AdapterInfo = XStatic<typeof AdapterInfo>;

/** GET `/v1/adapters`. */
export const AdapterList = { type: 'object', required: ['adapters'], properties: { adapters: { type: 'array', items: AdapterInfo } } } as const;

/** GET `/v1/adapters/{id}/models`. */
export const ModelList = { type: 'object', required: ['provider', 'models', 'count'], properties: { provider: string, models: strings, count } } as const;
/** A value that `ModelList` accepts. */
export type ModelList = XStatic<typeof ModelList>;

/** The body of POST `/v1/adapters/{id}/verify`. */
export const VerifyRequest = {
  type: 'object',
  additionalProperties: false,
  properties: { provider: { type: 'string', description: 'Adapter id; must be the one in the URL' }, config: ChatConfig },
} as const;
/** A value that `VerifyRequest` accepts. */
export type VerifyRequest = XStatic<typeof VerifyRequest>;

/** The answer of POST `/v1/adapters/{id}/verify`. */
export const VerifyResult = { type: 'object', required: ['provider', 'ok', 'detail'], properties: { provider: string, ok: boolean, detail: string } } as const;
/** A value that `VerifyResult` accepts. */
export type VerifyResult = XStatic<typeof VerifyResult>;

/** GET `/v1/health`. */
export const GatewayHealth = {
  type: 'object',
  required: ['status', 'version', 'adapters'],
  properties: { status: ok, version: string, adapters: strings },
} as const;
/** A value that `GatewayHealth` accepts. */
export type GatewayHealth = XStatic<typeof GatewayHealth>;

/** GET `/api/health`. */
export const ServerHealth = {
  type: 'object',
  required: ['status', 'version', 'uptimeSeconds', 'blocks', 'monitorsRunning'],
  properties: { status: ok, version: string, uptimeSeconds: { type: 'number' }, blocks: count, monitorsRunning: count },
} as const;

/** GET `/api/auth/status`. */
export const AuthStatus = { type: 'object', required: ['authenticated'], properties: { authenticated: boolean } } as const;
