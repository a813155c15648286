// The adapter resources of `/v1`: metadata, models, verify, health. Pure: no I/O.
import Type from 'typebox';
import { ChatConfig } from './chat.ts';

export const AdapterInfo = Type.Object({
  id: Type.String(),
  displayName: Type.String(),
  authRequired: Type.Boolean(),
  defaultModel: Type.String(),
  defaultBaseURL: Type.Optional(Type.String()),
  supportsStreaming: Type.Boolean(),
  envVars: Type.Array(Type.String()),
});
export type AdapterInfo = Type.Static<typeof AdapterInfo>;

export const AdapterList = Type.Object({ adapters: Type.Array(AdapterInfo) });

export const ModelList = Type.Object({
  provider: Type.String(),
  models: Type.Array(Type.String()),
  count: Type.Integer({ minimum: 0 }),
});
export type ModelList = Type.Static<typeof ModelList>;

export const VerifyRequest = Type.Object(
  {
    provider: Type.Optional(Type.String({ description: 'Adapter id; must be the one in the URL' })),
    config: Type.Optional(ChatConfig),
  },
  { additionalProperties: false },
);
export type VerifyRequest = Type.Static<typeof VerifyRequest>;

export const VerifyResult = Type.Object({
  provider: Type.String(),
  ok: Type.Boolean(),
  detail: Type.String(),
});
export type VerifyResult = Type.Static<typeof VerifyResult>;

export const GatewayHealth = Type.Object({
  status: Type.Literal('ok'),
  version: Type.String(),
  adapters: Type.Array(Type.String()),
});
export type GatewayHealth = Type.Static<typeof GatewayHealth>;

export const ServerHealth = Type.Object({
  status: Type.Literal('ok'),
  version: Type.String(),
  uptimeSeconds: Type.Number(),
  blocks: Type.Integer(),
  monitorsRunning: Type.Integer(),
});

export const AuthStatus = Type.Object({ authenticated: Type.Boolean() });
