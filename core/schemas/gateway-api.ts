// The bodies and answers of `/api` that concern the clients of the gateway: their keys, and the names of models. Pure: no I/O.
import type * as types from '../types.ts';
import { Warning } from './chat.ts';
import { count, listOf, money, object, oneOf, orNull, string, time } from './fields.ts';

const limits = {
  usdPerDay: { ...money, description: 'USD a day (UTC). A call without a known price counts as nothing; `unpriced` says whether there may be such calls' },
  tokensPerDay: { ...orNull({ type: 'number', minimum: 0 }), description: 'Input and output tokens a day (UTC)' },
  unpriced: {
    ...oneOf(['allow', 'refuse']),
    description: 'What becomes of calls whose price is not known: `refuse` answers them with PRICE_UNKNOWN. Without it, they are allowed',
  },
  models: { ...orNull(listOf(string)), description: 'The models that it may use, as clients name them; * stands for any characters' },
  expiresAt: { ...orNull(time), description: 'From then on the key is refused' },
} as const;

const spentToday = object({
  usd: { type: 'number', description: 'Of the calls whose price is known' },
  tokens: count,
  calls: count,
  unpricedCalls: { ...count, description: 'Calls that `usd` does not count, because their price is not known' },
});

/** A key of an application. Null means that there is no limit. */
export const ShownKey = object({ name: string, createdAt: time, ...limits });
export type ShownKey = types.ShownKey;

/** GET `/api/keys`. */
export const KeyList = object({ keys: listOf(object({ ...ShownKey.properties, spentToday })) });
export type KeyList = types.KeyList;

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

const target = object({ adapter: string, model: string });

/** GET `/api/models`. */
export const ModelNames = object({
  defaultProvider: orNull(string),
  aliases: listOf(object({ name: string, targets: listOf(string) })),
  models: listOf(object({ id: string, adapter: string })),
});
export type ModelNames = types.ModelNames;

/** GET `/api/models/{name}`: what the name means, the model that is asked first coming first. */
export const ModelResolved = object(
  { name: string, by: oneOf(['alias', 'provider', 'list', 'prefix', 'default']), rule: string, targets: listOf({ ...target, required: [...target.required] }) },
  ['rule'],
);
export type ModelResolved = types.ModelResolved;

/** The body of PUT `/api/models/{name}`. */
export const SetAlias = {
  type: 'object',
  additionalProperties: false,
  required: ['targets'],
  properties: {
    targets: { type: 'array', minItems: 1, maxItems: 8, items: string, description: 'provider/model each; the next is asked when the one before it fails' },
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
