// `/api/blocks/:name/chat`: messages to a block and their answers.
import type { ChatEntry } from '../../../core/index.ts';
import { OTHER_BODY_BYTES, readJsonBody } from '../body.ts';
import { channelOf } from '../query.ts';
import { type JsonReply, ok } from '../reply.ts';
import { type Handler, param } from '../router.ts';

export const post: Handler = async (context) => {
  const channel = channelOf(context.req);
  const body = await readJsonBody(context, OTHER_BODY_BYTES, false);
  return ok(await context.core.blocks.post(param(context, 'name'), body, channel));
};

export const history: Handler = async (context) => ok({ messages: await context.core.blocks.history(param(context, 'name')) });

export const cancel: Handler = async (context) => changed(await context.core.blocks.cancel(param(context, 'name'), param(context, 'id')));

export const retry: Handler = async (context) => changed(await context.core.blocks.retry(param(context, 'name'), param(context, 'id')));

function changed(entry: ChatEntry): JsonReply {
  return ok({ success: true, message: `The message is ${entry.status} now.`, entry });
}
