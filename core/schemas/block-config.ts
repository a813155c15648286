// config.json. The same schemas check requests and the file on disk, and describe the API. Known fields are checked, unknown ones are kept.
// Pure: no I/O.
import type * as types from '../types.ts';
import { AdapterId, ChatConfig, DEFAULT_MAX_TOKENS, ModelId, Reasoning } from './chat.ts';
import { boolean, money as cap, count, listOf, oneOf, orNull, string, time, withDefault, withoutDefaults } from './fields.ts';

/** Lower case only, because some file systems ignore case and would give two names the same folder. */
export const BLOCK_NAME_PATTERN = '^[a-z0-9][a-z0-9-]{0,31}$';
const MAX_DELAY_MS = 2_147_483_647;

const text = { type: 'string', maxLength: 262_144 } as const;

/** The model of a block and its settings, without keys. Settings have the names and meanings of `ChatConfig`; `candidatesOf` sends all of them. */
export const BlockAdapter = {
  type: 'object',
  description: 'The provider and model that answer. Keys belong in auth.json',
  required: ['provider', 'model'],
  properties: {
    provider: AdapterId,
    model: ModelId,
    baseURL: { type: 'string', minLength: 1, maxLength: 2048, description: 'API endpoint, if not the default (all but bedrock)' },
    region: { type: 'string', minLength: 1, maxLength: 64, description: 'AWS region (bedrock), such as us-east-1' },
    maxTokens: withDefault(DEFAULT_MAX_TOKENS, { type: 'integer', minimum: 1, maximum: 10_000_000, description: 'Most tokens in an answer' }),
    temperature: { type: 'number', minimum: 0, maximum: 1, description: 'Sampling temperature' },
    topP: ChatConfig.properties.topP,
    topK: ChatConfig.properties.topK,
    reasoning: {
      ...Reasoning,
      properties: { effort: Reasoning.properties.effort, budgetTokens: Reasoning.properties.budgetTokens },
    },
    cacheControl: { ...boolean, default: false, description: 'Enable prompt caching (anthropic, bedrock)' },
  },
} as const;
export type BlockAdapter = types.BlockAdapter;

const SCHEDULE_ID_PATTERN = '^[a-z0-9][a-z0-9-]{0,31}$';
/** The most characters of a message that a schedule or a hook posts. */
const MAX_SCHEDULED_TEXT = 32_768;

/** How many earlier exchanges the model sees with the message. */
export const MessageWindow = {
  anyOf: [
    { type: 'integer', minimum: 0, maximum: 500 },
    { type: 'string', enum: ['all'] },
  ],
  description: 'How many earlier exchanges the model sees, or "all"; 3 if it is left out',
} as const;

/** A schedule in config.json. It has one of `cron`, `every` and `at`. */
export const Schedule = {
  type: 'object',
  required: ['id', 'message'],
  properties: {
    id: { type: 'string', pattern: SCHEDULE_ID_PATTERN, description: 'Name of the schedule, once in a block: up to 32 lower-case letters, digits and `-`' },
    cron: { type: 'string', minLength: 1, maxLength: 200, description: 'Five fields, such as `0 8 * * 1-5`, or @hourly, @daily, @weekly, @monthly' },
    every: { type: 'string', minLength: 2, maxLength: 12, description: 'A time span, such as `30m`, `6h` or `2d`; one minute at least' },
    at: { type: 'string', minLength: 1, maxLength: 40, description: 'Once: ISO 8601 with `Z` or an offset, such as `2026-12-24T09:00:00+01:00`' },
    timezone: {
      type: 'string',
      minLength: 1,
      maxLength: 64,
      description: "IANA time zone of `cron`, `until` and the days of `maxPerDay`; the block's `budget.timezone` if it is left out",
    },
    message: { type: 'string', minLength: 1, maxLength: MAX_SCHEDULED_TEXT, description: 'What is sent to the block' },
    window: MessageWindow,
    catchUp: {
      type: 'string',
      enum: ['none', 'one', 'all'],
      description: 'What becomes of runs that were missed: none is made up for, the latest one (one, as if it is left out), or all of them, 24 at most',
    },
    graceMinutes: {
      type: 'integer',
      minimum: 1,
      maximum: 43_200,
      description: 'How old a missed run may be that `catchUp: one` makes up for; 60 if it is left out',
    },
    maxPerDay: { type: 'integer', minimum: 1, maximum: 1440, description: 'The most runs a day; 48 if it is left out' },
    until: { type: 'string', pattern: '^\\d{4}-\\d{2}-\\d{2}$', description: 'The last day on which it runs' },
    enabled: { ...boolean, description: 'False turns it off' },
  },
} as const;
export type Schedule = types.Schedule;

