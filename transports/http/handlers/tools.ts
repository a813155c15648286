// Handlers of `/api/tools`: the servers of tools, what they show, and what is approved of it. They decide nothing; the core's servers do.
import { BlockhouseError } from '../../../core/index.ts';
import { OTHER_BODY_BYTES, readJsonBody } from '../wire/body.ts';
import { channelOf } from '../wire/query.ts';
import { ok } from '../wire/reply.ts';
import { param, type RouteContext } from '../wire/route.ts';

/** `{servers}`, without any secret. */
export const list = async ({ core }: RouteContext) => ok({ servers: await core.toolServers().list() });

/** `{server}`, with the whole definitions of its tools. Fails with TOOL_SERVER_NOT_FOUND. */
export const show = async (context: RouteContext) => ok({ server: await context.core.toolServers().get(param(context, 'server')) });

/** `{success, server}`: the entry is written, and held until it is approved. Fails with TOOL_SERVER_REFUSED. */
export const put = async (context: RouteContext) => {
  const body = await readJsonBody(context, OTHER_BODY_BYTES, false);
  return changed(await context.core.toolServers().put(param(context, 'server'), body));
};

/** `{success, message}`. */
export const remove = async (context: RouteContext) => {
  await context.core.toolServers().remove(param(context, 'server'));
  return ok({ success: true, message: 'The server is removed, with its approvals and its secrets.' });
};

/** `{success, server}`: it was started once. Fails with TOOL_NOT_APPROVED, TOOL_SERVER_FAILED. */
export const test = async (context: RouteContext) => {
  const body = await readJsonBody(context, OTHER_BODY_BYTES, false);
  return changed(await context.core.toolServers().test(param(context, 'server'), body, context.signal));
};

/** `{success, result}`: a tool was called once. Nothing is called while the kill switch is set (WRONG_STATE). */
export const call = async (context: RouteContext) => {
  const body = await readJsonBody(context, OTHER_BODY_BYTES, false);
  const servers = context.core.toolServers();
  if (context.core.blocks.halted().halted)
    throw new BlockhouseError('WRONG_STATE', 'The kill switch is set, so no tool is called; `blockhouse unhalt` releases it.');
  return ok({ success: true as const, result: await servers.call(param(context, 'server'), body, context.signal) });
};

/** `{success, server}`. Fails with TOOL_CHANGED. */
export const approve = async (context: RouteContext) => {
  const by = channelOf(context.req);
  const body = await readJsonBody(context, OTHER_BODY_BYTES, false);
  return changed(await context.core.toolServers().approve(param(context, 'server'), body, by));
};

/** `{success, message}`: the value is never shown again. */
export const setSecret = async (context: RouteContext) => {
  const body = await readJsonBody(context, OTHER_BODY_BYTES, false);
  await context.core.toolServers().setSecret(param(context, 'server'), param(context, 'field'), body);
  return ok({ success: true, message: 'The secret is stored.' });
};

/** `{success, message}`. */
export const removeSecret = async (context: RouteContext) => {
  await context.core.toolServers().setSecret(param(context, 'server'), param(context, 'field'), { value: null });
  return ok({ success: true, message: 'The secret is removed.' });
};

function changed<S>(server: S) {
  return ok({ success: true as const, server });
}
