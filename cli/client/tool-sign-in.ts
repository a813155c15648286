// The calls of the server for sign-ins to servers of tools.
import type { AnswerOf } from '../../transports/http/routes.ts';
import type { Api } from './api.ts';
import { targetOf } from './routes.ts';

/** May ask several other servers, which takes a while. */
export function beginToolSignIn({ client }: Api, server: string, body: object): Promise<AnswerOf<'POST /api/tools/:server/login'>> {
  const { method, target } = targetOf('POST /api/tools/:server/login', { server });
  return client.json(method, target, { body, hurry: false });
}

export function finishToolSignIn({ client }: Api, server: string, query: string): Promise<AnswerOf<'POST /api/tools/:server/login/finish'>> {
  const { method, target } = targetOf('POST /api/tools/:server/login/finish', { server });
  return client.json(method, target, { body: { query }, hurry: false });
}

export function signOutOfTools({ client }: Api, server: string): Promise<AnswerOf<'DELETE /api/tools/:server/login'>> {
  const { method, target } = targetOf('DELETE /api/tools/:server/login', { server });
  return client.json(method, target, { hurry: false });
}
