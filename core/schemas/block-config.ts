// config.json. The same schemas check requests and the file on disk, and describe the API. Known fields are checked, unknown ones are kept.
// Pure: no I/O.
import type * as types from '../types.ts';
import { AdapterId, ChatConfig, ModelId } from './chat.ts';
import { boolean, money as cap, count, orNull, time } from './fields.ts';

/** Lower case only, because some file systems ignore case and would give two names the same folder. */
export const BLOCK_NAME_PATTERN = '^[a-z0-9][a-z0-9-]{0,31}$';
const MAX_DELAY_MS = 2_147_483_647;

const text = { type: 'string', maxLength: 262_144 } as const;

/** The model of a block and its settings, without keys. */
export const BlockAdapter = {
  type: 'object',
  description: 'Who answers. Keys belong in auth.json',
  required: ['provider', 'model'],
  properties: {
    provider: AdapterId,
    model: ModelId,
    baseURL: { type: 'string', minLength: 1, maxLength: 2048 },
    region: { type: 'string', minLength: 1, maxLength: 64 },
    maxTokens: { type: 'integer', minimum: 1, maximum: 10_000_000, description: 'Longest answer; default 4096' },
    temperature: { type: 'number', minimum: 0, maximum: 1 },
    cacheControl: boolean,
  },
} as const;
export type BlockAdapter = types.BlockAdapter;

/** Fields of config.json that a client may set. Only the server sets `name`, `createdAt`, `updatedAt` and `rev`. */
const SETTABLE = {
  description: text,
  adapter: orNull(BlockAdapter),
  fallbacks: {
    type: 'array',
    maxItems: 8,
    description: 'Tried in order when the first fails for good',
    items: { type: 'object', required: ['provider', 'model'], properties: { provider: AdapterId, model: ModelId } },
  },
  systemPrompt: text,
  goals: { type: 'array', items: text, maxItems: 100, description: 'Added to the prompt' },
  tags: { type: 'array', items: { type: 'string', minLength: 1, maxLength: 256 }, maxItems: 100 },
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