/** A hook in config.json. Its secret is in auth.json. */
export const Hook = {
  type: 'object',
  required: ['id', 'message'],
  properties: {
    id: { type: 'string', pattern: SCHEDULE_ID_PATTERN, description: 'Name of the hook, once in a block: up to 32 lower-case letters, digits and `-`' },
    style: {
      type: 'string',
      enum: ['standard', 'github'],
      description: 'How deliveries are signed: as Standard Webhooks says, as if it is left out, or as GitHub does',
    },
    message: { type: 'string', minLength: 1, maxLength: MAX_SCHEDULED_TEXT, description: 'What the block is to do with what is delivered' },
    window: MessageWindow,
    perHour: { type: 'integer', minimum: 1, maximum: 3600, description: 'The most deliveries an hour; 60 if it is left out' },
  },
} as const;
export type Hook = types.Hook;
const pattern = { type: 'string', minLength: 1, maxLength: 256, description: 'server/tool; * means any text' } as const;
const patterns = { type: 'array', items: pattern, maxItems: 200 } as const;
const whole = (most: number, description: string) => ({ type: 'integer', minimum: 1, maximum: most, description }) as const;

/** A rule that allows some calls of a tool. */
export const ToolRule = {
  type: 'object',
  required: ['tool'],
  properties: {
    tool: pattern,
    where: {
      type: 'object',
      additionalProperties: string,
      description: 'Arguments that must be there, each a path that fits this pattern; ~ is the home folder, ** any folders',
    },
    arguments: { type: 'object', additionalProperties: {}, description: 'Allows calls with exactly these arguments' },
    pin: { type: 'string', description: 'Allows the tool only while its definition has this hash' },
    evenTainted: { type: 'boolean', description: 'Allows the call also after the run has read output of a tool that reads the open world' },
  },
} as const;
export type ToolRule = types.ToolRule;

/** The most that one message may use. */
export const ToolLimits = {
  type: 'object',
  properties: {
    steps: withDefault(25, whole(1000, 'Most calls of the model')),
    calls: withDefault(50, whole(10_000, 'Most calls of tools')),
    seconds: withDefault(900, whole(86_400, 'Most seconds of work; waiting for people does not count')),
    tokens: withDefault(null, { ...orNull(whole(1_000_000_000, '')), description: 'Most tokens of all calls of the model' }),
    usd: withDefault(null, { ...orNull({ type: 'number', minimum: 0 }), description: 'Most USD for all calls of the model' }),
    parallel: withDefault(4, whole(64, 'Most calls of tools at a time')),
    resultTokens: withDefault(8000, whole(1_000_000, 'Most tokens of one result that the model sees')),
    definitionTokens: withDefault(10_000, whole(1_000_000, 'Most tokens of the definitions of tools in a prompt')),
    sameCall: withDefault(3, { ...whole(100, 'The equal call of a message that is refused first'), minimum: 2 }),
  },
} as const;
export type ToolLimits = types.ToolLimits;

/** The tools of a block. */
export const BlockTools = {
  type: 'object',
  description: 'The tools that the block may call',
  properties: {
    servers: {
      type: 'array',
      items: { type: 'string', minLength: 1, maxLength: 64 },
      maxItems: 64,
      default: [],
      description: 'Names of the servers whose tools it may call',
    },
    deny: { ...patterns, default: [], description: 'Tools that it may never call, and does not see' },
    ask: { ...patterns, default: [], description: 'Tools whose calls wait for a person' },
    allow: { ...listOf({ anyOf: [pattern, ToolRule] }), maxItems: 500, default: [], description: 'Tools that it may call' },
    default: withDefault('ask', { ...oneOf(['ask', 'deny']), description: 'What happens to calls of tools that no list names' }),
    always: { ...patterns, default: [], description: 'Tools that are offered even if the definitions are many' },
    taint: withDefault('ask', {
      ...oneOf(['ask', 'ignore']),
      description: 'Whether calls that write or send wait for a person once the run has read output of a tool that reads the open world',
    }),
    onUnknown: withDefault('tell', {
      ...oneOf(['tell', 'ask']),
      description: 'Who learns first that the outcome of a call is not known: the model, or a person',
    }),
    limits: ToolLimits,
    approvals: {
      type: 'object',
      properties: {
        timeoutMs: withDefault(86_400_000, whole(2_592_000_000, 'How long a call waits for a person, in milliseconds')),
        onTimeout: withDefault('deny', { ...oneOf(['deny', 'fail']), description: 'What happens when nobody has decided' }),
      },
    },
    send: {
      type: 'object',
      properties: {
        to: {
          type: 'array',
          items: { type: 'string', minLength: 1, maxLength: 32 },
          maxItems: 64,
          default: [],
          description: 'The blocks that it may write to',
        },
        hops: withDefault(4, whole(32, 'Most blocks in a row that a message goes through')),
        perMessage: withDefault(5, whole(100, 'Most messages to other blocks for one message')),
        perHour: withDefault(30, whole(10_000, 'Most messages to other blocks in an hour')),
      },
    },
  },
} as const;
export type BlockTools = types.BlockTools;

