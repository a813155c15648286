// `/api/blocks/:name/chat`: messages to a block and their answers.
import type { ChatEntry } from '../../../core/index.ts';
import { OTHER_BODY_BYTES, readJsonBody } from '../body.ts';
import { channelOf } from '../query.ts';
import { ok } from '../reply.ts';
import { param, type RouteContext } from '../route.ts';

export const post = async (context: RouteContext) => {
  const channel = channelOf(context.req);
  const body = await readJsonBody(context, OTHER_BODY_BYTES, false);
  return ok(await context.core.blocks.post(param(context, 'name'), body, channel));
};

export const history = async (context: RouteContext) => ok({ messages: await context.core.blocks.history(param(context, 'name')) });

export const cancel = async (context: RouteContext) => changed(await context.core.blocks.cancel(param(context, 'name'), param(context, 'id')));

export const retry = async (context: RouteContext) => changed(await context.core.blocks.retry(param(context, 'name'), param(context, 'id')));

function changed(entry: ChatEntry) {
  return ok({ success: true, message: `The message is ${entry.status} now.`, entry });
}
