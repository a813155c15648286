// The files of a block: config, memory, costs, pulse, chat. The same schemas check requests and files on disk, and describe the API. Known
// fields are checked, unknown ones are kept. Pure: no I/O.
import type { XStatic } from 'typebox/schema';
import { ModelId, STOP_REASONS, Usage } from './chat.ts';

/** Lower case only, because some file systems ignore case and would give two names the same folder. */
export const BLOCK_NAME_PATTERN = '^[a-z0-9][a-z0-9-]{0,31}$';
/** The longest message that can be queued. */
export const MAX_MESSAGE_CHARACTERS = 262_144;
const MAX_TEXT_CHARACTERS = 262_144;
const MAX_DELAY_MS = 2_147_483_647;

const string = { type: 'string' } as const;
const boolean = { type: 'boolean' } as const;
const text = { type: 'string', maxLength: MAX_TEXT_CHARACTERS } as const;
const word = { type: 'string', minLength: 1, maxLength: 256 } as const;
const count = { type: 'integer', minimum: 0 } as const;
const time = { type: 'string', description: 'ISO 8601, UTC, with milliseconds' } as const;
const provider = { type: 'string', minLength: 1, maxLength: 64, description: 'Adapter id' } as const;
/** `| null`: unknown or unset. */
const orNull = <const S extends object>(schema: S) => ({ anyOf: [schema, { type: 'null' }] }) as const;

/** A spend cap; null for none. */
const cap = { anyOf: [{ type: 'number', minimum: 0 }, { type: 'null' }] } as const;

/** The model of a block and its settings, without keys. */
export const BlockAdapter = {
  type: 'object',
  description: 'Who answers. Keys belong in auth.json',
  required: ['provider', 'model'],
  properties: {
    provider,
    model: ModelId,
    baseURL: { type: 'string', minLength: 1, maxLength: 2048 },
    region: { type: 'string', minLength: 1, maxLength: 64 },
    maxTokens: { type: 'integer', minimum: 1, maximum: 10_000_000, description: 'Longest answer; default 4096' },
    temperature: { type: 'number', minimum: 0, maximum: 1 },
    cacheControl: boolean,
  },
} as const;
/** A value that `BlockAdapter` accepts. */
export type BlockAdapter = XStatic<typeof BlockAdapter>;

/** Fields of config.json that a client may set. Only the server sets `name`, `createdAt`, `updatedAt` and `rev`. */
const SETTABLE = {
  description: text,
  adapter: orNull(BlockAdapter),
  fallbacks: {
    type: 'array',
    maxItems: 8,
    description: 'Tried in order when the first fails for good',
    items: { type: 'object', required: ['provider', 'model'], properties: { provider, model: ModelId } },
  },
  systemPrompt: text,
  goals: { type: 'array', items: text, maxItems: 100, description: 'Added to the prompt' },
  tags: { type: 'array', items: word, maxItems: 100 },
  memory: {
    type: 'object',
    properties: {
      maxContextTokens: { type: 'integer', minimum: 256, maximum: 100_000_000 },
      thresholdPercent: { type: 'integer', minimum: 10, maximum: 100 },
      keepMessages: { type: 'integer', minimum: 0, maximum: 500 },
    },
  },
  pulse: { type: 'object', properties: { intervalSeconds: { type: 'integer', minimum: 5, maximum: 86_400 } } },
  retry: {
    type: 'object',
    properties: {
      maxAttempts: { type: 'integer', minimum: 1, maximum: 100 },
      baseMs: { type: 'integer', minimum: 1, maximum: MAX_DELAY_MS },
      maxDelayMs: { type: 'integer', minimum: 1, maximum: MAX_DELAY_MS },
      staleAfterMs: { type: 'integer', minimum: 1000, maximum: 31_536_000_000 },
    },
  },
  budget: {
    type: 'object',
    properties: {
      dailyUsd: cap,
      monthlyUsd: cap,
      dailyTokens: cap,
      warnAt: { type: 'number', minimum: 0, maximum: 1 },
      timezone: { type: 'string', minLength: 1, maxLength: 64, description: 'IANA name; decides when a day begins' },
    },
  },
  queue: { type: 'object', properties: { cap: { type: 'integer', minimum: 1, maximum: 10_000 } } },
  logs: {
    type: 'object',
    properties: {
      maxFileBytes: { type: 'integer', minimum: 1024, maximum: 1_073_741_824 },
      maxFiles: { type: 'integer', minimum: 1, maximum: 1000 },
    },
  },
  autoStart: { type: 'boolean', description: 'A message starts a stopped monitor' },
  enabled: { type: 'boolean', description: 'The wanted state: start sets it, stop clears it, a server start honours it' },
} as const;