/** Fields of config.json that a client may set, and what a block has without them. Only the server sets `name`, `createdAt`, `updatedAt` and `rev`. */
const SETTABLE = {
  description: { ...text, description: 'What the block is for', default: '' },
  adapter: { ...orNull(BlockAdapter), default: null },
  fallbacks: {
    type: 'array',
    maxItems: 8,
    default: [],
    description: 'Models to try in this order if the first one fails permanently',
    items: { type: 'object', required: ['provider', 'model'], properties: { provider: AdapterId, model: ModelId } },
  },
  systemPrompt: { ...text, description: 'Instructions for the model', default: '' },
  goals: { type: 'array', default: [], items: text, maxItems: 100, description: 'Goals that are added to every prompt' },
  tags: { type: 'array', default: [], items: { type: 'string', minLength: 1, maxLength: 256 }, maxItems: 100, description: 'Words to find the block by' },
  memory: {
    type: 'object',
    properties: {
      maxContextTokens: withDefault(100_000, { type: 'integer', minimum: 256, maximum: 100_000_000, description: 'Most tokens of a prompt' }),
      thresholdPercent: withDefault(80, {
        type: 'integer',
        minimum: 10,
        maximum: 100,
        description: 'How full the window is when older messages are summarised',
      }),
      keepMessages: withDefault(20, { type: 'integer', minimum: 0, maximum: 500, description: 'Number of newest messages that are not summarised' }),
    },
  },
  pulse: {
    type: 'object',
    properties: {
      intervalSeconds: withDefault(30, {
        type: 'integer',
        minimum: 5,
        maximum: 86_400,
        description: 'Seconds between two heartbeats, which never call a model',
      }),
    },
  },
  retry: {
    type: 'object',
    properties: {
      maxAttempts: withDefault(4, { type: 'integer', minimum: 1, maximum: 100, description: 'Most attempts to answer a message' }),
      baseMs: withDefault(1000, {
        type: 'integer',
        minimum: 1,
        maximum: MAX_DELAY_MS,
        description: 'Milliseconds before the second attempt; each further wait is twice as long',
      }),
      maxDelayMs: withDefault(300_000, {
        type: 'integer',
        minimum: 1,
        maximum: MAX_DELAY_MS,
        description: 'Longest wait between two attempts, in milliseconds',
      }),
      staleAfterMs: withDefault(86_400_000, {
        type: 'integer',
        minimum: 1000,
        maximum: 31_536_000_000,
        description: 'A message that waits longer than this many milliseconds expires',
      }),
    },
  },
  budget: {
    type: 'object',
    properties: {
      dailyUsd: { ...cap, default: null, description: 'Most USD to spend in a day; null for no cap' },
      monthlyUsd: { ...cap, default: null, description: 'Most USD to spend in a month; null for no cap' },
      dailyTokens: { ...cap, default: null, description: 'Most tokens to use in a day; null for no cap' },
      warnAt: withDefault(0.8, { type: 'number', minimum: 0, maximum: 1, description: 'Share of a cap at which the budget state becomes warn' }),
      timezone: withDefault('UTC', { type: 'string', minLength: 1, maxLength: 64, description: 'IANA time zone that decides when a day begins' }),
    },
  },
  queue: {
    type: 'object',
    properties: { cap: withDefault(100, { type: 'integer', minimum: 1, maximum: 10_000, description: 'Most messages that can wait' }) },
  },
  logs: {
    type: 'object',
    properties: {
      maxFileBytes: withDefault(5_242_880, { type: 'integer', minimum: 1024, maximum: 1_073_741_824, description: 'Size at which a new log file is started' }),
      maxFiles: withDefault(50, { type: 'integer', minimum: 1, maximum: 1000, description: 'Number of log files to keep' }),
    },
  },
  schedule: { type: 'array', maxItems: 20, default: [], items: Schedule, description: 'Messages that are sent at certain times' },
  hooks: { type: 'array', maxItems: 20, default: [], items: Hook, description: 'Doors for other programs, each with a secret in auth.json' },
  tools: orNull(BlockTools),
  skills: {
    type: 'array',
    maxItems: 200,
    default: [],
    items: { type: 'string', pattern: '^(?:\\*|[a-z0-9-]{1,64})$' },
    description: 'Names of skills that it may read, or `*` for all that are there',
  },
  autoStart: withDefault(false, { type: 'boolean', description: 'True if a new message starts a stopped monitor' }),
  enabled: { type: 'boolean', description: 'True if the monitor is to start with the server. `start` sets it and `stop` clears it', default: false },
} as const;

/** config.json on disk. Missing fields get their defaults when it is read. */
export const BlockConfigFile = {
  type: 'object',
  required: ['name'],
  properties: { name: { type: 'string', pattern: BLOCK_NAME_PATTERN }, ...SETTABLE, createdAt: time, updatedAt: time, rev: count },
} as const;

/** The model of a block and its settings, in a change: the region must be one of AWS. */
export const BlockAdapterPatch = { ...BlockAdapter, properties: { ...BlockAdapter.properties, region: ChatConfig.properties.region } } as const;

/** A change of config.json. The merge is shallow: each given field replaces the old one as a whole, so a missing one has no default. */
export const BlockConfigPatch = {
  type: 'object',
  properties: { ...withoutDefaults(SETTABLE), adapter: orNull(BlockAdapterPatch) },
} as const;
export type BlockConfigPatch = types.BlockConfigPatch;

/** config.json with all defaults filled in, and its unknown fields. */
export type BlockConfig = types.BlockConfig;
