// Replies as values, and the one place that writes them.
import type { ServerResponse } from 'node:http';
import { type BlockhouseError, errorBody } from '../../core/index.ts';

export interface JsonReply {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A reply that the handler has written itself, by the SSE writer. */
export const STREAMED = Symbol('streamed');
export type Reply = JsonReply | typeof STREAMED;

/** On every answer: nothing here is a page, and nothing is to be guessed, framed or kept. */
export const COMMON_HEADERS = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
} as const;

export function ok(body: unknown): JsonReply {
  return { status: 200, body };
}

export function errorReply(error: BlockhouseError, requestId: string): JsonReply {
  const headers: Record<string, string> = {};
  // At least a second: a client that reads 0 comes back at once, with all the others.
  if (error.retryAfterMs !== undefined) headers['retry-after'] = String(Math.max(1, Math.ceil(error.retryAfterMs / 1000)));
  if (error.code === 'UNAUTHORIZED') headers['www-authenticate'] = 'Bearer';
  return { status: error.status, body: errorBody(error, requestId), headers };
}

/** All of the answer leaves at once; `hold` only delays its end, for Node closes a connection that is not kept at that point. */
export function writeJson(res: ServerResponse, reply: JsonReply, requestId: string, hold?: Promise<void>): void {
  if (res.headersSent || res.destroyed) return;
  const bytes = reply.body === undefined ? undefined : Buffer.from(JSON.stringify(reply.body));
  res.writeHead(reply.status, {
    ...COMMON_HEADERS,
    'cache-control': 'no-store',
    'x-request-id': requestId,
    ...(bytes !== undefined && { 'content-type': 'application/json; charset=utf-8', 'content-length': bytes.length }),
    ...reply.headers,
  });
  if (hold === undefined) {
    res.end(bytes);
    return;
  }
  if (bytes === undefined) res.flushHeaders();
  else res.write(bytes);
  void hold.then(() => res.end());
}
