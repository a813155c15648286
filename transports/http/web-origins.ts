// Web pages that may call the gateway from a browser: those of the origins that the operator has named. Pure: no I/O.
//
// gateway-only: they may call `/v1/*` and nothing else.
// named-only: an answer names the one origin that has asked, never `*`, and never allows credentials of the browser.

import type { IncomingMessage } from 'node:http';
import { urlOf } from '../../core/base/url.ts';
import type { JsonReply } from './wire/reply.ts';

/** The headers of an answer that a script of the page may read. */
const EXPOSED =
  'retry-after, request-id, x-request-id, x-should-retry, x-blockhouse-model, x-blockhouse-warnings, x-blockhouse-estimated, x-blockhouse-upstream-request-id';
const METHODS = 'GET, HEAD, POST, PUT, DELETE';
/** Browsers keep a preflight for two hours at most. */
const MAX_AGE_S = 7200;
const HEADER_NAMES = /^[\w!#$%&'*+.^`|~\-, ]+$/;

/** The origins to let in. Throws an Error for a text that no browser sends as its origin, because it would never match. */
export function namedOrigins(origins: Iterable<string> = []): ReadonlySet<string> {
  const named = new Set(origins);
  for (const origin of named) {
    if (!/^https?:/.test(origin) || origin.includes('*') || urlOf(origin)?.origin !== origin)
      throw new Error(`The web origin ${JSON.stringify(origin)} must be written as a browser sends it, such as https://app.example.`);
  }
  return named;
}

/** The named origin whose page has sent a request to the gateway; undefined for every other request. */
export function webOrigin({ url, headers: { origin } }: IncomingMessage, named: ReadonlySet<string>): string | undefined {
  return origin !== undefined && named.has(origin) && url?.startsWith('/v1/') ? origin : undefined; // gateway-only
}

/** What lets a page of this origin read an answer. */
export function readableBy(origin: string): Readonly<Record<string, string>> {
  return { 'access-control-allow-origin': origin, 'access-control-expose-headers': EXPOSED, vary: 'origin' }; // named-only
}

/** The answer to the question that a browser asks before it sends a request. Headers are allowed as asked for, because each client sends its own. */
export function preflight({ headers }: IncomingMessage): JsonReply {
  const asked = headers['access-control-request-headers'];
  return {
    status: 204,
    body: undefined,
    headers: {
      'access-control-allow-methods': METHODS,
      'access-control-max-age': String(MAX_AGE_S),
      ...(asked !== undefined && HEADER_NAMES.test(asked) && { 'access-control-allow-headers': asked }),
      ...(headers['access-control-request-private-network'] === 'true' && { 'access-control-allow-private-network': 'true' }),
    },
  };
}
