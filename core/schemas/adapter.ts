// The adapter resources of `/v1`: metadata, models, verify, health. Pure: no I/O.
import type * as types from '../types.ts';
import { ChatConfig } from './chat.ts';
import { boolean, count, listOf, number, object, oneOf, orNull, string, time } from './fields.ts';

const strings = listOf(string);
const ok = { type: 'string', const: 'ok' } as const;

/** GET `/v1/adapters/{id}`, and an entry of the list. */
export const AdapterInfo = object(
  {
    id: string,
    displayName: string,
    authRequired: boolean,
    defaultModel: string,
    defaultBaseURL: string,
    supportsStreaming: boolean,
    envVars: strings,
  },
  ['defaultBaseURL'],
);
export type AdapterInfo = types.AdapterInfo;

/** GET `/v1/adapters`. */
export const AdapterList = object({ adapters: listOf(AdapterInfo) });

const problem = {
  ...oneOf(['credential', 'unreachable', 'settings', 'unchecked']),
  description: 'Why the provider is not ready: no credential, no answer, invalid settings, or a credential that was not looked for',
} as const;

/** An adapter, and whether it can be used at this moment. */
export const AdapterStatus = object(
  {
    ...AdapterInfo.properties,
    ready: boolean,
    hasSecret: { type: 'boolean', description: 'True if auth.json or the environment has a key' },
    problem,
    detail: string,
  },
  ['defaultBaseURL', 'problem', 'detail'],
);
export type AdapterStatus = types.AdapterStatus;

/** A value in auth.json or the environment; a secret is masked. `source` is `auth.json` or the name of the variable. */
export const ShownSetting = object({ adapter: string, field: string, value: string, source: string });
export type ShownSetting = types.ShownSetting;

/** GET `/api/adapters`. */
export const AdapterStatusList = object({ adapters: listOf(AdapterStatus) });

/** GET `/api/settings`. */
export const SettingList = object(
  {
    settings: listOf(ShownSetting),
    fault: { type: 'string', description: 'What is wrong with auth.json, whose last good content is used; absent if nothing is' },
  },
  ['fault'],
);

/** GET `/v1/adapters/{id}/models`. */
export const ModelList = object({ provider: string, models: strings, count });
export type ModelList = types.ModelList;

/** The body of POST `/v1/adapters/{id}/verify`. */
export const VerifyRequest = {
  type: 'object',
  additionalProperties: false,
  properties: { provider: { type: 'string', description: 'Provider id; must be the one in the URL' }, config: ChatConfig },
} as const;
export type VerifyRequest = types.VerifyRequest;

/** The answer of POST `/v1/adapters/{id}/verify`. */
export const VerifyResult = object({ provider: string, ok: boolean, detail: string });
export type VerifyResult = types.VerifyResult;

const gatewayOnly = { type: 'boolean', const: true, description: 'True for a server without blocks; otherwise absent' } as const;

/** GET `/v1/health`. */
export const GatewayHealth = object(
  {
    status: ok,
    version: string,
    adapters: strings,
    store: {
      ...object(
        {
          kind: { type: 'string', enum: ['files', 'postgres'] },
          latencyMs: { ...number, description: 'Of a database: how long its last answer to this server took' },
          node: { ...string, description: 'Of a database: the id of this server' },
          nodes: { ...count, description: 'Of a database: how many servers share it' },
          draining: { type: 'boolean', description: 'Of a database: whether this server is drained' },
        },
        ['latencyMs', 'node', 'nodes', 'draining'],
      ),
      description: 'What keeps the workspace',
    },
    gatewayOnly,
  },
  ['gatewayOnly', 'store'],
);
export type GatewayHealth = types.GatewayHealth;

const when = orNull(time);

/** GET `/v1/health?deep`. */
export const DeepHealth = object(
  {
    status: {
      type: 'string',
      enum: ['ok', 'degraded', 'failing'],
      description: 'Failing without the disk or the database, or while blocks wait for the disk; degraded while a provider fails',
    },
    version: string,
    disk: object({ freeBytes: orNull(count), writeMs: orNull(count), error: orNull(string) }),
    store: {
      ...object({ latencyMs: number, isAway: boolean, node: string, nodes: count }),
      description: 'The database; absent for a folder',
    },
    providers: listOf(
      object({
        name: string,
        state: { type: 'string', enum: ['ok', 'failing', 'paused', 'unknown', 'not-set'], description: 'By the last call; unknown without one' },
        lastOkAt: when,
        lastFailureAt: when,
        lastCode: { ...orNull(string), description: 'Of the last failure' },
      }),
    ),
  },
  ['store'],
);
export type DeepHealth = types.DeepHealth;

/** GET `/api/health`. */
export const ServerHealth = object(
  {
    status: ok,
    version: string,
    uptimeSeconds: number,
    blocks: count,
    monitorsRunning: count,
    gatewayOnly,
    standIn: {
      ...object({ provider: string, model: string }),
      description: 'The model of a block that answers without a model; absent if this server has none',
    },
  },
  ['gatewayOnly', 'standIn'],
);

/** GET `/api/auth/status`. */
export const AuthStatus = object({ authenticated: boolean });
