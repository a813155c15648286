// Where the WebSocket is, and how its token comes: HTTP answers those who come there without asking for an upgrade. Pure: no I/O.
import type { IncomingMessage } from 'node:http';

/** The path of the WebSocket. */
export const WS_PATH = '/api/ws';
/** What to say to a request there that has not the right token. */
export const WS_TOKEN_HINT = `Connect to ${WS_PATH}?token=<token>; \`blockhouse token\` prints it.`;

/** One `token` in the query; undefined when it is missing or doubled. */
export function queryToken(req: IncomingMessage): string | undefined {
  const tokens = new URLSearchParams(req.url?.split('?')[1] ?? '').getAll('token');
  return tokens.length === 1 ? tokens[0] : undefined;
}
