// Bodies and answers of `/api` that are not files of a block. Pure: no I/O.
import type { XStatic } from 'typebox/schema';
import {
  ArchiveInfo,
  BLOCK_NAME_PATTERN,
  BlockConfigFile,
  BlockConfigPatch,
  ChatEntry,
  CostBucket,
  CostsFile,
  Fact,
  MAX_MESSAGE_CHARACTERS,
  MemoryFile,
  PulseFile,
  Reason,
  STATES,
  STATUSES,
} from './block.ts';
import { Warning } from './chat.ts';

const string = { type: 'string' } as const;
const boolean = { type: 'boolean' } as const;
const count = { type: 'integer', minimum: 0 } as const;
const yes = { type: 'boolean', const: true } as const;
const money = { anyOf: [{ type: 'number', minimum: 0 }, { type: 'null' }] } as const;
const orNull = <const S extends object>(schema: S) => ({ anyOf: [schema, { type: 'null' }] }) as const;
/** The core checks the name with a rule of its own, whose message is clearer than that of a pattern. */
const blockName = { type: 'string', maxLength: 256, description: `Matches ${BLOCK_NAME_PATTERN}; no name that Windows reserves` } as const;

/** The body that creates a block. */
export const CreateBlock = {
  type: 'object',
  additionalProperties: false,
  required: ['name'],
  properties: { name: blockName, config: { ...BlockConfigPatch, description: 'Applied at once' } },
} as const;
/** A value that `CreateBlock` accepts. */
export type CreateBlock = XStatic<typeof CreateBlock>;
const warnings = { type: 'array', items: Warning, description: 'Unknown fields of the configuration, the first 20; absent where there are none' } as const;
/** A block was created; `warnings` name unknown fields of its configuration. */
export const BlockCreated = { type: 'object', required: ['success', 'name'], properties: { success: yes, name: string, warnings } } as const;

/** The active messages that have failed and were not queued again. */
export const Failures = {
  type: 'object',
  required: ['count', 'since', 'last'],
  properties: {
    count,
    since: { ...orNull(string), description: 'When the first of them failed; null where there is none' },
    last: {
      ...orNull({ type: 'object', required: ['id', 'at', 'code', 'message'], properties: { id: string, at: string, code: string, message: string } }),
      description: 'The one that failed last, and why',
    },
  },
} as const;
/** A value that `Failures` accepts. */
export type Failures = XStatic<typeof Failures>;

/** An entry of the list of blocks. */
export const BlockEntry = {
  type: 'object',
  required: ['name', 'status', 'state', 'attention', 'config', 'costs', 'pulse', 'queue', 'failures', 'lastMessageAt'],
  properties: {
    name: string,
    status: { type: 'string', enum: STATUSES },
    state: { type: 'string', enum: STATES },
    attention: boolean,
    config: {
      type: 'object',
      properties: {
        description: string,
        adapter: orNull({ type: 'object', required: ['provider', 'model'], properties: { provider: string, model: string } }),
        tags: { type: 'array', items: string },
        enabled: boolean,
      },
    },
    costs: {
      type: 'object',
      required: ['totalInput', 'totalOutput', 'totalCost', 'calls'],
      properties: { totalInput: count, totalOutput: count, totalCost: money, calls: count, today: money },
    },
    pulse: {
      type: 'object',
      required: ['status', 'state', 'lastPulse', 'nextWakeUp', 'error'],
      properties: {
        status: { type: 'string', enum: STATUSES },
        state: { type: 'string', enum: STATES },
        lastPulse: orNull(string),
        nextWakeUp: orNull(string),
        error: orNull(string),
      },
    },
    queue: { ...count, description: 'Messages that wait for an answer' },
    failures: Failures,
    lastMessageAt: orNull(string),
    configError: { type: 'string', description: 'What is wrong with a file of this block' },
  },
} as const;
/** A value that `BlockEntry` accepts. */
export type BlockEntry = XStatic<typeof BlockEntry>;
/** All blocks, sorted by name. */
export const BlockList = { type: 'object', required: ['blocks'], properties: { blocks: { type: 'array', items: BlockEntry } } } as const;

/** One block with the contents of its files. */
export const BlockDetails = {
  type: 'object',
  required: ['name', 'config', 'memory', 'costs', 'pulse'],
  properties: { name: string, config: BlockConfigFile, memory: MemoryFile, costs: CostsFile, pulse: PulseFile },
} as const;

