// The routes of prices.
import { schemas } from '../../../core/index.ts';
import * as prices from '../handlers/prices.ts';
import { BODY, body, DISK, json } from '../openapi/parts.ts';
import type { RouteEntry, RouteKey } from '../wire/route.ts';

const COUNTS = ['inputTokens', 'outputTokens', ...schemas.FURTHER_COUNTS];

const model = { model: 'connection/model, with its slashes as %2F; a * at the end stands for all that begin so' };

/** The routes of prices by `METHOD /path`. */
export const PRICE_ROUTES = {
  'GET /api/prices': {
    id: 'listPrices',
    tag: 'Server',
    summary: 'List the prices of models',
    description:
      'The effective price of each model that auth.json or prices.json names, and where it comes from. With model, that of one model, which may be any that a connection has.',
    query: {
      model: { schema: { type: 'string' }, description: 'connection/model' },
      ...Object.fromEntries(
        COUNTS.map((name) => [
          name,
          { schema: { type: 'integer', minimum: 0 }, description: `${name} of a call, as its usage has them: with counts, the answer has what it costs` },
        ]),
      ),
    },
    answers: { 200: json('PriceList', 'The prices.') },
    errors: ['INVALID_REQUEST', 'CONNECTION_NOT_FOUND', 'WORKSPACE_DAMAGED'],
    handler: prices.list,
  },
  'PUT /api/prices/:model': {
    id: 'setPrice',
    tag: 'Server',
    summary: 'Set the price of a model',
    description: "Writes the price into the connection's entry of auth.json, where it wins over prices.json and the price data.",
    params: model,
    body: body('SetPrice'),
    answers: { 200: json('ShownPrice', 'What the model costs now.') },
    errors: ['CONNECTION_NOT_FOUND', 'ADAPTER_NOT_CONFIGURED', ...BODY, ...DISK],
    handler: prices.set,
  },
  'DELETE /api/prices/:model': {
    id: 'removePrice',
    tag: 'Server',
    summary: 'Remove the price of a model',
    description: "Removes the price from the connection's entry of auth.json. prices.json and the price data stay as they are.",
    params: model,
    answers: { 200: json('Done', 'It is removed, or there was none.') },
    errors: ['INVALID_REQUEST', 'CONNECTION_NOT_FOUND', 'ADAPTER_NOT_CONFIGURED', ...DISK],
    handler: prices.remove,
  },
} as const satisfies Record<RouteKey, RouteEntry>;
