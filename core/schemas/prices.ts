// Prices of models: prices.json, and the effective prices that people see. Pure: no I/O.
import type * as types from '../types.ts';
import { ModelFacts, OwnRates } from './connections.ts';
import { closedObject, money, object, oneOf, orNull, string, time } from './fields.ts';

/** So many fit into a file of 1 MiB, which is the most that is read. */
const MAX_PRICES = 10_000;

/** What prices.json was made of. */
export const PriceOrigin = closedObject({
  file: { type: 'string', maxLength: 256, description: 'The name of the file that `prices update` has read' },
  sha256: { type: 'string', pattern: '^[0-9a-f]{64}$', description: 'The hash of that file' },
  date: { ...time, maxLength: 32 },
});
export type PriceOrigin = types.PriceOrigin;

/** The content of prices.json. */
export const PriceDocument = closedObject(
  {
    source: PriceOrigin,
    models: {
      type: 'object',
      maxProperties: MAX_PRICES,
      additionalProperties: OwnRates,
      description: 'USD for a million tokens, by connection/model',
    },
  },
  ['source'],
);
export type PriceDocument = types.PriceDocument;

/** PUT `/api/prices/:model`. */
export const SetPrice = closedObject({ price: ModelFacts.properties.price });
export type SetPrice = types.SetPrice;

/** What a call of a model costs, and where that comes from. */
export const ShownPrice = object(
  {
    model: { ...string, description: 'connection/model; a * at the end stands for all that begin so' },
    from: {
      ...orNull(oneOf(['provider', 'own', 'file', 'data'])),
      description:
        'provider: the answer tells it; own: the entry in auth.json, or a server of your own; file: prices.json; data: the price data; null: not known',
    },
    price: { ...orNull(OwnRates), description: 'Null if it is not known, or not one price for all calls' },
    like: { ...orNull(string), description: 'The model of the price data that costs as much' },
    contextWindow: { type: 'integer', minimum: 1, description: 'The most tokens of a prompt and its answer together; absent where it is not known' },
    costUsd: { ...money, description: 'USD of a call with the tokens that the query names; null if that is not known. Absent without inputTokens' },
  },
  ['contextWindow', 'costUsd'],
);
export type ShownPrice = types.ShownPrice;

/** GET `/api/prices`. */
export const PriceList = object({
  prices: { type: 'array', items: ShownPrice },
  source: { ...orNull(PriceOrigin), description: 'What prices.json was made of' },
});
export type PriceList = types.PriceList;
