// config.json. The same schemas check requests and the file on disk, and describe the API. Known fields are checked, unknown ones are kept.
// Pure: no I/O.
import type * as types from '../types.ts';
import { AdapterId, ChatConfig, ModelId, Reasoning } from './chat.ts';
import { boolean, money as cap, count, orNull, time } from './fields.ts';

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
    maxTokens: { type: 'integer', minimum: 1, maximum: 10_000_000, description: 'Most tokens in an answer; default 4096' },
    temperature: { type: 'number', minimum: 0, maximum: 1, description: 'Sampling temperature' },
    topP: ChatConfig.properties.topP,
    topK: ChatConfig.properties.topK,
    reasoning: {
      ...Reasoning,
      properties: { effort: Reasoning.properties.effort, budgetTokens: Reasoning.properties.budgetTokens },
    },
    cacheControl: { ...boolean, description: 'Enable prompt caching (anthropic, bedrock)' },
  },
} as const;
export type BlockAdapter = types.BlockAdapter;

/** Fields of config.json that a client may set. Only the server sets `name`, `createdAt`, `updatedAt` and `rev`. */
const SETTABLE = {
  description: { ...text, description: 'What the block is for' },
  adapter: orNull(BlockAdapter),
  fallbacks: {
    type: 'array',
    maxItems: 8,
    description: 'Models to try in this order if the first one fails permanently',
    items: { type: 'object', required: ['provider', 'model'], properties: { provider: AdapterId, model: ModelId } },
  },
  systemPrompt: { ...text, description: 'Instructions for the model' },
  goals: { type: 'array', items: text, maxItems: 100, description: 'Goals that are added to every prompt' },
  tags: { type: 'array', items: { type: 'string', minLength: 1, maxLength: 256 }, maxItems: 100, description: 'Words to find the block by' },
  memory: {
    type: 'object',
    properties: {
      maxContextTokens: { type: 'integer', minimum: 256, maximum: 100_000_000, description: 'Most tokens of a prompt; default 100000' },
      thresholdPercent: { type: 'integer', minimum: 10, maximum: 100, description: 'How full the window is when older messages are summarised; default 80' },
      keepMessages: { type: 'integer', minimum: 0, maximum: 500, description: 'Number of newest messages that are not summarised; default 20' },
    },
  },
  pulse: {
    type: 'object',
    properties: {
      intervalSeconds: { type: 'integer', minimum: 5, maximum: 86_400, description: 'Seconds between two heartbeats, which never call a model; default 30' },
    },
  },
  retry: {
    type: 'object',
    properties: {
      maxAttempts: { type: 'integer', minimum: 1, maximum: 100, description: 'Most attempts to answer a message; default 4' },
      baseMs: {
        type: 'integer',
        minimum: 1,
        maximum: MAX_DELAY_MS,
        description: 'Milliseconds before the second attempt; each further wait is twice as long; default 1000',
      },
      maxDelayMs: { type: 'integer', minimum: 1, maximum: MAX_DELAY_MS, description: 'Longest wait between two attempts, in milliseconds; default 300000' },
      staleAfterMs: {
        type: 'integer',
        minimum: 1000,
        maximum: 31_536_000_000,
        description: 'A message that waits longer than this many milliseconds expires; default 86400000 (a day)',
      },
    },
  },
  budget: {
    type: 'object',
    properties: {
      dailyUsd: { ...cap, description: 'Most USD to spend in a day; null for no cap' },
      monthlyUsd: { ...cap, description: 'Most USD to spend in a month; null for no cap' },
      dailyTokens: { ...cap, description: 'Most tokens to use in a day; null for no cap' },
      warnAt: { type: 'number', minimum: 0, maximum: 1, description: 'Share of a cap at which the budget state becomes warn; default 0.8' },
      timezone: { type: 'string', minLength: 1, maxLength: 64, description: 'IANA time zone that decides when a day begins; default UTC' },
    },
  },
  queue: { type: 'object', properties: { cap: { type: 'integer', minimum: 1, maximum: 10_000, description: 'Most messages that can wait; default 100' } } },
  logs: {
    type: 'object',
    properties: {
      maxFileBytes: { type: 'integer', minimum: 1024, maximum: 1_073_741_824, description: 'Size at which a new log file is started; default 5242880' },
      maxFiles: { type: 'integer', minimum: 1, maximum: 1000, description: 'Number of log files to keep; default 50' },
    },
  },
  autoStart: { type: 'boolean', description: 'True if a new message starts a stopped monitor; default false' },
  enabled: { type: 'boolean', description: 'True if the monitor is to start with the server. `start` sets it and `stop` clears it' },
} as const;

/** config.json on disk. Missing fields get their defaults when it is read. */
export const BlockConfigFile = {
  type: 'object',
  required: ['name'],
  properties: { name: { type: 'string', pattern: BLOCK_NAME_PATTERN }, ...SETTABLE, createdAt: time, updatedAt: time, rev: count },
} as const;

/** The model of a block and its settings, in a change: the region must be one of AWS. */
export const BlockAdapterPatch = { ...BlockAdapter, properties: { ...BlockAdapter.properties, region: ChatConfig.properties.region } } as const;

/** A change of config.json. The merge is shallow: each given field replaces the old one as a whole. */
export const BlockConfigPatch = {
  type: 'object',
  properties: {
    ...SETTABLE,
    adapter: orNull(BlockAdapterPatch),
  },
} as const;
export type BlockConfigPatch = types.BlockConfigPatch;

/** config.json with all defaults filled in, and its unknown fields. */
export type BlockConfig = types.BlockConfig;
