// Answers on a bare socket, for bytes that never became an HTTP request or a connection that has left HTTP. Each answer ends its connection.
import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { type BlockhouseError, errorBody } from '../core/index.ts';

/** The headers of every answer. No answer is a page, so browsers must not guess its type, frame it or pass its address on. */
export const COMMON_HEADERS = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
} as const;

/** The headers that tell a client what to do about a failure: `Retry-After`, `WWW-Authenticate`. */
export function failureHeaders({ code, retryAfterMs }: BlockhouseError): Readonly<Record<string, string>> {
  return {
    // At least one second: with 0, all clients would come back at once.
    ...(retryAfterMs !== undefined && { 'retry-after': String(Math.max(1, Math.ceil(retryAfterMs / 1000))) }),
    ...(code === 'UNAUTHORIZED' && { 'www-authenticate': 'Bearer' }),
  };
}

/** Writes a failure with the usual error body and headers to the socket and ends the connection. `more` adds or replaces headers. */
export function answerRaw(socket: Duplex, failure: BlockhouseError, requestId: string, more: Readonly<Record<string, string>> = {}): void {
  const body = JSON.stringify(errorBody(failure, requestId));
  const headers = {
    ...COMMON_HEADERS,
    'cache-control': 'no-store',
    'x-request-id': requestId,
    connection: 'close',
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    ...(failure.code === 'METHOD_NOT_ALLOWED' && { allow: '' }),
    ...failureHeaders(failure),
    ...more,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.once('error', () => socket.destroy());
  socket.end(`HTTP/1.1 ${failure.status} ${STATUS_CODES[failure.status]}\r\n${lines.join('')}\r\n${body}`, () => socket.destroy());
}

/** The incomplete answer whose turn it is on a connection. Node keeps it in a private field of the socket. */
export function openAnswer(socket: Duplex & { readonly _httpMessage?: ServerResponse | null }): ServerResponse | undefined {
  return socket._httpMessage ?? undefined;
}

/** True when the bytes come after a complete request that is not answered yet. Otherwise they belong to the open request, which is refused with them. */
export function isInAnotherAnswer(socket: Duplex): boolean {
  const open = openAnswer(socket);
  return open !== undefined && (open.headersSent || open.req.complete);
}
