// The routes by which a browser signs in to the page.
import * as session from '../handlers/session.ts';
import { BODY, body, json } from '../openapi/parts.ts';
import type { RouteEntry, RouteKey } from '../wire/route.ts';

/** The routes of sessions by `METHOD /path`. */
export const SESSION_ROUTES = {
  'POST /api/session': {
    id: 'beginSession',
    tag: 'Server',
    summary: 'Sign in or renew',
    description:
      'Gives a session key for a one-time code in the body, or for the token or a session key as bearer. The key is accepted wherever the token is, for 30 days, and ends when the token is replaced. A key that is made with a session key ends with that one.',
    public: true,
    body: body('SignIn'),
    answers: { 200: json('SessionKey', 'The session key.') },
    errors: ['UNAUTHORIZED', 'TOO_MANY_ATTEMPTS', ...BODY],
    handler: session.begin,
  },
  'POST /api/session/code': {
    id: 'newSessionCode',
    tag: 'Server',
    summary: 'Make a code to sign in',
    description:
      'Makes a code that signs in once, within 60 s; with `?printed=true` within 10 min. Only the token of the workspace may ask for it. Where the system tells it (Linux), a code that is not printed is refused to other users of the machine, unless the server has a public origin.',
    query: { printed: { schema: { type: 'boolean' }, description: 'True for a code that a person reads and opens later, wherever that is' } },
    answers: { 200: json('SessionCode', 'The code.') },
    errors: ['KEY_FORBIDDEN'],
    handler: session.newCode,
  },
  'POST /api/session/ticket': {
    id: 'newSessionTicket',
    tag: 'Server',
    summary: 'Make a ticket for a socket',
    description: 'Makes a ticket that opens one WebSocket within 30 s, at /api/ws?ticket=. A page can set no headers there.',
    answers: { 200: json('SessionTicket', 'The ticket.') },
    handler: session.newTicket,
  },
} as const satisfies Record<RouteKey, RouteEntry>;
