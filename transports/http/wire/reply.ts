// Replies as values, and the functions that write them to the response.
//
// one-batch: whole answers leave at the end of a turn of the event loop, one after the other. Each write wakes the process that reads it, and that
// costs more than the write; when several answers follow at once, it is awake for all but the first.
// one-buffer: the headers and a short text leave as one, and the answer ends a moment later. Ended together with its text, Node makes a list of two, of which
// the second is empty, and to hand a list to the system costs more.
//
// long-in-turns: an answer of more than LARGE bytes leaves in a turn that has room for it, and callers take turns: to hand a megabyte to the system takes a
//   millisecond, and hundreds of clients may ask at once.
import type { ServerResponse } from 'node:http';
import { hasRoom, sharedTurn } from '../../../core/base/next-turn.ts';
import { toJsonText } from '../../../core/base/json-text.ts';
import { type BlockhouseError, errorBody, type Warning } from '../../../core/index.ts';
import { COMMON_HEADERS, failureHeaders } from '../../raw-answer.ts';
import { isOfProvider, type RateHeaders } from './rate-headers.ts';
import { unreadAnswers } from './unread-answers.ts';

/** The content type of every JSON answer. */
export const JSON_TYPE = 'application/json; charset=utf-8';

/** A body that is already serialised and is sent as it is: cached JSON text, or bytes of another type. `T` is the type that a client parses it to. */
export class Written<T = unknown> {
  declare readonly value: T; // exists only in the type

  readonly content: string | Uint8Array;
  readonly type: string;

  constructor(content: string | Uint8Array, type = JSON_TYPE) {
    this.content = content;
    this.type = type;
  }
}

