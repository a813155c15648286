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
  ChatAnswer,
  ChatConfig,
  ChatContent,
  ChatDone,
  ChatEntry,
  ChatHistory,
  ChatReceipt,
  ChatRequest,
  ChatResponse,
  ChatStart,
  ConfigAnswer,
  ConfigChanged,
  CostBucket,
  CostsFile,
  CostsReport,
  CreateBlock,
  DoctorReport,
  Done,
  ErrorReport,
  Explanation,
  Fact,
  FactAdded,
  Failures,
  GatewayHealth,
  HaltState,
  LogFile,
  LogList,
  MemoryAnswer,
  MemoryFile,
  Message,
  MessageChanged,
  MessageFound,
  ModelList,
  MonitorChanged,
  NestedTool,
  PostMessage,
  PulseFile,
  RenameBlock,
  RestoreArchive,
  Restored,
  ServerHealth,
  SetHalt,
  SettingList,
  ShownSetting,
  Tool,
  ToolCall,
  ToolResult,
  Usage,
  VerifyRequest,
  VerifyResult,
  Warning,
  WasReset,
} from '../../../core/index.ts';
import { UNIONS } from './unions.ts';

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
  ChatAnswer,
  ChatConfig,
  ChatContent,
  ChatDone,
  ChatEntry,
  ChatHistory,
  ChatReceipt,
  ChatRequest,
  ChatResponse,
  ChatStart,
  ConfigAnswer,
  ConfigChanged,
  CostBucket,
  CostsFile,
  CostsReport,
  CreateBlock,
  DoctorReport,
  Done,
  ErrorReport,
  Explanation,
  Fact,
  FactAdded,
  Failures,
  GatewayHealth,
  HaltState,
  LogFile,
  LogList,
  MemoryAnswer,
  MemoryFile,
  MessageChanged,
  MessageFound,
  ModelList,
  MonitorChanged,
  NestedTool,
  PostMessage,
  PulseFile,
  RenameBlock,
  Restored,
  RestoreArchive,
  ServerHealth,
  SetHalt,
  SettingList,
  ShownSetting,
  Tool,
  ToolCall,
  ToolResult,
  Usage,
  VerifyRequest,
  VerifyResult,
  Warning,
  WasReset,
  ...UNIONS,
} as const;

/** A key of `components.schemas`. */
export type SchemaName = keyof typeof NAMED;

/** The document has a union of the roles where the validator has one schema for all, whose errors are clearer. */
const names = new Map<object, SchemaName>([...Object.entries(NAMED).map(([name, schema]) => [schema, name as SchemaName] as const), [Message, 'ChatMessage']]);

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
