// A request that waits for the outcome of a message, as JSON or as server-sent events. A client that leaves only stops waiting.
import { type AwaitedMessage, type StopFollowing, schemas, toBlockhouseError } from '../../../core/index.ts';
import { followSteps, type RunFrame } from '../../run-steps.ts';
import { queryChoice, querySeconds, wantsEvents } from '../wire/query.ts';
import { type JsonReply, type Reply, STREAMED } from '../wire/reply.ts';
import { ReplyFrames } from '../wire/reply-frames.ts';
import { param, type RouteContext } from '../wire/route.ts';
import { SseWriter } from '../wire/sse.ts';

/** How a request waits. */
export interface Wait {
  readonly seconds: number;
  /** Whether a stream shows the run, too. */
  readonly steps: boolean;
}

/** What `?wait` and `?steps` say; undefined without `wait`. Throws INVALID_REQUEST for anything but 0 to 600, true and false. */
export function waitOf({ req }: RouteContext): Wait | undefined {
  const steps = queryChoice(req, 'steps', ['false', 'true']) === 'true';
  const seconds = querySeconds(req, 'wait', schemas.MAX_WAIT_SECONDS);
  return seconds === undefined ? undefined : { seconds, steps };
}

/** Waits until a message of the block in the path is finished. `reply` makes the JSON answer, unless the client asks for events. */
export async function awaited<T>(context: RouteContext, messageId: string, wait: Wait, reply: (found: AwaitedMessage) => JsonReply<T>): Promise<Reply<T>> {
  if (wantsEvents(context.req)) return streamed(context, messageId, wait, reply);
  return reply(await found(context, messageId, wait));
}

async function streamed<T>(context: RouteContext, messageId: string, wait: Wait, reply: (found: AwaitedMessage) => JsonReply<T>): Promise<Reply<T>> {
  const writer = new SseWriter(context.res, context.requestId, context.server.sse);
  const frames = new ReplyFrames(writer);
  const stops: StopFollowing[] = [];
  try {
    if (wait.steps) await showRun(context, messageId, frames, stops);
    const outcome = await found(context, messageId, wait, frames);
    return frames.finish(outcome) ? STREAMED : reply(outcome);
  } catch (error) {
    const failure = toBlockhouseError(error);
    writer.fail(failure);
    throw failure; // an open stream has its error frame already; the server only logs this
  } finally {
    for (const stop of stops) stop();
  }
}

/** Shows the run from now on, and first what waits for a person already: nothing else would say why nothing comes. */
async function showRun(context: RouteContext, messageId: string, frames: ReplyFrames, stops: StopFollowing[]): Promise<void> {
  const { blocks } = context.core;
  const block = param(context, 'name');
  const heard = new Set<string>();
  const show = (frame: RunFrame): void => {
    if (frame.type === 'approval') heard.add(frame.id);
    frames.run(frame);
  };
  stops.push(followSteps(blocks, block, show, messageId));
  const { waitingFor = [] } = (await blocks.message(block, messageId)).entry;
  if (waitingFor.length === 0) return;
  // The message says what it waited for when somebody worked on it last; since then, some of it may have been decided.
  for (const record of (await blocks.run(block, messageId).catch(noRecords)).records) if (record.t === 'decision') heard.add(record.approval);
  for (const id of waitingFor) if (!heard.has(id)) frames.run({ type: 'approval', id, block, state: 'pending' });
}

/** Of a message whose journal was removed by hand, nothing is known to be decided. */
function noRecords(error: unknown): { readonly records: readonly [] } {
  if (toBlockhouseError(error).code !== 'RUN_NOT_FOUND') throw error;
  return { records: [] };
}

function found(context: RouteContext, messageId: string, { seconds, steps }: Wait, frames?: ReplyFrames): Promise<AwaitedMessage> {
  const { core, server, signal } = context;
  const shown = frames === undefined ? {} : { onReply: frames.step, waitsForPeople: steps };
  return core.blocks.answer(param(context, 'name'), messageId, { waitMs: seconds * 1000, signal, until: server.draining, ...shown });
}