/** A block was moved to the archive. */
export const Archived = {
  type: 'object',
  required: ['success', 'message', 'archiveName'],
  properties: { success: yes, message: string, archiveName: string },
} as const;
/** A monitor was started or stopped; `pulse` is as it is afterwards. */
export const MonitorChanged = {
  type: 'object',
  required: ['success', 'message', 'pulse'],
  properties: { success: yes, message: string, pulse: PulseFile },
} as const;
/** A block was reset; `cleared` lists what was cleared. */
export const WasReset = {
  type: 'object',
  required: ['success', 'message', 'cleared'],
  properties: { success: yes, message: string, cleared: { type: 'array', items: string } },
} as const;
/** A change without any other result. */
export const Done = { type: 'object', required: ['success', 'message'], properties: { success: yes, message: string } } as const;

/** The body that queues a message. */
export const PostMessage = {
  type: 'object',
  additionalProperties: false,
  required: ['message'],
  properties: {
    message: { type: 'string', minLength: 1, maxLength: MAX_MESSAGE_CHARACTERS },
    clientId: { type: 'string', minLength: 1, maxLength: 128, description: 'Your own id: the same one again gives the same entry, and no second message' },
  },
} as const;
/** A value that `PostMessage` accepts. */
export type PostMessage = XStatic<typeof PostMessage>;
/** A message is queued and on disk. */
export const ChatReceipt = {
  type: 'object',
  required: ['queued', 'block', 'id', 'position', 'running', 'note'],
  properties: {
    queued: yes,
    block: string,
    id: { type: 'string', description: 'Of the message; its answer carries it as replyTo' },
    position: { ...count, description: 'Messages before this one, those at work included; 0 also when it has been answered already' },
    running: { type: 'boolean', description: 'Whether the monitor runs, and so an answer will come' },
    note: string,
  },
} as const;
/** A value that `ChatReceipt` accepts. */
export type ChatReceipt = XStatic<typeof ChatReceipt>;
/** A page of a conversation, archived entries included. */
export const HistoryPage = {
  type: 'object',
  additionalProperties: false,
  properties: {
    limit: { type: 'integer', minimum: 1, maximum: 500, description: 'So many entries at most; 100 by default, and fewer where they come to more than 8 MiB' },
    before: { type: 'string', minLength: 1, maxLength: 256, description: 'Id of an entry: the page ends right before it' },
    since: { type: 'string', minLength: 1, maxLength: 256, description: 'Id of an entry: the page begins right after it' },
  },
} as const;
/** A value that `HistoryPage` accepts. */
export type HistoryPage = XStatic<typeof HistoryPage>;
/** Entries of a conversation, oldest first. */
export const ChatHistory = { type: 'object', required: ['messages'], properties: { messages: { type: 'array', items: ChatEntry } } } as const;
/** One entry and its answer, active or archived. */
export const MessageFound = {
  type: 'object',
  required: ['entry', 'answer'],
  properties: { entry: ChatEntry, answer: { ...orNull(ChatEntry), description: 'The newest answer to it; null where there is none' } },
} as const;
/** A value that `MessageFound` accepts. */
export type MessageFound = XStatic<typeof MessageFound>;
/** A message was cancelled or queued again. */
export const MessageChanged = {
  type: 'object',
  required: ['success', 'message', 'entry'],
  properties: { success: yes, message: string, entry: ChatEntry },
} as const;

/** The configuration of a block. */
export const ConfigAnswer = { type: 'object', required: ['config'], properties: { config: BlockConfigFile } } as const;
/** The configuration after a change; `warnings` name unknown fields. */
export const ConfigChanged = {
  type: 'object',
  required: ['success', 'config'],
  properties: { success: yes, config: BlockConfigFile, warnings },
} as const;

/** The end of one log file of a block. */
export const LogFile = {
  type: 'object',
  required: ['file', 'content', 'size', 'modifiedAt', 'truncated'],
  properties: {
    file: string,
    content: { type: 'string', description: 'The last 64 KiB' },
    size: count,
    modifiedAt: string,
    truncated: boolean,
  },
} as const;
/** A value that `LogFile` accepts. */
export type LogFile = XStatic<typeof LogFile>;
/** The newest log files, newest first. */
export const LogList = {
  type: 'object',
  required: ['logs'],
  properties: { logs: { type: 'array', items: LogFile, description: 'The 20 newest, newest first' } },
} as const;

