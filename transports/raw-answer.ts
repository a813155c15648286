// The answer to what is no HTTP exchange any more, or never was one: written to the bare connection, which it ends.
import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { type BlockhouseError, errorBody } from '../core/index.ts';

/** On every answer: nothing here is a page, and nothing is to be guessed, framed or kept. */
export const COMMON_HEADERS = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
} as const;

/** Answers without a request and ends the connection: the same error body, headers and all. */
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
    ...(failure.code === 'UNAUTHORIZED' && { 'www-authenticate': 'Bearer' }),
    ...more,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.once('error', () => socket.destroy());
  socket.end(`HTTP/1.1 ${failure.status} ${STATUS_CODES[failure.status]}\r\n${lines.join('')}\r\n${body}`, () => socket.destroy());
}

/** The answer that has its turn on a connection and is not complete: Node notes it on the socket. */
export function openAnswer(socket: Duplex & { readonly _httpMessage?: ServerResponse | null }): ServerResponse | undefined {
  return socket._httpMessage ?? undefined;
}
