// The bodies and answers of `/api` that concern the clients of the gateway: their keys, and the names of models. Pure: no I/O.
import type * as types from '../types.ts';
import { Warning } from './chat.ts';
import { closedObject, count, listOf, money, object, oneOf, orNull, string, time, withDefault } from './fields.ts';

const tokens = orNull({ type: 'number', minimum: 0 });
const wholeNumber = orNull({ type: 'integer', minimum: 1 });

/** Limits of a key or of a group of keys. */
const figures = {
  usdPerDay: { ...money, description: 'USD a day (UTC). A call without a known price counts as nothing; `unpriced` says whether there may be such calls' },
  usdPerWeek: { ...money, description: 'USD a week, from Monday 00:00 UTC' },
  usdPerMonth: { ...money, description: 'USD a month (UTC)' },
  tokensPerDay: { ...tokens, description: 'Input and output tokens a day (UTC)' },
  tokensPerMonth: { ...tokens, description: 'Input and output tokens a month (UTC)' },
  inFlight: { ...wholeNumber, description: 'The most calls that run at the same time; further ones wait' },
  requestsPerMinute: { ...wholeNumber, description: 'Requests a minute; beyond, they are answered with KEY_RATE_LIMITED' },
  tokensPerMinute: { ...wholeNumber, description: 'Input and output tokens a minute, by estimate until a call has ended' },
  unpriced: {
    ...oneOf(['allow', 'refuse']),
    description: 'What becomes of calls whose price is not known: `refuse` answers them with PRICE_UNKNOWN. Without it, they are allowed',
  },
} as const;

/** What keys may have a right to. */
export const KEY_RIGHTS = ['blocks', 'mcp'] as const;

const limits = {
  ...figures,
  group: { ...orNull(string), description: 'The group of keys to which it belongs. The limits of the group hold as well' },
  models: { ...orNull(listOf(string)), description: 'The models that it may use, as clients name them; * stands for any characters' },
  rights: {
    type: 'array',
    items: oneOf(KEY_RIGHTS),
    uniqueItems: true,
    description:
      'What it may do besides asking models: `blocks` lets it ask every block as the model `block/<name>`, and `mcp` lets it list, write to and read every block over /mcp; or those of `blocks` if there is a list',
  },
  blocks: {
    ...orNull(listOf(string)),
    description: 'The blocks that its rights are for; * stands for any characters. Null: all. Without any right, it may ask these as models',
  },
  trusted: {
    type: 'boolean',
    description: 'Messages that come with it do not taint: what they say may make a block call tools that write or send, as far as its rules allow them',
  },
  expiresAt: { ...orNull(time), description: 'From then on the key is refused' },
} as const;

const spend = object({
  usd: { type: 'number', description: 'Of the calls whose price is known' },
  tokens: count,
  calls: count,
  unpricedCalls: { ...count, description: 'Calls that `usd` does not count, because their price is not known' },
});
const lastUsedOn = {
  ...orNull(string),
  description: 'The newest day (UTC, such as 2026-11-27) with a call that used tokens, as far back as sums are kept; null without one',
};
const spent = { spentToday: spend, spentThisWeek: spend, spentThisMonth: spend, lastUsedOn } as const;

/** A key of an application. Null means that there is no limit. */
export const ShownKey = object(
  {
    name: string,
    createdAt: time,
    ...limits,
    rev: { type: 'string', description: 'Stands for these limits of this key: for `If-Match` of a change, in quotes' },
  },
  ['trusted'],
);
export type ShownKey = types.ShownKey;

/** GET `/api/keys`. */
export const KeyList = object({
  keys: listOf(
    object(
      {
        ...ShownKey.properties,
        ...spent,
        debugUntil: { type: 'string', description: 'Until when the bodies of its calls are kept, ISO 8601; absent unless it is debugged' },
      },
      ['trusted', 'debugUntil'],
    ),
  ),
});
export type KeyList = types.KeyList;

/** The body of PATCH `/api/keys/{name}`: what changes. */
export const ChangeKey = { type: 'object', additionalProperties: false, properties: limits } as const;
export type ChangeKey = types.ChangeKey;

/** How long a key may be debugged. */
export const MAX_DEBUG_MINUTES = 60;
/** And how long it is, if nobody says it. */
export const DEBUG_MINUTES = 15;

