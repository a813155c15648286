// Replies as values, and the one place that writes them.
import type { ServerResponse } from 'node:http';
import { type BlockhouseError, errorBody } from '../../core/index.ts';
import { COMMON_HEADERS } from '../raw-answer.ts';

export const JSON_TYPE = 'application/json; charset=utf-8';

/** A body that is written out already and is sent as it is: JSON text that was kept, or bytes of another type. */
export class Written {
  readonly content: string | Uint8Array;
  readonly type: string;

  constructor(content: string | Uint8Array, type = JSON_TYPE) {
    this.content = content;
    this.type = type;
  }
}

export interface JsonReply {
  readonly status: number;
  /** Becomes JSON, unless it is `Written`; undefined for none. */
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A reply that the handler has written itself, by the SSE writer. */
export const STREAMED = Symbol('streamed');
export type Reply = JsonReply | typeof STREAMED;

export function ok(body: unknown, headers?: Readonly<Record<string, string>>): JsonReply {
  return { status: 200, body, ...(headers !== undefined && { headers }) };
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
  const body = writtenOut(reply.body);
  res.writeHead(reply.status, {
    ...COMMON_HEADERS,
    'cache-control': 'no-store',
    'x-request-id': requestId,
    ...(body !== undefined && { 'content-type': body.type, 'content-length': body.bytes.length }),
    ...reply.headers,
  });
  if (hold === undefined) res.end(body?.bytes);
  else {
    if (body === undefined) res.flushHeaders();
    else res.write(body.bytes);
    void hold.then(() => res.end());
  }
  cutOffWhenStalled(res);
}

/** How long a client may leave an answer unread that the system's buffers don't hold: all of it stands in memory. */
const STALL_MS = 30_000;

function cutOffWhenStalled(res: ServerResponse): void {
  const { socket } = res;
  if (socket === null || socket.writableLength === 0) return;
  socket.setTimeout(STALL_MS); // counts from the last byte that was taken; Node then destroys the connection
  // Before Node's own listener, which sets the time that a kept connection may be idle.
  res.prependOnceListener('finish', () => socket.setTimeout(0));
}

function writtenOut(body: unknown): { readonly type: string; readonly bytes: Uint8Array } | undefined {
  if (body === undefined) return undefined;
  const { content, type } = body instanceof Written ? body : new Written(JSON.stringify(body));
  return { type, bytes: typeof content === 'string' ? Buffer.from(content) : content };
}
