// Answers of `/api/gateway`: figures of the gateway, and its requests. Nothing of any message.
import type * as types from '../types.ts';
import { Usage } from './chat.ts';
import { CredentialSource } from './credentials.ts';
import { boolean, count, listOf, object, oneOf, orNull, string, time } from './fields.ts';

const ms = orNull({ type: 'number', minimum: 0 });

/** Counts and sums of one step of time; percentiles in milliseconds. */
export const GatewayPoint = object({
  at: time,
  requests: count,
  errors: count,
  input: count,
  output: count,
  cached: count,
  firstTextP50: ms,
  firstTextP95: ms,
  durationP50: ms,
  durationP95: ms,
});
export type GatewayPoint = types.GatewayPoint;

/** GET `/api/gateway`. */
export const GatewayFigures = object({
  window: oneOf(['15m', '90m', '24h']),
  adapters: {
    ...listOf(
      object(
        {
          id: string,
          displayName: string,
          defaultModel: string,
          ready: boolean,
          source: CredentialSource,
          detail: string,
          breaker: {
            ...oneOf(['closed', 'open', 'trying']),
            description: 'open while it is not called, because its calls failed; trying while a caller tries it',
          },
          paused: {
            ...listOf(
              object(
                {
                  scope: {
                    ...oneOf(['model', 'caller', 'prompt']),
                    description: "Everybody's calls to the model; a caller's calls; one prompt of programs with the token",
                  },
                  block: { type: 'string', description: 'The block whose calls fail' },
                  key: { type: 'string', description: 'The key of the application whose calls fail; with neither, they are of programs with the token' },
                  model: { type: 'string', description: 'Absent for a caller whose calls to several models failed' },
                  until: { ...time, description: 'When the next call is tried' },
                },
                ['block', 'key', 'model'],
              ),
            ),
            description: 'Models that are paused for everybody, and callers that are paused on their own, because their calls failed',
          },
          openUntil: { ...orNull(time), description: 'When the next caller may try it' },
          atWork: { ...count, description: 'Requests at the provider now' },
          waiting: { ...count, description: 'Requests that wait for a place' },
          limits: object({ concurrency: count, waiting: count }),
          series: { ...listOf(GatewayPoint), description: 'Oldest first; empty if it was not called' },
        },
        ['detail'],
      ),
    ),
    description: 'The adapters, and after them the connections of auth.json whose entry can be used',
  },
});
export type GatewayFigures = types.GatewayFigures;

/** A request to a model, under way or ended. */
export const GatewayRequest = object(
  {
    requestId: string,
    adapter: string,
    model: string,
    block: { type: 'string', description: 'The block that makes it' },
    key: { type: 'string', description: 'The key of the application that makes it' },
    credential: { type: 'string', description: 'The label of the key of its connection, where that has several' },
    phase: { ...oneOf(['waiting', 'sent', 'streaming', 'ended']), description: 'Waits for a place; waits for the first text; its text comes; it has ended' },
    startedAt: time,
    queuedMs: ms,
    firstTextMs: ms,
    durationMs: { type: 'number', minimum: 0 },
    usage: orNull(Usage),
    code: { type: 'string', description: 'Why it failed' },
  },
  ['block', 'key', 'credential', 'code'],
);
export type GatewayRequest = types.GatewayRequest;

/** GET `/api/gateway/requests`. */
export const GatewayRequests = object({
  live: { ...listOf(GatewayRequest), description: 'Under way, newest first' },
  ended: { ...listOf(GatewayRequest), description: 'The last 500, newest first' },
});
export type GatewayRequests = types.GatewayRequests;
