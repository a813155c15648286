// Answers that a client may have already: an ETag of their bytes, and 304 for who names it (RFC 9110, 13.1.2).
//
// once: a text that is kept, such as the list of blocks, is hashed once.
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { toJsonText } from '../../../core/base/json-text.ts';
import { type JsonReply, Written } from './reply.ts';

/** The ETag of these bytes, in quotes. */
export function etagOfBytes(bytes: string | Uint8Array): string {
  return `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
}

/** True if the client has the answer with this ETag. */
export function isKnown({ headers }: Pick<IncomingMessage, 'headers'>, etag: string): boolean {
  return headers['if-none-match']?.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag) === true;
}

const tags = new WeakMap<Written, string>();

/** 200 with this body, or 304 without one. The type is that of 200, since who names no tag gets no 304. */
export function tagged<T>(req: Pick<IncomingMessage, 'headers'>, body: T | Written<T>): JsonReply<Written<T>> {
  const written = body instanceof Written ? body : new Written<T>(toJsonText(body));
  const etag = tags.get(written) ?? etagOfBytes(written.content);
  tags.set(written, etag); // once
  return isKnown(req, etag) ? { status: 304, body: undefined as unknown as Written<T>, headers: { etag } } : { status: 200, body: written, headers: { etag } };
}
