// Handlers of `/api/blocks/:name/chat`: messages to a block and their answers. Without a query, the history has the active entries; a page
// can also have archived ones.
import type { ChatEntry, HistoryPage, PostMessage } from '../../../core/index.ts';
import { OTHER_BODY_BYTES, readJsonBody } from '../body.ts';
import { channelOf, queryNumber, queryValue } from '../query.ts';
import { ok } from '../reply.ts';
import { param, type RouteContext } from '../route.ts';

/** `{queued, block, id, position, running, note}` once the message is on disk. Fails with QUEUE_FULL. */
export const post = async (context: RouteContext) => {
  const channel = channelOf(context.req);
  const body = await readJsonBody(context, OTHER_BODY_BYTES, false);
  return ok(await context.core.blocks.post(param(context, 'name'), body as PostMessage, channel));
};

/** `{messages}`, oldest first: the active entries, or a page (`limit`, `before`, `since`). */
export const history = async (context: RouteContext) => ok({ messages: await context.core.blocks.history(param(context, 'name'), pageOf(context)) });

/** `{entry, answer}`, active or archived. Fails with MESSAGE_NOT_FOUND. */
export const find = async (context: RouteContext) => ok(await context.core.blocks.message(param(context, 'name'), param(context, 'id')));

/** `{success, message, entry}`; ends the reply if one is being written. Fails with WRONG_STATE for a message that is done. */
export const cancel = async (context: RouteContext) => changed(await context.core.blocks.cancel(param(context, 'name'), param(context, 'id')));

/** `{success, message, entry}`; queues a failed, cancelled or expired message again. Fails with WRONG_STATE for any other. */
export const retry = async (context: RouteContext) => changed(await context.core.blocks.retry(param(context, 'name'), param(context, 'id')));

/** Undefined without a query: then the answer is the active history. */
function pageOf({ req }: RouteContext): HistoryPage | undefined {
  const limit = queryNumber(req, 'limit');
  const [before, since] = ['before', 'since'].map((name) => queryValue(req, name));
  if (limit === undefined && before === undefined && since === undefined) return undefined;
  return { ...(limit !== undefined && { limit }), ...(before !== undefined && { before }), ...(since !== undefined && { since }) };
}

function changed(entry: ChatEntry) {
  return ok({ success: true, message: `The message is ${entry.status} now.`, entry });
}
