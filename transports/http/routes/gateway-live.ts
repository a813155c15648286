// The routes of the gateway's figures and requests.
import { WINDOWS } from '../../../core/index.ts';
import * as live from '../handlers/gateway-live.ts';
import { detail } from '../handlers/gateway-request.ts';
import { json } from '../openapi/parts.ts';
import type { RouteEntry, RouteKey } from '../wire/route.ts';

/** The routes that watch the gateway by `METHOD /path`. */
export const GATEWAY_LIVE_ROUTES = {
  'GET /api/gateway': {
    id: 'gatewayFigures',
    tag: 'Server',
    summary: 'Figures of the gateway',
    description: 'State, load and series of each provider: requests, errors, times and tokens. Kept in memory for a day, without any text.',
    query: { window: { schema: { type: 'string', enum: Object.keys(WINDOWS), default: '15m' }, description: 'How far back the series go' } },
    answers: { 200: json('GatewayFigures', 'The figures.') },
    errors: ['INVALID_REQUEST'],
    handler: live.figures,
  },
  'GET /api/gateway/requests': {
    id: 'gatewayRequests',
    tag: 'Server',
    summary: 'Requests to models',
    description: 'The requests to models that are under way, and the last 500 that have ended, of clients and of blocks.',
    answers: { 200: json('GatewayRequests', 'The requests.') },
    handler: live.requests,
  },
  'GET /api/gateway/requests/:id': {
    id: 'gatewayRequest',
    tag: 'Server',
    summary: 'One request to models',
    description:
      'The models that were asked for one request, each with its attempts, times, tokens and cost; and while its key is debugged, what was sent and answered. Known of the requests of the list.',
    params: { id: 'Id of the request' },
    answers: { 200: json('GatewayRequestDetail', 'The request.') },
    errors: ['NOT_FOUND'],
    handler: detail,
  },
  'DELETE /api/gateway/requests/:id': {
    id: 'endGatewayRequest',
    tag: 'Server',
    summary: 'End a request to a model',
    description: 'Ends a request that is under way. Its client gets CANCELLED; a block keeps the text so far.',
    params: { id: 'Id of the request' },
    answers: { 200: json('Done', 'It is ended.') },
    errors: ['NOT_FOUND', 'WRONG_STATE', 'BLOCK_NOT_FOUND'],
    handler: live.end,
  },
} as const satisfies Record<RouteKey, RouteEntry>;