/** The body of POST `/api/keys/{name}/debug`. */
export const DebugKey = closedObject(
  {
    minutes: withDefault(DEBUG_MINUTES, {
      type: 'integer',
      minimum: 1,
      maximum: MAX_DEBUG_MINUTES,
      description: 'How long the bodies of its calls are kept',
    }),
  },
  ['minutes'],
);
export type DebugKey = types.DebugKey;

/** The answer of POST `/api/keys/{name}/debug`. */
export const KeyDebugged = object({ success: { type: 'boolean', const: true }, name: string, debugUntil: time });

/** A group of keys: what its keys may spend together. Null means that there is no limit. */
export const ShownKeyGroup = object({ name: string, ...figures, keys: { ...listOf(string), description: 'The keys that are in it now' } });
export type ShownKeyGroup = types.ShownKeyGroup;

/** GET `/api/key-groups`. */
export const KeyGroupList = object({ groups: listOf(object({ ...ShownKeyGroup.properties, ...spent })) });
export type KeyGroupList = types.KeyGroupList;

/** The body of PUT `/api/key-groups/{name}`: what changes, or what a new group begins with. */
export const SetKeyGroup = { type: 'object', additionalProperties: false, properties: figures } as const;
export type SetKeyGroup = types.SetKeyGroup;

/** The body of POST `/api/keys`. */
export const CreateKey = {
  type: 'object',
  additionalProperties: false,
  required: ['name'],
  properties: { name: { type: 'string', description: '1 to 64 characters of a-z, 0-9, ".", "_" and "-"' }, ...limits },
} as const;
export type CreateKey = types.CreateKey;

const warnings = { ...listOf(Warning), description: 'Limits that do not count everything; absent if there are none' } as const;

/** The answer of POST `/api/keys`: the only time that the key is shown. */
export const KeyCreated = object({ success: { type: 'boolean', const: true }, name: string, key: string, warnings }, ['warnings']);

/** The answer of PATCH `/api/keys/{name}`. */
export const KeyChanged = object({ success: { type: 'boolean', const: true }, key: ShownKey, warnings }, ['warnings']);
export type KeyChanged = types.KeyChanged;

/** The answer of PUT `/api/key-groups/{name}`. */
export const KeyGroupSet = object({ success: { type: 'boolean', const: true }, group: ShownKeyGroup });
export type KeyGroupSet = types.KeyGroupSet;

/** The classes of failures after which the next model of an alias may be asked. */
export const FALLBACK_CLASSES = ['rate', 'down', 'key', 'context', 'content'] as const;

const weight = { type: 'integer', minimum: 1, maximum: 1000, description: 'How often it is drawn among its neighbours with a weight' } as const;
const target = object({ adapter: string, model: string, weight }, ['weight']);
/** The classes of an alias. */
const on = {
  type: 'array',
  items: oneOf(FALLBACK_CLASSES),
  description: 'The failures after which the next model is asked; all but content without it',
} as const;

/** GET `/api/models`. */
export const ModelNames = object({
  defaultProvider: orNull(string),
  aliases: listOf(object({ name: string, targets: listOf(string), weights: { type: 'array', items: orNull(weight) }, on }, ['weights', 'on'])),
  models: listOf(object({ id: string, adapter: string })),
});
export type ModelNames = types.ModelNames;

/** GET `/api/models/{name}`: what the name means, the model that is asked first coming first. */
export const ModelResolved = object(
  {
    name: string,
    by: oneOf(['alias', 'block', 'provider', 'list', 'prefix', 'default']),
    rule: string,
    targets: listOf({ ...target, required: [...target.required] }),
    on,
  },
  ['rule', 'on'],
);
export type ModelResolved = types.ModelResolved;

/** The body of PUT `/api/models/{name}`. */
export const SetAlias = {
  type: 'object',
  additionalProperties: false,
  required: ['targets'],
  properties: {
    targets: {
      type: 'array',
      minItems: 1,
      maxItems: 8,
      items: { anyOf: [string, closedObject({ model: string, weight }, ['weight'])] },
      description: 'provider/model each, or an object with its weight; the next is asked when the one before it fails',
    },
    on,
  },
} as const;
export type SetAlias = types.SetAlias;

/** The body of PUT `/api/models`. */
export const SetDefaultProvider = {
  type: 'object',
  additionalProperties: false,
  required: ['defaultProvider'],
  properties: { defaultProvider: { ...orNull(string), description: 'Provider id; null for none' } },
} as const;
export type SetDefaultProvider = types.SetDefaultProvider;