/** config.json on disk. Missing fields get their defaults when it is read. */
export const BlockConfigFile = {
  type: 'object',
  required: ['name'],
  properties: { name: { type: 'string', pattern: BLOCK_NAME_PATTERN }, ...SETTABLE, createdAt: time, updatedAt: time, rev: count },
} as const;

/** A change of config.json. The merge is shallow: each given field replaces the old one as a whole. */
export const BlockConfigPatch = { type: 'object', properties: SETTABLE } as const;
/** A value that `BlockConfigPatch` accepts. */
export type BlockConfigPatch = XStatic<typeof BlockConfigPatch> & { readonly [field: string]: unknown };

/** config.json with all defaults filled in, and its unknown fields. */
export interface BlockConfig {
  readonly name: string;
  readonly description: string;
  readonly adapter: BlockAdapter | null;
  readonly fallbacks: readonly { readonly provider: string; readonly model: string }[];
  readonly systemPrompt: string;
  readonly goals: readonly string[];
  readonly tags: readonly string[];
  readonly memory: { readonly maxContextTokens: number; readonly thresholdPercent: number; readonly keepMessages: number };
  readonly pulse: { readonly intervalSeconds: number };
  readonly retry: { readonly maxAttempts: number; readonly baseMs: number; readonly maxDelayMs: number; readonly staleAfterMs: number };
  readonly budget: {
    readonly dailyUsd: number | null;
    readonly monthlyUsd: number | null;
    readonly dailyTokens: number | null;
    readonly warnAt: number;
    readonly timezone: string;
  };
  readonly queue: { readonly cap: number };
  readonly logs: { readonly maxFileBytes: number; readonly maxFiles: number };
  readonly autoStart: boolean;
  readonly enabled: boolean;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly rev: number;
}

/** One fact in memory.json; pinned facts are in every prompt. */
export const Fact = {
  type: 'object',
  required: ['id', 'text', 'pinned'],
  properties: { id: word, text, pinned: boolean, createdAt: time },
} as const;
/** A value that `Fact` accepts. */
export type Fact = XStatic<typeof Fact>;

/** What started a compaction: a full window, a prompt that did not fit, or a person. */
export const COMPACTION_TRIGGERS = ['threshold', 'overflow', 'manual'] as const;
/** summarized: with a new summary. evicted: the window moved without one. failed: nothing moved. */
export const COMPACTION_OUTCOMES = ['summarized', 'evicted', 'failed'] as const;

/** One compaction of a block's memory. */
export const Compaction = {
  type: 'object',
  required: ['id', 'at', 'trigger', 'outcome'],
  properties: {
    id: word,
    at: time,
    trigger: { type: 'string', enum: COMPACTION_TRIGGERS },
    outcome: { type: 'string', enum: COMPACTION_OUTCOMES },
    messages: { ...count, description: 'Entries that left the window' },
    tokensBefore: count,
    tokensAfter: count,
    model: orNull(string),
    costUsd: orNull({ type: 'number' }),
    previousSummary: { type: 'string', description: 'The summary that this one replaced; undo brings it back' },
    previousFirstKeptId: orNull(string),
    undone: boolean,
  },
} as const;
/** A value that `Compaction` accepts. */
export type Compaction = XStatic<typeof Compaction>;

/** memory.json: facts, summary and window. Tokens are estimates. */
export const MemoryFile = {
  type: 'object',
  required: ['summary', 'facts', 'window', 'compactions', 'compactionCount'],
  properties: {
    summary: string,
    summaryUpdatedAt: orNull(time),
    facts: { type: 'array', items: Fact },
    window: {
      type: 'object',
      required: ['firstKeptId', 'messages', 'tokens', 'maxTokens', 'percent'],
      properties: {
        firstKeptId: { anyOf: [string, { type: 'null' }], description: 'The model sees no entry before this one; null for all' },
        messages: count,
        tokens: count,
        maxTokens: count,
        percent: { type: 'number', minimum: 0 },
      },
    },
    compactions: { type: 'array', items: Compaction, description: 'The last 20' },
    compactionCount: count,
  },
} as const;
/** The content that `MemoryFile` describes. */
export type BlockMemory = XStatic<typeof MemoryFile>;

