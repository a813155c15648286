// The entries of auth.json that are connections: named upstreams. What a schema can't say of them is checked in core/auth/entry.ts. Pure: no I/O.
import type * as types from '../types.ts';
import { SECRET_PATTERN } from './chat.ts';
import { closedObject, count, number, object, oneOf, orNull, string, time } from './fields.ts';

const MAX_KEYS = 32;
const MAX_HEADERS = 32;
const MAX_MODELS = 1000;
const MS_LIMIT = 2 ** 31 - 1;

const secret = { type: 'string', pattern: SECRET_PATTERN, description: 'A key: ASCII without blanks' } as const;
const variable = { type: 'string', pattern: '^[A-Za-z_][A-Za-z0-9_]{0,127}$', description: 'The name of an environment variable' } as const;
const flag = (description: string) => ({ type: 'boolean', description }) as const;
const usd = { type: 'number', minimum: 0, maximum: 1_000_000, description: 'USD for a million tokens' } as const;
const tokens = { type: 'integer', minimum: 1, maximum: 1_000_000_000 } as const;
const places = { type: 'integer', minimum: 1, maximum: 100_000 } as const;
const milliseconds = { type: 'integer', minimum: 0, maximum: MS_LIMIT, description: 'Milliseconds; 0 for no limit' } as const;

/** The options that a server may not take. */
export const DROPPABLE = [
  'cacheKey',
  'topP',
  'topK',
  'stop',
  'seed',
  'presencePenalty',
  'frequencyPenalty',
  'parallelToolCalls',
  'logprobs',
  'topLogprobs',
  'serviceTier',
  'user',
  'metadata',
  'output',
  'temperature',
  'store',
] as const;

/** No part of it is `.` or `..`, which would lead out of the base URL: to another tenant of a shared host. */
const LIST_PATH = '^(?:/(?!\\.{1,2}(?:/|$))[A-Za-z0-9._-]+)+/?$';

