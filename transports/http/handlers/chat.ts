// `/api/blocks/:name/chat`: messages to a block and their answers. The plain history is the active one; a page reaches into the archive.
import type { ChatEntry, HistoryPage } from '../../../core/index.ts';
import { OTHER_BODY_BYTES, readJsonBody } from '../body.ts';
import { channelOf, queryNumber, queryValue } from '../query.ts';
import { ok } from '../reply.ts';
import { param, type RouteContext } from '../route.ts';

export const post = async (context: RouteContext) => {
  const channel = channelOf(context.req);
  const body = await readJsonBody(context, OTHER_BODY_BYTES, false);
  return ok(await context.core.blocks.post(param(context, 'name'), body, channel));
};

export const history = async (context: RouteContext) => ok({ messages: await context.core.blocks.history(param(context, 'name'), pageOf(context)) });

export const find = async (context: RouteContext) => ok(await context.core.blocks.message(param(context, 'name'), param(context, 'id')));

export const cancel = async (context: RouteContext) => changed(await context.core.blocks.cancel(param(context, 'name'), param(context, 'id')));

export const retry = async (context: RouteContext) => changed(await context.core.blocks.retry(param(context, 'name'), param(context, 'id')));

/** Undefined for the plain history. */
function pageOf({ req }: RouteContext): HistoryPage | undefined {
  const limit = queryNumber(req, 'limit');
  const [before, since] = ['before', 'since'].map((name) => queryValue(req, name));
  if (limit === undefined && before === undefined && since === undefined) return undefined;
  return { ...(limit !== undefined && { limit }), ...(before !== undefined && { before }), ...(since !== undefined && { since }) };
}

function changed(entry: ChatEntry) {
  return ok({ success: true, message: `The message is ${entry.status} now.`, entry });
}