/** Sums of calls: tokens, USD, and the number of calls. */
export const CostBucket = {
  type: 'object',
  required: ['calls', 'input', 'output', 'cacheRead', 'cacheWrite', 'costUsd', 'unpricedCalls'],
  properties: {
    calls: count,
    input: count,
    output: count,
    cacheRead: count,
    cacheWrite: count,
    costUsd: { anyOf: [{ type: 'number', minimum: 0 }, { type: 'null' }], description: 'null when nothing in it has a known price' },
    unpricedCalls: count,
  },
} as const;
/** A value that `CostBucket` accepts. */
export type CostBucket = XStatic<typeof CostBucket>;
const buckets = { type: 'object', additionalProperties: CostBucket } as const;
const money = { anyOf: [{ type: 'number', minimum: 0 }, { type: 'null' }] } as const;

/** Why a model was called: for an answer, or for a summary of the memory. */
export const CALL_PURPOSES = ['chat', 'summary'] as const;
/** One of CALL_PURPOSES. */
export type CallPurpose = (typeof CALL_PURPOSES)[number];

/** What was spent today and this month, and the caps. */
export const BudgetStand = {
  type: 'object',
  required: ['day', 'month', 'state'],
  properties: {
    day: { type: 'object', required: ['usd', 'tokens'], properties: { usd: { type: 'number' }, tokens: count, key: string } },
    month: { type: 'object', required: ['usd', 'tokens'], properties: { usd: { type: 'number' }, tokens: count, key: string } },
    state: { type: 'string', enum: ['ok', 'warn', 'exceeded'] },
  },
} as const;
/** A value that `BudgetStand` accepts. */
export type BudgetStand = XStatic<typeof BudgetStand>;

/** costs.json: counts of a block's calls, derived from the ledger. Money is USD. */
export const CostsFile = {
  type: 'object',
  required: ['totalInput', 'totalOutput', 'totalCost', 'calls'],
  properties: {
    totalInput: count,
    totalOutput: count,
    totalCost: { ...money, description: 'USD; null when nothing is priced' },
    sessionInput: { ...count, description: 'Since the monitor was last started' },
    sessionOutput: count,
    sessionCost: money,
    currency: { type: 'string', const: 'USD' },
    calls: count,
    failedCalls: count,
    unpricedCalls: count,
    byModel: buckets,
    byDay: { ...buckets, description: 'The last 90 days, UTC' },
    byPurpose: buckets,
    lastCall: orNull({
      type: 'object',
      required: ['at', 'provider', 'model'],
      properties: {
        at: time,
        messageId: orNull(string),
        provider: string,
        model: string,
        usage: orNull(Usage),
        costUsd: money,
        latencyMs: orNull({ type: 'number' }),
        ttftMs: orNull({ type: 'number' }),
      },
    }),
    budget: BudgetStand,
    lastUpdated: orNull(time),
    lastReset: orNull(time),
  },
} as const;
/** The content that `CostsFile` describes, with every field. */
export type BlockCosts = Required<XStatic<typeof CostsFile>>;

/** The coarse status of a block; `statusOf` maps the states to it. */
export const STATUSES = ['SLEEPING', 'ACTIVE', 'BUSY', 'ERROR'] as const;
/** One of STATUSES. */
export type BlockStatus = (typeof STATUSES)[number];
/** The states of a block. docs/architecture.md explains them. */
export const STATES = ['unconfigured', 'stopped', 'starting', 'idle', 'working', 'compacting', 'backoff', 'paused', 'stopping', 'failed'] as const;
/** One of STATES. */
export type BlockState = (typeof STATES)[number];
/** How far the current task has come. */
export const TASK_PHASES = ['waiting-model', 'streaming', 'saving', 'compacting'] as const;
/** One of TASK_PHASES. */
export type TaskPhase = (typeof TASK_PHASES)[number];
/** What caused a transition. */
export const TRANSITION_ACTORS = ['user', 'monitor', 'server', 'budget'] as const;
/** One of TRANSITION_ACTORS. */
export type TransitionActor = (typeof TRANSITION_ACTORS)[number];

/** Why a block is in its state, and the command or edit that changes it. */
export const Reason = {
  type: 'object',
  required: ['code', 'message', 'fix'],
  properties: { code: string, message: string, fix: orNull(string) },
} as const;
/** A value that `Reason` accepts. */
export type Reason = XStatic<typeof Reason>;

/** One change of a block's state. */
export const Transition = {
  type: 'object',
  required: ['at', 'from', 'to', 'cause', 'actor'],
  properties: {
    at: time,
    from: { type: 'string', enum: STATES },
    to: { type: 'string', enum: STATES },
    cause: string,
    actor: { type: 'string', enum: TRANSITION_ACTORS },
  },
} as const;
/** A value that `Transition` accepts. */
export type Transition = XStatic<typeof Transition>;

