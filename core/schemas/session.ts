// Bodies and answers of `/api/session`.
import type * as types from '../types.ts';
import { closedObject, object, orNull, string } from './fields.ts';

const time = { type: 'string', description: 'ISO 8601, UTC, with milliseconds' } as const;

/** Body of POST `/api/session` without a bearer. */
export const SignIn = closedObject({ code: { type: 'string', minLength: 1, maxLength: 64, description: 'The one-time code of `blockhouse open`' } });
export type SignIn = types.SignIn;

/** The answer of POST `/api/session`. */
export const SessionKey = object({ key: { type: 'string', description: 'A session key. It is accepted wherever the token is, for 30 days' }, expiresAt: time });

/** The answer of POST `/api/session/code`. */
export const SessionCode = object({
  code: { type: 'string', description: 'A code that signs in once' },
  expiresAt: time,
  page: { ...orNull(string), description: 'The address of the page, to which `#code=` is added: a path, or a URL with the public origin; null without a page' },
});

/** The answer of POST `/api/session/ticket`. */
export const SessionTicket = object({ ticket: { type: 'string', description: 'Opens one WebSocket: /api/ws?ticket=' }, expiresAt: time });
