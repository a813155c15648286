// `blockhouse`: what a program needs that embeds the core. `blockhouse/internal` has what our own transports, adapters and commands use besides.
// spec/api.txt lists this surface, and `npm run verify` fails when the two differ.
export type { AdapterId, KnownAdapterId } from './adapter-id.ts';
export type { StoredSettings } from './auth/credentials.ts';
export type { Environment, ResolvedSettings, SettingSpec, SettingsSpec } from './auth/settings.ts';
export type { AnswerOptions, BlockDetails, Blocks, FollowOptions, LogLines, StopFollowing } from './block/api.ts';
export type { ReplyStep } from './block/reply/reply-stream.ts';
export type { BlockFile, CoreBus, CoreEvents } from './bus.ts';
export { BlockhouseError, type ErrorBody, type ErrorCode, type ErrorDetail, type ErrorExtras } from './errors.ts';
export type { CallOptions } from './gateway/call-options.ts';
export type { EgressRule } from './gateway/egress.ts';
export type { Prompt, PromptOptions, SystemPart } from './gateway/prompt.ts';
export type { QueueLimits } from './gateway/queue.ts';
export type { ChatStream, ChatStreamEvent } from './gateway/stream.ts';
export type { AssistantTurn, PromptToolResult, Turn, TurnPiece } from './gateway/turns.ts';
export type { VisiblePart } from './gateway/visible-parts.ts';
export type {
  Adapter,
  AdapterCall,
  ChatCall,
  ChatEvent,
  ContentTap,
  EventSink,
  ForwardCall,
  ForwardedAnswer,
  ForwardedRequest,
  ForwardTarget,
  ReportedUsage,
  StreamSink,
  TappedCall,
  TappedForward,
  TokenCount,
  TokenCountCall,
  UpstreamTimeouts,
} from './ports.ts';
export { type Core, type CoreOptions, createCore } from './runtime.ts';
export { connectStore } from './store/open.ts';
export type { LogRange } from './store/port.ts';
export type { ConnectOptions, ListPage, ListQuery, ListSort, StoreConnection } from './store/store.ts';
export type {
  AdapterInfo,
  AddFact,
  ArchiveInfo,
  AskAgain,
  AssistantMessage,
  AwaitedMessage,
  BlockAdapter,
  BlockAdapterPatch,
  BlockConfig,
  BlockConfigPatch,
  BlockCosts,
  BlockEntry,
  BlockMemory,
  BlockPulse,
  BlockState,
  BlockStatus,
  ChangeFact,
  Channel,
  ChatConfig,
  ChatDone,
  ChatEntry,
  ChatReceipt,
  ChatRequest,
  ChatResponse,
  ChatStart,
  CostsReport,
  CreateBlock,
  DoctorReport,
  Explanation,
  Fact,
  Finding,
  HaltState,
  HistoryPage,
  LogFile,
  LogPart,
  Message,
  MessageFound,
  MessageVersions,
  ModelList,
  NestedTool,
  PostMessage,
  RestoreArchive,
  SearchHit,
  SearchQuery,
  SearchResult,
  ServerNode,
  SetHalt,
  StopReason,
  StreamOptions,
  SystemMessage,
  Tool,
  ToolCall,
  ToolMessage,
  ToolResult,
  Usage,
  UserMessage,
  VerifyRequest,
  VerifyResult,
  Warning,
} from './types.ts';
