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

/** One attempt at a call. Times in milliseconds from the acceptance of the call. */
const attempt = object(
  {
    sentMs: { type: 'number', minimum: 0 },
    endedMs: { ...ms, description: 'Null while it is under way' },
    firstTextMs: { ...ms, description: 'When the first part of its answer came' },
    credential: { type: 'string', description: 'The label of its key, where the connection has several' },
    code: { type: 'string', description: 'Why it failed' },
    upstreamStatus: { type: 'integer', description: 'The HTTP status with which the provider refused it' },
    next: { ...oneOf(['repeat', 'key']), description: 'What followed: the same once more, or another key' },
    delayMs: { type: 'number', minimum: 0, description: 'The wait before that' },
  },
  ['credential', 'code', 'upstreamStatus', 'next', 'delayMs'],
);

/** A call of a model, with its attempts. */
const detail = object(
  {
    ...GatewayRequest.properties,
    kind: { ...oneOf(['chat', 'embeddings', 'forward']), description: '`forward`: in the protocol of the provider, whose bytes go through' },
    asked: { type: 'string', description: 'The model as the client named it' },
    path: { type: 'string', description: 'The path that the client called, which says its protocol; absent for blocks' },
    attempts: { ...listOf(attempt), description: 'The first 20, and the last; empty while it waits for its place' },
    costUsd: { ...orNull({ type: 'number', minimum: 0 }), description: 'Null until it has ended, without usage, and if its price is not known' },
  },
  ['block', 'key', 'credential', 'code', 'path'],
);

const body = object({
  text: { type: 'string', description: 'Secrets in it are replaced by [redacted]' },
  bytes: { ...count, description: 'Of the whole body' },
  cut: { type: 'boolean', description: 'True if `text` is its beginning alone' },
});

/** What was sent and answered for one request of a key that is debugged. */
export const DebuggedBodies = object({
  requestId: string,
  at: { ...time, description: 'When its answer had ended. ISO 8601, UTC' },
  key: string,
  path: string,
  status: { type: 'integer', description: 'Of the answer; 0 if the client left before it' },
  request: body,
  answer: body,
});
export type DebuggedBodies = types.DebuggedBodies;

/** GET `/api/gateway/requests/{id}`. */
export const GatewayRequestDetail = object(
  {
    requestId: string,
    node: { type: 'string', description: 'With a database, the id of the server that answers; it knows the requests of its own machine alone' },
    calls: {
      ...listOf(detail),
      description: 'Oldest first: one for each model that was asked. Clients may choose ids, so there may be calls of several requests',
    },
    bodies: {
      ...listOf(DebuggedBodies),
      description: 'What was sent and answered while the key was debugged, the oldest first',
    },
  },
  ['node'],
);
export type GatewayRequestDetail = types.GatewayRequestDetail;

/** GET `/api/gateway/requests`. */
export const GatewayRequests = object({
  live: { ...listOf(GatewayRequest), description: 'Under way, newest first' },
  ended: { ...listOf(GatewayRequest), description: 'The last 500, newest first' },
});
export type GatewayRequests = types.GatewayRequests;