/** The message that is being answered, or the compaction under way. */
export const CurrentTask = {
  type: 'object',
  required: ['messageId', 'startedAt', 'attempt', 'phase', 'outputChars'],
  properties: { messageId: orNull(string), startedAt: time, attempt: count, phase: { type: 'string', enum: TASK_PHASES }, outputChars: count },
} as const;
/** A value that `CurrentTask` accepts. */
export type CurrentTask = XStatic<typeof CurrentTask>;

/** How many messages wait or are being answered. */
export const QueueCounts = {
  type: 'object',
  required: ['queued', 'processing', 'failed', 'oldestQueuedAt'],
  properties: { queued: count, processing: count, failed: count, oldestQueuedAt: orNull(time) },
} as const;
/** A value that `QueueCounts` accepts. */
export type QueueCounts = XStatic<typeof QueueCounts>;

/** pulse.json: what the monitor does and has done. Times are ISO 8601. */
export const PulseFile = {
  type: 'object',
  required: ['status', 'state'],
  properties: {
    status: { type: 'string', enum: STATUSES },
    state: { type: 'string', enum: STATES },
    reason: orNull(Reason),
    desired: { type: 'string', enum: ['running', 'stopped'] },
    attention: { type: 'boolean', description: 'A person is needed' },
    lastPulse: orNull(time),
    lastRun: { ...orNull(time), description: 'When the last reply ended' },
    nextWakeUp: orNull(time),
    error: orNull(string),
    currentTask: orNull(CurrentTask),
    startedAt: orNull(time),
    stoppedAt: orNull(time),
    uptimeSeconds: { type: 'number', minimum: 0 },
    restarts: count,
    consecutiveFailures: count,
    queue: QueueCounts,
    transitions: { type: 'array', items: Transition, description: 'The last 50' },
  },
} as const;
/** The content that `PulseFile` describes, with every field. */
export type BlockPulse = Required<XStatic<typeof PulseFile>>;

/** The statuses of a message. The last four are outcomes. */
export const USER_STATUSES = ['queued', 'processing', 'done', 'failed', 'cancelled', 'expired'] as const;
/** The statuses of an answer. interrupted: only the text until a stop was kept. */
export const ANSWER_STATUSES = ['done', 'interrupted', 'failed'] as const;
/** Where a message came from. */
export const CHANNELS = ['web', 'cli', 'api'] as const;
/** One of CHANNELS. */
export type Channel = (typeof CHANNELS)[number];

/** Why a message failed or waits for another attempt. */
export const EntryError = {
  type: 'object',
  required: ['code', 'message', 'retryable'],
  properties: { code: string, message: string, retryable: boolean },
} as const;
/** A value that `EntryError` accepts. */
export type EntryError = XStatic<typeof EntryError>;

/** An entry of chat.json. */
export const ChatEntry = {
  type: 'object',
  required: ['id', 'role', 'content', 'timestamp', 'processed', 'status', 'channel'],
  properties: {
    id: { ...word, description: 'Sorts by time of arrival' },
    role: { type: 'string', enum: ['user', 'assistant'] },
    content: string,
    timestamp: time,
    processed: { type: 'boolean', description: 'False while a user message still waits for its outcome' },
    status: { type: 'string', enum: ['queued', 'processing', 'done', 'failed', 'cancelled', 'expired', 'interrupted'] },
    channel: { type: 'string', enum: CHANNELS },
    replyTo: { type: 'string', description: 'On an answer: id of its message' },
    clientId: { type: 'string', description: "The sender's own id, which makes sending it again harmless" },
    attempts: count,
    nextAttemptAt: time,
    error: orNull(EntryError),
    provider: string,
    model: string,
    usage: orNull(Usage),
    costUsd: money,
    latencyMs: orNull({ type: 'number' }),
    ttftMs: orNull({ type: 'number' }),
    stopReason: { type: 'string', enum: STOP_REASONS },
    startedAt: orNull(time),
    finishedAt: orNull(time),
  },
} as const;
/** A value that `ChatEntry` accepts. */
export type ChatEntry = XStatic<typeof ChatEntry>;

/** archive.json, and an entry of the list of archives. */
export const ArchiveInfo = {
  type: 'object',
  required: ['archiveName', 'originalName', 'archivedAt'],
  properties: {
    archiveName: string,
    originalName: string,
    archivedAt: time,
    description: string,
    sizeBytes: count,
    files: count,
    wasRunning: boolean,
    queuedMessages: count,
    totals: {
      type: 'object',
      properties: { totalInput: count, totalOutput: count, totalCost: money, calls: count },
    },
  },
} as const;
/** A value that `ArchiveInfo` accepts. */
export type ArchiveInfo = XStatic<typeof ArchiveInfo>;
