// Handlers of `/api/approvals`: calls of tools that wait for people. Only the token of the workspace and its sessions come here, as with every route of `/api`; the keys of
// applications open none of them.
import { type ApprovalQuery, BlockhouseError, type Decide, type Decider } from '../../../core/index.ts';
import { bearerToken } from '../../guard.ts';
import { OTHER_BODY_BYTES, readJsonBody } from '../wire/body.ts';
import { channelOf, queryNumber, queryValue } from '../wire/query.ts';
import { errorReply, type JsonReply, ok } from '../wire/reply.ts';
import { param, type RouteContext } from '../wire/route.ts';

/** `{approvals, cursor}`: the next deadline first. Fails with INVALID_REQUEST. */
export const list = async ({ core, req }: RouteContext) => {
  const given = { state: queryValue(req, 'state'), block: queryValue(req, 'block'), cursor: queryValue(req, 'cursor'), limit: queryNumber(req, 'limit') };
  const query = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as ApprovalQuery;
  return ok(await core.blocks.approvals(query));
};

/** `{approval}`. Fails with APPROVAL_NOT_FOUND. */
export const find = async (context: RouteContext) => ok({ approval: await context.core.blocks.approval(param(context, 'id')) });

/** `{approval}` with the decision, which is on disk. Fails with APPROVAL_STALE, and with APPROVAL_DECIDED, whose body has the decision that holds. */
export const decide = async (context: RouteContext) => {
  const { core, requestId } = context;
  const id = param(context, 'id');
  const body = await readJsonBody(context, OTHER_BODY_BYTES, false);
  try {
    return ok({ approval: await core.blocks.decideApproval(id, body as Decide, deciderOf(context)) });
  } catch (error) {
    if (!(error instanceof BlockhouseError) || error.code !== 'APPROVAL_DECIDED') throw error;
    const { status, body: report, headers } = errorReply(error, requestId);
    const told = { ...(report as object), approval: await core.blocks.approval(id) };
    return { status, body: told, headers } as unknown as JsonReply<{ readonly approval: Awaited<ReturnType<typeof core.blocks.approval>> }>;
  }
};

/** A session is one of the page. A program with the token may say that it is the command line. */
function deciderOf({ core, req }: RouteContext): Decider {
  const token = bearerToken(req);
  if (token !== undefined && core.sessions?.isSigned(token) === true) return { channel: 'web', name: 'page' };
  return { channel: channelOf(req) === 'cli' ? 'cli' : 'api', name: 'token' };
}
