// The schemas of the published contract, each once under its name. A schema inside another one is a reference. Pure: no I/O.
import {
  AdapterInfo,
  AdapterList,
  AdapterStatus,
  AdapterStatusList,
  AddFact,
  Archived,
  ArchiveInfo,
  ArchiveList,
  AuthStatus,
  AwaitedMessage,
  BlockConfigFile,
  BlockConfigPatch,
  BlockCreated,
  BlockDetailsSchema,
  BlockEntry,
  BlockList,
  ChangeFact,
  ChatAnswer,
  ChatConfig,
  ChatContent,
  ChatDone,
  ChatEntry,
  ChatHistory,
  ChatReasoning,
  ChatReceipt,
  ChatRequest,
  ChatResponse,
  ChatStart,
  ChatToolCallDelta,
  ChatToolCallStart,
  ConfigAnswer,
  ConfigChanged,
  CostBucket,
  CostsFile,
  CostsReport,
  CreateBlock,
  CreateKey,
  CredentialList,
  DoctorReport,
  Done,
  ErrorReport,
  Explanation,
  Fact,
  FactAdded,
  Failures,
  GatewayFigures,
  GatewayHealth,
  GatewayRequests,
  HaltState,
  KeyCreated,
  KeyList,
  LogFile,
  LogList,
  LogPart,
  MemoryAnswer,
  MemoryFile,
  Message,
  MessageChanged,
  MessageFound,
  ModelList,
  ModelNames,
  ModelResolved,
  MonitorChanged,
  NestedTool,
  PostMessage,
  PulseFile,
  RenameBlock,
  RestoreArchive,
  Restored,
  ServerHealth,
  SessionCode,
  SessionKey,
  SessionTicket,
  SetAlias,
  SetCredential,
  SetDefaultProvider,
  SetHalt,
  SettingList,
  ShownSetting,
  SignIn,
  StreamOptions,
  Tool,
  ToolCall,
  ToolResult,
  Usage,
  VerifyRequest,
  VerifyResult,
  Warning,
  WasReset,
} from '../../../core/index.ts';
import { CHAT_SHAPES } from './protocol-chat.ts';
import { MESSAGES_SHAPES } from './protocol-messages.ts';
import { NDJSON_SHAPES } from './protocol-ndjson.ts';
import { RESPONSES_SHAPES } from './protocol-responses.ts';
import { UNIONS } from './unions.ts';

/** Over HTTP, every error says which request it is of. */
const HttpError = { ...ErrorReport, required: [...ErrorReport.required, 'requestId'] };

/** A file as an answer has it: what the file lacks has its default there. */
function filled(file: { readonly properties: object }): object {
  return { ...file, required: Object.keys(file.properties) };
}

const NAMED = {
  AddFact,
  AdapterInfo,
  AdapterList,
  AdapterStatus,
  AdapterStatusList,
  Archived,
  ArchiveInfo,
  ArchiveList,
  AuthStatus,
  AwaitedMessage,
  BlockConfigFile,
  BlockConfigPatch,
  BlockCreated,
  BlockDetails: BlockDetailsSchema,
  BlockEntry,
  BlockList,
  ChangeFact,
  ChatAnswer,
  ChatConfig,
  ChatContent,
  ChatDone,
  ChatEntry,
  ChatHistory,
  ChatReasoning,
  ChatReceipt,
  ChatRequest,
  ChatResponse,
  ChatStart,
  ChatToolCallDelta,
  ChatToolCallStart,
  ConfigAnswer,
  ConfigChanged,
  CostBucket,
  CostsFile: filled(CostsFile),
  CostsReport,
  CreateBlock,
  CreateKey,
  CredentialList,
  SetCredential,
  KeyCreated,
  KeyList,
  ModelNames,
  ModelResolved,
  SetAlias,
  SetDefaultProvider,
  DoctorReport,
  Done,
  ErrorReport: HttpError,
  Explanation,
  Fact,
  FactAdded,
  Failures,
  GatewayFigures,
  GatewayHealth,
  GatewayRequests,
  HaltState,
  LogFile,
  LogList,
  LogPart,
  MemoryAnswer,
  MemoryFile: filled(MemoryFile),
  MessageChanged,
  MessageFound,
  ModelList,
  MonitorChanged,
  NestedTool,
  PostMessage,
  PulseFile: filled(PulseFile),
  RenameBlock,
  Restored,
  RestoreArchive,
  ServerHealth,
  SessionCode,
  SessionKey,
  SessionTicket,
  SignIn,
  SetHalt,
  SettingList,
  ShownSetting,
  StreamOptions,
  Tool,
  ToolCall,
  ToolResult,
  Usage,
  VerifyRequest,
  VerifyResult,
  Warning,
  WasReset,
  ...UNIONS,
  ...CHAT_SHAPES,
  ...RESPONSES_SHAPES,
  ...MESSAGES_SHAPES,
  ...NDJSON_SHAPES,
} as const;

/** A key of `components.schemas`. */
export type SchemaName = keyof typeof NAMED;

/** The document has a union of the roles where the validator has one schema for all, whose errors are clearer. */
const names = new Map<object, SchemaName>([
  ...Object.entries(NAMED).map(([name, schema]) => [schema, name as SchemaName] as const),
  [Message, 'ChatMessage'],
  [ErrorReport, 'ErrorReport'],
  [CostsFile, 'CostsFile'],
  [PulseFile, 'PulseFile'],
  [MemoryFile, 'MemoryFile'],
]);

/** A reference to a schema of the document. */
export function ref(name: SchemaName): { readonly $ref: string } {
  return { $ref: `#/components/schemas/${name}` };
}

/** The content of `components.schemas`; a new object at each call. */
export function schemas(): Record<string, unknown> {
  return Object.fromEntries(Object.entries(NAMED).map(([name, schema]) => [name, inner(schema)]));
}

/** A copy in which each named schema is replaced by a reference. */
function inner(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(linked);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, linked(part)]));
}

function linked(value: unknown): unknown {
  const name = typeof value === 'object' && value !== null ? names.get(value) : undefined;
  return name === undefined ? inner(value) : ref(name);
}
