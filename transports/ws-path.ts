// Where the WebSocket is, and how its token comes: HTTP answers requests for this path that don't ask for an upgrade. Pure: no I/O.
//
// header-wins: a request with `Authorization: Bearer` is judged by this header alone, even if the query has a token, too. Headers of other
// schemes say nothing here: browsers send them by themselves when a proxy in between asks for a password.
import type { IncomingMessage } from 'node:http';
import { bearerToken } from './guard.ts';

/** The path of the WebSocket. */
export const WS_PATH = '/api/ws';
/** Routes whose clients may ask for a WebSocket first. HTTP_ONLY tells them to use HTTP. */
export const HTTP_ONLY_PATHS: ReadonlySet<string> = new Set(['/v1/responses']);
/** The cure for a request there without the right token. */
export const WS_TOKEN_HINT = `Connect to ${WS_PATH}?token=<token>, or send the header Authorization: Bearer <token>; \`blockhouse token\` prints it.`;

/** The cure for a ticket that opens nothing. */
export const WS_TICKET_HINT = 'The ticket is wrong, was used, or is too old. POST /api/session/ticket makes a new one.';

/** The token of a request for a WebSocket; undefined when it is missing, repeated or malformed. */
export function wsToken(req: IncomingMessage): string | undefined {
  return /^bearer(?: |$)/i.test(req.headers.authorization ?? '') ? bearerToken(req) : queryToken(req); // header-wins
}

/** The ticket of a page, which can't set headers here; undefined when there is none, or a token beside it. */
export function wsTicket(req: IncomingMessage): string | undefined {
  return wsToken(req) === undefined ? queryValue(req, 'ticket') : undefined;
}

function queryToken(req: IncomingMessage): string | undefined {
  return queryValue(req, 'token');
}

function queryValue(req: IncomingMessage, name: string): string | undefined {
  const values = new URLSearchParams(req.url?.split('?')[1] ?? '').getAll(name);
  return values.length === 1 ? values[0] : undefined;
}
