// What the other folders import of the core, and nothing else of it. Published as `blockhouse/internal`, which may change with every release;
// the public surface is public.ts.
export type { KnownAdapterId } from './adapter-id.ts';
export type { StoredSettings } from './auth/credentials.ts';
export { CredentialStore } from './auth/credentials.ts';
export { type Endpoint, endpointOf, mayCostMore } from './auth/endpoint.ts';
export { secretsToRenew } from './auth/moved-address.ts';
export type { KnownPreset, Preset, Presets } from './auth/preset.ts';
export { CODE_MS, PRINTED_CODE_MS, Sessions, type Timed } from './auth/sessions.ts';
export { settingFault } from './auth/setting-fault.ts';
export {
  type Environment,
  isAddress,
  maskSecret,
  type ResolvedSettings,
  resolveSettings,
  type SettingSpec,
  type SettingsSpec,
  secretsOf,
} from './auth/settings.ts';
export { isFromOtherUser, isListenedOnByOther, isToOtherUser, ownerOf } from './auth/socket-owner.ts';
export { ApiToken } from './auth/token.ts';
export { unusedSettings } from './auth/unused-settings.ts';
export type { AskedBlock, BlockDetails, BlockQuestion, Blocks, FollowOptions, LogLines, StopFollowing } from './block/api.ts';
export type { ReplyStep } from './block/reply/reply-stream.ts';
export { unknownFields } from './block/status/config-warnings.ts';
export { type AnswerFacts, type CoreEvents, createBus, type FailedAttempt } from './bus.ts';
export {
  DEFAULT_BODY_MEMORY_BYTES,
  DEFAULT_MAX_CONNECTIONS,
  type Flags,
  type LogLevel,
  type ProcessConfig,
  type RequestLogLevel,
  resolveProcessConfig,
} from './config.ts';
export {
  BlockhouseError,
  ERROR_TABLE,
  type ErrorBody,
  type ErrorCode,
  type ErrorExtras,
  errorBody,
  forKeys,
  internalError,
  invalidRequest,
  type ProviderFault,
  type RefusalReason,
  toBlockhouseError,
} from './errors.ts';
export { ANSWER_LIMITS } from './gateway/answer-limits.ts';
export { AnswerSize } from './gateway/answer-size.ts';
export { conversationOf } from './gateway/conversation.ts';
export {
  assertRoutable,
  checkEgress,
  type EgressRule,
  forbiddenAddress,
  isForbiddenAddress,
  isLoopbackHost,
  isPrivateAddress,
  privateAddress,
} from './gateway/egress.ts';
export { classOf, type FallbackClass, mayAskNext } from './gateway/fallback-classes.ts';
export type { BodyKeeper, CallState, PausedSource } from './gateway/live.ts';
export { bodyTokens } from './gateway/media-tokens.ts';
export { type EndedCall, WINDOWS, type Window } from './gateway/meter.ts';
export type { Prompt, PromptOptions } from './gateway/prompt.ts';
export { RefusedPart } from './gateway/refused-part.ts';
export { clampRetryAfter, parseRetryAfter } from './gateway/retry.ts';
export type { ChatStreamEvent } from './gateway/stream.ts';
export type { AssistantTurn, PromptToolResult, Turn, TurnPiece } from './gateway/turns.ts';
export { streamOptionsOf, VisibleParts } from './gateway/visible-parts.ts';
export type { FieldRule, RequestFields } from './keys/field-rules.ts';
export type { KeyRates } from './keys/key-rates.ts';
export { assertMayAsk, assertMayPass, assertModelIsName, CONFIG_FIELDS } from './keys/key-request.ts';
export { KeyStore } from './keys/key-store.ts';
export { type Accounts, assertMayUse, KEY_PREFIX, mayAskBlock, mayReachBlock, mayUse, mayUseOf, type NamedKey } from './keys/named-key.ts';
export type {
  Adapter,
  AdapterCall,
  AnswerPiece,
  ChatCall,
  ChatEvent,
  CollectorSender,
  ConnectionProfile,
  ContentTap,
  EmbedBatch,
  EmbedCall,
  Embedding,
  ForwardCall,
  ForwardedAnswer,
  ForwardedRequest,
  ForwardTarget,
  ListedModel,
  NoticeSender,
  PricedCall,
  ReportedUsage,
  StreamSink,
  TappedCall,
  TappedForward,
  TokenCountCall,
  UpstreamTimeouts,
} from './ports.ts';
export { drawn, fitting, hasWeights } from './routing/fallback.ts';
export { ModelRouter, type OfferedModel } from './routing/model-router.ts';
export { type AliasTarget, BLOCK_PROVIDER, isBlockTarget, type ModelTarget } from './routing/model-table.ts';
export type { ModelsFile } from './routing/models-file.ts';
export { type Core, type CoreOptions, createCore, createPrimaryCore, createWorkerCore } from './runtime.ts';
export * as schemas from './schemas/index.ts';
export { compile, faultOf, type Validator } from './schemas/validate.ts';
export { closeToOthers, FILE_LOOK_MS, type FileState, FreshFile } from './store/files/fresh-file.ts';
export { inTurn, type LockHolder, readLock } from './store/files/lock.ts';
export { BlockLog, newestLogs } from './store/files/logs/block-log.ts';
export { realPathOf } from './store/files/real-path.ts';
export { checkStore, connectStore, openSettings, openStoreSchema } from './store/open.ts';
export { rounded } from './store/parts/log-lines.ts';
export { MAX_LOG_PART_BYTES } from './store/parts/log-text.ts';
export type { GatewayCall, KeySpend, LogRange, Setting, SettingCodec, SettingStore } from './store/port.ts';
export type { ConnectOptions, ListPage, ListQuery, ListSort, LogFields, LogLevel as LineLevel, StoreConnection } from './store/store.ts';
export { argumentCheck, bounded } from './tools/arguments.ts';
export { canonicalJson, sha256 } from './tools/canonical.ts';
export { fieldFor, type LiteralSecret, literalSecrets, masked, namesSecret, type Parts, withPasswords } from './tools/literal-secrets.ts';
export { keyArgumentOf, marksOf, withoutArgument } from './tools/marks.ts';
export type {
  Cancelled,
  Catalogue,
  JsonRecord,
  OpenTask,
  ServerFact,
  ServerSettings,
  ToolCallRequest,
  ToolDefinition,
  ToolHost,
  ToolOutcome,
  ToolQuestion,
  ToolProgress,
  ToolTask,
} from './tools/port.ts';
export { resolved, type Sources, secretsNamedIn, variablesNamedIn, withoutReferences } from './tools/references.ts';
export type { OfferedSkills, ReadSkill, SkillHost, SkillPin, SkillPins, ToolServerState, ToolServers } from './tools/servers.ts';
export type * from './types.ts';
export { VERSION } from './version.ts';
export type { ProcessLine, WorkerHost } from './workers/line.ts';
