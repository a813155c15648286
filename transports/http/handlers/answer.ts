// A request that waits for the outcome of a message, as JSON or as server-sent events. A client that leaves only stops waiting.
import { type AwaitedMessage, schemas, toBlockhouseError } from '../../../core/index.ts';
import { querySeconds, wantsEvents } from '../wire/query.ts';
import { type JsonReply, type Reply, STREAMED } from '../wire/reply.ts';
import { ReplyFrames } from '../wire/reply-frames.ts';
import { param, type RouteContext } from '../wire/route.ts';
import { SseWriter } from '../wire/sse.ts';

/** The seconds of `?wait`; undefined without it. Throws INVALID_REQUEST for anything but 0 to 600. */
export const waitOf = ({ req }: RouteContext): number | undefined => querySeconds(req, 'wait', schemas.MAX_WAIT_SECONDS);

/** Waits until a message of the block in the path is finished. `reply` makes the JSON answer, unless the client asks for events. */
export async function awaited<T>(context: RouteContext, messageId: string, seconds: number, reply: (found: AwaitedMessage) => JsonReply<T>): Promise<Reply<T>> {
  if (wantsEvents(context.req)) return streamed(context, messageId, seconds, reply);
  return reply(await found(context, messageId, seconds));
}

async function streamed<T>(context: RouteContext, messageId: string, seconds: number, reply: (found: AwaitedMessage) => JsonReply<T>): Promise<Reply<T>> {
  const writer = new SseWriter(context.res, context.requestId, context.server.sse);
  const frames = new ReplyFrames(writer);
  try {
    const outcome = await found(context, messageId, seconds, frames);
    return frames.finish(outcome) ? STREAMED : reply(outcome);
  } catch (error) {
    const failure = toBlockhouseError(error);
    writer.fail(failure);
    throw failure; // an open stream has its error frame already; the server only logs this
  }
}

function found(context: RouteContext, messageId: string, seconds: number, frames?: ReplyFrames): Promise<AwaitedMessage> {
  const { core, server, signal } = context;
  const onReply = frames === undefined ? {} : { onReply: frames.step };
  return core.blocks.answer(param(context, 'name'), messageId, { waitMs: seconds * 1000, signal, until: server.draining, ...onReply });
}
