// The schemas of the published contract, each once under its name. A schema inside another one is a reference. Pure: no I/O.
import { schemas as core } from '../../../core/index.ts';
import { CHAT_SHAPES } from './protocol-chat.ts';
import { MCP_SHAPES } from './protocol-mcp.ts';
import { MESSAGES_SHAPES } from './protocol-messages.ts';
import { NDJSON_SHAPES } from './protocol-ndjson.ts';
import { RESPONSES_SHAPES } from './protocol-responses.ts';
import { UNIONS } from './unions.ts';

/** Over HTTP, every error says which request it is of. */
const HttpError = { ...core.ErrorReport, required: [...core.ErrorReport.required, 'requestId'] };

/** A file as an answer has it: what the file lacks has its default there. `others` have none. */
function filled(file: { readonly properties: object }, others: readonly string[] = []): object {
  return { ...file, required: Object.keys(file.properties).filter((name) => !others.includes(name)) };
}

/** Written out in the schema that has them. */
const INLINE = [
  'AdapterId',
  'AnswerWait',
  'Approval',
  'ApprovalQuery',
  'AskedModel',
  'BlockAdapter',
  'BlockAdapterPatch',
  'BlockTools',
  'BudgetStand',
  'ChainLink',
  'Compaction',
  'ContentPart',
  'Credential',
  'CredentialSource',
  'Cure',
  'CurrentTask',
  'DebuggedBodies',
  'Decider',
  'EmbedRequest',
  'EmbedResponse',
  'EntryError',
  'EntryStep',
  'Finding',
  'GatewayPoint',
  'GatewayRequest',
  'HistoryPage',
  'Hook',
  'InputField',
  'Message',
  'ModelId',
  'OutputFormat',
  'PresetFields',
  'PriceDocument',
  'QueueCounts',
  'Reason',
  'Reasoning',
  'ResultPage',
  'RunCall',
  'Schedule',
  'ScheduleFile',
  'ScheduleOutcome',
  'ScheduleState',
  'SearchQuery',
  'ShownKey',
  'SkippedRuns',
  'Taint',
  'ToolLimits',
  'ToolMarks',
  'ToolRule',
  'ToolServerSettings',
  'ToolView',
  'TokenLogprob',
  'Transition',
] as const;

type Core = typeof core;
type CoreName = Exclude<{ [Name in keyof Core]: Core[Name] extends { readonly type: string } ? Name : never }[keyof Core], (typeof INLINE)[number]>;

const OWN = {
  ErrorReport: HttpError,
  CostsFile: filled(core.CostsFile),
  MemoryFile: filled(core.MemoryFile, ['taint']),
  PulseFile: filled(core.PulseFile),
  ...UNIONS,
  ...CHAT_SHAPES,
  ...RESPONSES_SHAPES,
  ...MESSAGES_SHAPES,
  ...NDJSON_SHAPES,
  ...MCP_SHAPES,
} as const;

/** A key of `components.schemas`. */
export type SchemaName = CoreName | keyof typeof OWN;

const ofCore = Object.entries(core).filter(([name, schema]) => Object.hasOwn(schema as object, 'type') && !INLINE.includes(name as (typeof INLINE)[number]));
const NAMED: Readonly<Record<string, unknown>> = { ...Object.fromEntries(ofCore), ...OWN };

/** The document has a union of the roles where the validator has one schema for all, whose errors are clearer. */
const names = new Map<unknown, string>([...Object.entries(NAMED), ...ofCore].map(([name, schema]) => [schema, name]));
names.set(core.Message, 'ChatMessage');

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
  const name = names.get(value);
  return name === undefined ? inner(value) : ref(name as SchemaName);
}
