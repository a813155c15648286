// The schemas of the published contract: each under its name once, with references where one holds another. Pure: no I/O.
import {
  AdapterList,
  AddFact,
  Archived,
  ArchiveInfo,
  ArchiveList,
  AuthStatus,
  BlockConfigFile,
  BlockConfigPatch,
  BlockCreated,
  BlockDetailsSchema,
  BlockEntry,
  BlockList,
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
  PostMessage,
  PulseFile,
  RestoreArchive,
  Restored,
  ServerHealth,
  SetHalt,
  VerifyRequest,
  VerifyResult,
  WasReset,
} from '../../../core/index.ts';

const NAMED = {
  AddFact,
  AdapterList,
  Archived,
  ArchiveInfo,
  ArchiveList,
  AuthStatus,
  BlockConfigFile,
  BlockConfigPatch,
  BlockCreated,
  BlockDetails: BlockDetailsSchema,
  BlockEntry,
  BlockList,
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
  PostMessage,
  PulseFile,
  Restored,
  RestoreArchive,
  ServerHealth,
  SetHalt,
  VerifyRequest,
  VerifyResult,
  WasReset,
} as const;

export type SchemaName = keyof typeof NAMED;

const names = new Map<object, SchemaName>(Object.entries(NAMED).map(([name, schema]) => [schema, name as SchemaName]));

export function ref(name: SchemaName): { readonly $ref: string } {
  return { $ref: `#/components/schemas/${name}` };
}

/** `components.schemas`, a fresh object at each call. */
export function schemas(): Record<string, unknown> {
  return Object.fromEntries(Object.entries(NAMED).map(([name, schema]) => [name, inner(schema)]));
}

/** A copy, in which a schema that has a name is a reference to it. */
function inner(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(linked);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, linked(part)]));
}

function linked(value: unknown): unknown {
  const name = typeof value === 'object' && value !== null ? names.get(value) : undefined;
  return name === undefined ? inner(value) : ref(name);
}
