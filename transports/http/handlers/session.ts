// Handlers of `/api/session`: how a browser signs in to the page.
import {
  BlockhouseError,
  CODE_MS,
  type Core,
  compile,
  isFromOtherUser,
  PRINTED_CODE_MS,
  type Sessions,
  type SignIn,
  schemas,
  type Timed,
  type Validator,
} from '../../../core/index.ts';
import { bearerToken } from '../../guard.ts';
import { isStillOwners, TOKEN_HINT, wrongTokensOf } from '../../wrong-tokens.ts';
import { OTHER_BODY_BYTES, readJsonBody } from '../wire/body.ts';
import { queryValue } from '../wire/query.ts';
import { ok } from '../wire/reply.ts';
import type { RouteContext } from '../wire/route.ts';

const checkSignIn: Validator<SignIn> = compile(schemas.SignIn);
const CODE_HINT = 'The code is wrong, was used, or is too old. `blockhouse open` makes a new one.';
const OTHER_USER_HINT =
  'This code is for the user of this machine who runs the server, and the request came from another one. `blockhouse open --print` makes one for anybody.';

/** `{key, expiresAt}` for a one-time code in the body, or for a token or session key as bearer. Fails with UNAUTHORIZED, TOO_MANY_ATTEMPTS. */
export const begin = async (context: RouteContext) => {
  const { core, req } = context;
  const bearer = bearerToken(req);
  if (bearer !== undefined) {
    wrongTokensOf(core).assertRight(core, req, bearer, TOKEN_HINT);
    const sessions = sessionsOf(core);
    const isToken = (): boolean => core.token?.matches(bearer) === true;
    const key = isToken() ? await sessions.newKey(isToken) : await sessions.renewed(bearer);
    if (key === undefined) throw new BlockhouseError('UNAUTHORIZED', TOKEN_HINT); // it has ended a moment ago
    return keyOf(key);
  }
  const body = await readJsonBody(context, OTHER_BODY_BYTES, false);
  checkSignIn(body);
  if ((await sessionsOf(core).isForOwner(body.code)) && (await isFromOtherUser(req.socket))) wrongTokensOf(core).refuse(req, OTHER_USER_HINT);
  const key = await sessionsOf(core).exchange(body.code);
  return keyOf(key ?? wrongTokensOf(core).refuse(req, CODE_HINT));
};

/** `{code, expiresAt, page}`, for the token of the workspace alone. Fails with KEY_FORBIDDEN for a session key. */
export const newCode = async (context: RouteContext) => {
  const { core, req, server } = context;
  const isToken = (): boolean => core.token?.matches(bearerToken(req) ?? '') === true;
  if (!isToken()) throw new BlockhouseError('KEY_FORBIDDEN', 'Only the token of the workspace makes codes for signing in; `blockhouse token` prints it.');
  const isPrinted = queryValue(req, 'printed') === 'true';
  // Behind a proxy, every connection is one of the proxy's user.
  const holder = isPrinted || server.isBehindProxy ? 'anybody' : 'owner';
  const { text, expiresAt } = await sessionsOf(core).newCode(isPrinted ? PRINTED_CODE_MS : CODE_MS, holder, isToken);
  return ok({ code: text, expiresAt, page: server.page });
};

/** `{ticket, expiresAt}`: opens one WebSocket. */
export const newTicket = async ({ core, req }: RouteContext) => {
  const { text, expiresAt } = await sessionsOf(core).newTicket(bearerToken(req), () => isStillOwners(core, bearerToken(req) ?? ''));
  return ok({ ticket: text, expiresAt });
};

function keyOf({ text, expiresAt }: Timed) {
  return ok({ key: text, expiresAt });
}

function sessionsOf({ sessions }: Core): Sessions {
  if (sessions === undefined) throw new Error('This core has no workspace.');
  return sessions;
}