/** A reply that a handler returns as a value. */
export interface JsonReply<T = unknown> {
  /** The HTTP status. */
  readonly status: number;
  /** Serialised as JSON unless it is `Written`; undefined for an answer without a body. */
  readonly body: T;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Returned by a handler that has written its reply itself, through the SSE writer. */
export const STREAMED = Symbol('streamed');
/** What a handler returns. `T` is the body. */
export type Reply<T = unknown> = JsonReply<T> | typeof STREAMED;

/** The field `warnings`, left out when there are none. */
export function some(warnings: readonly Warning[]): { readonly warnings?: readonly Warning[] } {
  return warnings.length > 0 ? { warnings } : {};
}

/** A 200 with this body. */
export function ok<const T>(body: T, headers?: Readonly<Record<string, string>>): JsonReply<T> {
  return { status: 200, body, ...(headers !== undefined && { headers }) };
}

/** A 202 with this body: the work goes on without the client. */
export function accepted<const T>(body: T): JsonReply<T> {
  return { status: 202, body };
}

/** The status, error body and headers (`Retry-After`, `WWW-Authenticate`) of a failure. */
export function errorReply(error: BlockhouseError, requestId: string): JsonReply {
  return { status: error.status, body: errorBody(error, requestId), headers: failureHeaders(error) };
}

/**
 * Writes a whole reply. `hold` delays only the end of the answer: its content leaves at once, and Node closes a connection that is not kept
 * alive when the answer ends. `rates` are for a key with limits by the minute. Does nothing for an answer that has begun or whose client has left.
 */
export function writeJson(res: ServerResponse, reply: JsonReply, requestId: string, hold?: Promise<void>, rates?: RateHeaders): void {
  if (res.headersSent || res.destroyed) return;
  const body = reply.body === undefined || reply.body instanceof Written ? reply.body : new Written(toJsonText(reply.body));
  res.writeHead(reply.status, headersOf(body, reply.headers, requestId, rates));
  const content = body === undefined ? undefined : asWritten(body.content);
  // Behind another answer (pipelining) it is handed over at once, so that Node counts its bytes and reads no more requests than it should.
  if (hold === undefined && res.socket === null) send(res, content);
  else if (hold === undefined)
    setImmediate(isLarge(content) ? sendInTurn : send, res, content); // one-batch
  else {
    if (content === undefined) res.flushHeaders();
    else res.write(content);
    void hold.then(() => send(res, undefined));
    cutOffWhenStalled(res);
  }
}

function isLarge(content: string | Uint8Array | undefined): boolean {
  return content !== undefined && content.length > LARGE;
}

/** long-in-turns. */
function sendInTurn(res: ServerResponse, content: string | Uint8Array | undefined): void {
  if (hasRoom()) send(res, content);
  else void sharedTurn(unreadAnswers.ownerOf(res)).then(() => send(res, content));
}

/** Node throws, and the process dies, when an answer ends after its connection was destroyed while other answers waited behind it. */
function send(res: ServerResponse, content: string | Uint8Array | undefined): void {
  if (res.req.socket.destroyed) return;
  // As Latin-1, each byte stays what it is.
  const text = content instanceof Buffer && content.length <= LONG_TEXT ? content.toString('latin1') : content;
  if (typeof text === 'string' && text !== '' && res.socket !== null) {
    res.write(text, text === content ? 'utf8' : 'latin1'); // one-buffer
    process.nextTick(end, res);
  } else {
    res.end(text);
    cutOffWhenStalled(res);
  }
}

function end(res: ServerResponse): void {
  if (res.req.socket.destroyed) return;
  res.end();
  cutOffWhenStalled(res);
}

const LONG_TEXT = 8192;
const LARGE = 65_536;

/**
 * Converts long text to bytes. When the system does not accept a string at once, Node keeps the string and a buffer of three bytes for each
 * character until the client has read it. Short text stays a string, so that it leaves together with the headers.
 */
export function asWritten(content: string | Uint8Array): string | Uint8Array {
  return typeof content === 'string' && content.length > LONG_TEXT ? Buffer.from(content) : content;
}

const FIXED_HEADERS = [...Object.entries(COMMON_HEADERS).flat(), 'cache-control', 'no-store'];

/** The headers of every answer, but for those that this one has itself. */
function fixedBeside(further: Readonly<Record<string, string>>): string[] {
  return Object.entries({ ...COMMON_HEADERS, 'cache-control': 'no-store' })
    .filter(([name]) => further[name] === undefined)
    .flat();
}

/** Names and values in turn: the form that Node accepts without copying. */
function headersOf(body: Written | undefined, further: JsonReply['headers'], requestId: string, rates: RateHeaders | undefined): string[] {
  const list = further?.['content-security-policy'] === undefined && further?.['cache-control'] === undefined ? [...FIXED_HEADERS] : fixedBeside(further);
  if (further?.['x-request-id'] === undefined) list.push('x-request-id', requestId);
  if (body !== undefined) list.push('content-type', body.type, 'content-length', String(Buffer.byteLength(body.content)));
  if (further !== undefined) for (const name in further) if (rates === undefined || !isOfProvider(name)) list.push(name, further[name] ?? ''); // own-limits
  rates?.(list);
  return list;
}

/**
 * An answer that the system's buffers can't hold stays in memory until the client reads it. A client that stops reading is therefore cut off
 * after 15 to 30 s: Node waits a second period when anything has moved in the first.
 */
const STALL_MS = 15_000;

/** Destroys the connection of a finished answer when its client reads nothing for 15 to 30 s, or when too many bytes of all answers are unread. */
export function cutOffWhenStalled(res: ServerResponse): void {
  const { socket } = res;
  if (socket === null) {
    // The answer waits behind another one (pipelining) and gets the socket when its turn comes.
    unreadAnswers.add(res);
    res.once('socket', () => process.nextTick(() => cutOffWhenStalled(res)));
    return;
  }
  if (socket.writableLength === 0) return;
  unreadAnswers.add(res);
  socket.setTimeout(STALL_MS); // counts from the last byte that the client took; Node then destroys the connection
  // Must run before Node's own listener, which sets the idle time of a kept connection.
  res.prependOnceListener('finish', () => socket.setTimeout(0));
}