/** The archived blocks, newest first. */
export const ArchiveList = { type: 'object', required: ['archives'], properties: { archives: { type: 'array', items: ArchiveInfo } } } as const;
/** The body that restores an archived block. */
export const RestoreArchive = {
  type: 'object',
  additionalProperties: false,
  properties: { name: { ...blockName, description: 'Restore under this name' } },
} as const;
/** A value that `RestoreArchive` accepts. */
export type RestoreArchive = XStatic<typeof RestoreArchive>;
/** A block was restored or imported under `name`. */
export const Restored = { type: 'object', required: ['success', 'message', 'name'], properties: { success: yes, message: string, name: string } } as const;

/** The body that adds a fact to a block's memory. */
export const AddFact = {
  type: 'object',
  additionalProperties: false,
  required: ['text'],
  properties: {
    text: { type: 'string', minLength: 1, maxLength: 10_000 },
    pinned: { type: 'boolean', description: 'Pinned facts are in every prompt; default true' },
  },
} as const;
/** A value that `AddFact` accepts. */
export type AddFact = XStatic<typeof AddFact>;
/** A fact is in memory.json. */
export const FactAdded = { type: 'object', required: ['success', 'fact'], properties: { success: yes, fact: Fact } } as const;
/** The memory after a change. */
export const MemoryAnswer = {
  type: 'object',
  required: ['success', 'message', 'memory'],
  properties: { success: yes, message: string, memory: MemoryFile },
} as const;

/** Why a block is in its state, what happens next by itself, and what a person can do. */
export const Explanation = {
  type: 'object',
  required: ['name', 'state', 'status', 'attention', 'why', 'next', 'fix', 'since', 'queue', 'failures', 'failed', 'lastTransitions'],
  properties: {
    name: string,
    state: { type: 'string', enum: STATES },
    status: { type: 'string', enum: STATUSES },
    attention: boolean,
    reason: orNull(Reason),
    why: { type: 'string', description: 'One sentence' },
    next: { type: 'string', description: 'What happens next by itself, and when' },
    fix: orNull(string),
    since: orNull(string),
    queue: PulseFile.properties.queue,
    failures: Failures,
    failed: { ...orNull(string), description: 'Which message failed last, why, and what to do; null where none failed' },
    lastTransitions: PulseFile.properties.transitions,
  },
} as const;
/** A value that `Explanation` accepts. */
export type Explanation = XStatic<typeof Explanation>;

/** Sums of the ledger by block, model or UTC day. */
export const CostsReport = {
  type: 'object',
  required: ['by', 'rows', 'total'],
  properties: {
    by: { type: 'string', enum: ['block', 'model', 'day'] },
    rows: {
      type: 'array',
      items: { ...CostBucket, required: ['key', ...CostBucket.required], properties: { key: string, ...CostBucket.properties } },
    },
    total: CostBucket,
  },
} as const;
/** A value that `CostsReport` accepts. */
export type CostsReport = XStatic<typeof CostsReport>;

/** A problem that the doctor found, with its place and its fix. */
export const Finding = {
  type: 'object',
  required: ['severity', 'place', 'problem', 'fix'],
  properties: {
    severity: { type: 'string', enum: ['error', 'warning'] },
    place: { type: 'string', description: 'Path inside the workspace' },
    problem: string,
    fix: string,
  },
} as const;
/** A value that `Finding` accepts. */
export type Finding = XStatic<typeof Finding>;
/** What the doctor has examined and found. */
export const DoctorReport = {
  type: 'object',
  required: ['ok', 'checked', 'findings'],
  properties: {
    ok: { type: 'boolean', description: 'False when a finding is an error' },
    checked: { type: 'object', required: ['blocks', 'files', 'messages'], properties: { blocks: count, files: count, messages: count } },
    findings: { type: 'array', items: Finding },
  },
} as const;
/** A value that `DoctorReport` accepts. */
export type DoctorReport = XStatic<typeof DoctorReport>;

/** The kill switch: whether it is set, since when and why. */
export const HaltState = {
  type: 'object',
  required: ['halted', 'since', 'reason'],
  properties: { halted: boolean, since: orNull(string), reason: orNull(string) },
} as const;
/** A value that `HaltState` accepts. */
export type HaltState = XStatic<typeof HaltState>;
/** The body that sets the kill switch. */
export const SetHalt = { type: 'object', additionalProperties: false, properties: { reason: { type: 'string', maxLength: 500 } } } as const;
/** A value that `SetHalt` accepts. */
export type SetHalt = XStatic<typeof SetHalt>;