/** How a server differs from others of its protocol. */
export const Quirks = closedObject(
  {
    maxTokensField: { ...oneOf(['max_tokens', 'max_completion_tokens']), description: 'The name of the token limit' },
    streamUsage: flag('False for a server that refuses `stream_options`'),
    reasoning: {
      ...oneOf(['effort', 'openrouter', 'thinking', 'thinking_effort', 'enabled', 'enable_thinking', 'template', 'none']),
      description: 'How reasoning is asked for',
    },
    efforts: {
      type: 'array',
      items: oneOf(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']),
      minItems: 1,
      maxItems: 7,
      description: 'The efforts that the server takes; the nearest is sent in place of another',
    },
    reasoningBack: { ...oneOf(['none', 'reasoning_content']), description: 'The field of every assistant message in which its reasoning goes back' },
    drop: { type: 'array', items: oneOf(DROPPABLE), maxItems: DROPPABLE.length, description: 'Options that are left out, each with a warning' },
    strictTools: flag('False for a server that refuses `strict` in tools'),
    developerRole: flag('False for a server without the role `developer`'),
    messageNames: flag('False for a server that refuses `name` in messages'),
    alternatingRoles: flag('True for a server that wants messages of the user and of the assistant in turn; neighbours are joined'),
    toolChoiceRequired: { ...oneOf(['required', 'any', 'auto']), description: 'The word for a tool choice that makes the model call a tool' },
    callIds: { ...oneOf(['any', 'alnum9']), description: '`alnum9`: ids of calls have nine letters or digits' },
    images: flag('False for a server that takes no images'),
    costField: { type: 'string', pattern: '^[A-Za-z_]+(?:\\.[A-Za-z_]+){0,3}$', description: 'Where an answer tells its cost in USD, such as usage.cost' },
    list: {
      anyOf: [
        { type: 'string', maxLength: 100, pattern: LIST_PATH, description: 'a path below the base URL' },
        { type: 'boolean', const: false },
      ],
      description: 'The path of the list of models; false if there is none',
    },
    sessionHeader: { type: 'string', pattern: '^x-[a-z0-9-]{1,62}$', description: 'The header in which the cache key of a conversation goes' },
  },
  [
    'maxTokensField',
    'streamUsage',
    'reasoning',
    'efforts',
    'reasoningBack',
    'drop',
    'strictTools',
    'developerRole',
    'messageNames',
    'alternatingRoles',
    'toolChoiceRequired',
    'callIds',
    'images',
    'costField',
    'list',
    'sessionHeader',
  ],
);
export type Quirks = types.Quirks;

/** USD for a million tokens. */
export const OwnRates = closedObject(
  { input: usd, output: usd, cacheRead: usd, cacheWrite: usd, cacheWrite1h: { ...usd, description: 'The same for an hour in the cache' } },
  ['cacheRead', 'cacheWrite', 'cacheWrite1h'],
);
export type OwnRates = types.OwnRates;

/** What an entry says of a model. */
export const ModelFacts = closedObject(
  {
    price: {
      anyOf: [
        { type: 'number', const: 0 },
        OwnRates,
        { type: 'string', pattern: '^[a-z0-9-]{1,64}/.{1,200}$', description: 'provider/model of the price data, such as openai/gpt-4o' },
      ],
      description: '0, rates, or the provider/model of the price data that costs as much',
    },
    contextWindow: { ...tokens, description: 'The most tokens of a prompt and its answer together' },
    maxOutput: { ...tokens, description: 'The most tokens of an answer' },
    images: flag('False for a model that takes no images'),
  },
  ['price', 'contextWindow', 'maxOutput', 'images'],
);
export type ModelFacts = types.ModelFacts;

/** One of several keys of a connection. */
export const EntryKey = closedObject(
  {
    label: { type: 'string', pattern: '^[a-z0-9-]{1,16}$', description: '1 to 16 characters of a-z, 0-9 and -' },
    apiKey: secret,
    apiKeyEnv: variable,
    weight: { type: 'integer', minimum: 1, maximum: 1000, description: 'How many conversations it takes compared with the others' },
    inFlight: { ...places, description: 'The most calls at a time with this key' },
  },
  ['label', 'apiKey', 'apiKeyEnv', 'weight', 'inFlight'],
);
export type EntryKey = types.EntryKey;

/** PATCH `/api/connections/:name/keys/:label`: what changes; null removes it. */
export const ChangeEntryKey = closedObject(
  {
    label: orNull(EntryKey.properties.label),
    weight: orNull(EntryKey.properties.weight),
    inFlight: orNull(EntryKey.properties.inFlight),
    place: { type: 'integer', minimum: 1, maximum: MAX_KEYS, description: 'Its place in the order of the keys, from 1' },
  },
  ['label', 'weight', 'inFlight', 'place'],
);
export type ChangeEntryKey = types.ChangeEntryKey;

/** The most calls of a connection. */
export const EntryLimits = closedObject(
  {
    inFlight: { ...places, description: 'The most calls at a time' },
    waiting: { type: 'integer', minimum: 0, maximum: 1_000_000, description: 'The most calls that wait' },
  },
  ['inFlight', 'waiting'],
);
export type EntryLimits = types.EntryLimits;

/** Time limits of a connection. */
export const EntryTimeouts = closedObject({ connectMs: milliseconds, firstByteMs: milliseconds, idleMs: milliseconds }, ['connectMs', 'firstByteMs', 'idleMs']);
export type EntryTimeouts = types.EntryTimeouts;

/** The fields of an entry besides the settings of its adapter, which are strings. */
export const ENTRY_FIELDS = {
  adapter: { ...string, description: 'The protocol: one of the five adapters. From the preset if it is missing' },
  preset: { ...string, description: "The preset to build on; the entry's own name if there is one" },
  apiKeyEnv: variable,
  keys: { type: 'array', items: EntryKey, minItems: 1, maxItems: MAX_KEYS, description: 'Several keys' },
  keyCommand: {
    type: 'array',
    items: { type: 'string', minLength: 1, maxLength: 4096 },
    minItems: 1,
    maxItems: 64,
    description: 'A program with its arguments, run without a shell, whose first line is the key. By hand only',
  },
  keyTtlSeconds: { type: 'integer', minimum: 1, maximum: 86_400, description: 'How long a key of keyCommand is used; default 300' },
  keyHeader: { type: 'string', pattern: '^[A-Za-z0-9-]{1,64}$', description: 'The header for the key instead of `authorization: Bearer`' },
  auth: { ...oneOf(['none']), description: '`none`: no key is needed' },
  headers: {
    type: 'object',
    maxProperties: MAX_HEADERS,
    additionalProperties: { type: 'string', pattern: '^[\\x20-\\x7e]{1,4096}$', description: 'one line of printable ASCII' },
    description: 'Sent with every request; kept secret like keys',
  },
  models: { type: 'object', maxProperties: MAX_MODELS, additionalProperties: ModelFacts, description: 'Facts about models, by id; one * may stand at the end' },
  offer: {
    type: 'array',
    items: { type: 'string', minLength: 1, maxLength: 256 },
    maxItems: MAX_MODELS,
    description: 'The models that lists show; all without it',
  },
  limits: EntryLimits,
  timeouts: EntryTimeouts,
  quirks: Quirks,
} as const;

/** An entry of auth.json. */
export const ConnectionEntry = {
  type: 'object',
  additionalProperties: { type: 'string', maxLength: 8192 },
  properties: ENTRY_FIELDS,
} as const;
export type ConnectionEntry = types.ConnectionEntry;

/** A preset of presets.json. It has no secrets, and no command. */
export const PresetFields = closedObject(
  {
    adapter: string,
    baseURL: string,
    variable,
    prices: { ...string, description: 'The provider in the price data' },
    api: oneOf(['responses', 'chat']),
    auth: oneOf(['none']),
    isLocal: flag('True for a server that people run themselves'),
    keyHeader: ENTRY_FIELDS.keyHeader,
    models: ENTRY_FIELDS.models,
    offer: ENTRY_FIELDS.offer,
    limits: EntryLimits,
    timeouts: EntryTimeouts,
    quirks: Quirks,
  },
  ['adapter', 'baseURL', 'variable', 'prices', 'api', 'auth', 'isLocal', 'keyHeader', 'models', 'offer', 'limits', 'timeouts', 'quirks'],
);
export type PresetFields = types.PresetFields;

/** One key of a connection, without the key. */
export const ShownConnectionKey = object({
  label: { ...string, description: '`the only key` where the entry has no list of keys' },
  source: { ...string, description: 'auth.json, the variable that has it, or keyCommand' },
  state: {
    ...oneOf(['ready', 'cooling', 'refused', 'empty', 'unset', 'elsewhere']),
    description: 'Whether calls may use it now; unset for a variable that this server does not have, and elsewhere for one that does not go to this address',
  },
  until: { ...orNull(time), description: 'When it may be used again; null if it may now, or nobody knows' },
  models: { type: 'array', items: string, description: 'The models that it pauses for; empty for all, and where it does not' },
  weight: { ...count, description: 'How many conversations it takes compared with the others' },
  maxInFlight: { ...orNull(count), description: 'The most calls at a time; null for no limit' },
  inFlight: { ...count, description: 'Calls under way in this process' },
  calls: { ...count, description: 'Attempts since this process has started' },
  cachedShare: { ...orNull(number), description: 'Cached of all input tokens; null while nothing is known' },
});
export type ShownConnectionKey = types.ShownConnectionKey;

/** One connection, without secrets. An adapter is the connection of its own name. */
export const ShownConnection = object({
  name: string,
  adapter: { ...string, description: 'The protocol that it speaks' },
  preset: orNull(string),
  baseURL: { ...orNull(string), description: 'Where it is; null for an adapter whose hosts follow from a region' },
  ready: { type: 'boolean', description: 'True if it could be called now, as far as its settings tell, and its credential if that is searched for elsewhere' },
  detail: { ...orNull(string), description: 'What is missing or wrong' },
  isLocal: { type: 'boolean', description: 'True for this machine and for local servers' },
  models: { type: 'object', additionalProperties: ModelFacts, description: 'What the entry says of models' },
  limits: closedObject({ inFlight: count, waiting: count }),
  atWork: count,
  waiting: count,
  breaker: oneOf(['closed', 'open', 'trying']),
  cachedShare: { ...orNull(number), description: 'Cached of all input tokens; null while nothing is known' },
  keys: { type: 'array', items: ShownConnectionKey },
});
export type ShownConnection = types.ShownConnection;

/** GET `/api/connections`. */
export const ConnectionList = object({ connections: { type: 'array', items: ShownConnection } });

/** A preset of GET `/api/presets`. */
export const ShownPreset = object({
  name: string,
  adapter: string,
  baseURL: { ...orNull(string), description: 'Null where every account has an address of its own' },
  baseURLForm: { ...orNull(string), description: 'What such an address looks like' },
  variable: { ...orNull(string), description: 'The variable that its key may be in' },
  isSet: { type: 'boolean', description: 'True if this server has the variable' },
  isLocal: { type: 'boolean' },
  prices: { ...orNull(string), description: 'The provider in the price data' },
  source: { ...string, description: 'Where its facts were read' },
});
export type ShownPreset = types.ShownPreset;

/** GET `/api/presets`. */
export const PresetList = object({ presets: { type: 'array', items: ShownPreset } });

/** A local server that has answered. */
export const DetectedServer = object({
  preset: string,
  baseURL: string,
  connection: { ...orNull(string), description: 'The connection that leads there already' },
});
export type DetectedServer = types.DetectedServer;

/** POST `/api/connections/detect`. */
export const DetectedList = object({ servers: { type: 'array', items: DetectedServer } });
