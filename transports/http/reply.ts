// Replies as values, and the one place that writes them.
import type { ServerResponse } from 'node:http';
import { type BlockhouseError, errorBody, toJsonText } from '../../core/index.ts';
import { COMMON_HEADERS } from '../raw-answer.ts';

export const JSON_TYPE = 'application/json; charset=utf-8';

/** A body that is written out already and is sent as it is: JSON text that was kept, or bytes of another type. `T` is what a client reads in it. */
export class Written<T = unknown> {
  declare readonly value: T; // for types alone

  readonly content: string | Uint8Array;
  readonly type: string;

  constructor(content: string | Uint8Array, type = JSON_TYPE) {
    this.content = content;
    this.type = type;
  }
}

export interface JsonReply<T = unknown> {
  readonly status: number;
  /** Becomes JSON, unless it is `Written`; undefined for none. */
  readonly body: T;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A reply that the handler has written itself, by the SSE writer. */
export const STREAMED = Symbol('streamed');
export type Reply<T = unknown> = JsonReply<T> | typeof STREAMED;

export function ok<const T>(body: T, headers?: Readonly<Record<string, string>>): JsonReply<T> {
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
  const body = reply.body === undefined || reply.body instanceof Written ? reply.body : new Written(toJsonText(reply.body));
  res.writeHead(reply.status, headersOf(body, reply.headers, requestId));
  const content = body === undefined ? undefined : asWritten(body.content);
  if (hold === undefined) res.end(content);
  else {
    if (content === undefined) res.flushHeaders();
    else res.write(content);
    // Node stumbles over the end of an answer whose connection has gone while others waited behind it, and the process with it.
    void hold.then(() => {
      if (!res.req.socket.destroyed) res.end();
    });
  }
  cutOffWhenStalled(res);
}

const LONG_TEXT = 8192;

/**
 * Long text as bytes: of a string that the system does not take at once, Node keeps the string and three bytes for each of its characters,
 * until the client has read it. Short text leaves together with its head.
 */
export function asWritten(content: string | Uint8Array): string | Uint8Array {
  return typeof content === 'string' && content.length > LONG_TEXT ? Buffer.from(content) : content;
}

const FIXED_HEADERS = [...Object.entries(COMMON_HEADERS).flat(), 'cache-control', 'no-store'];

/** Names and values in turn, which Node takes as they are. */
function headersOf(body: Written | undefined, further: JsonReply['headers'], requestId: string): string[] {
  const list = [...FIXED_HEADERS, 'x-request-id', requestId];
  if (body !== undefined) list.push('content-type', body.type, 'content-length', String(Buffer.byteLength(body.content)));
  if (further !== undefined) for (const name in further) list.push(name, further[name] ?? '');
  return list;
}

/**
 * A client that leaves an answer unread which the system's buffers don't hold is cut off after 15 to 30 s: all of it stands in memory. Node looks
 * a second time where anything has moved since the first.
 */
const STALL_MS = 15_000;

export function cutOffWhenStalled(res: ServerResponse): void {
  const { socket } = res;
  if (socket === null) {
    // It waits behind another answer (pipelining), and is written as soon as the connection is its own.
    res.once('socket', () => process.nextTick(() => cutOffWhenStalled(res)));
    return;
  }
  if (socket.writableLength === 0) return;
  socket.setTimeout(STALL_MS); // counts from the last byte that was taken; Node then destroys the connection
  // Before Node's own listener, which sets the time that a kept connection may be idle.
  res.prependOnceListener('finish', () => socket.setTimeout(0));
}
