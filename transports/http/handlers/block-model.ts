// A block as a model: the last turn of the user becomes a message of the block, and the connection waits for its answer.
//
// never-ended: a client that leaves ends its own wait only. The message is answered, and the same request waits on (core/block/ask.ts).
// looked-first: whether there is an outcome already is looked for in the lane of its caller. A message of long ago is looked for in archives of gigabytes, so those who send it again
//   and again read them one after the other.
// one-text: text that went out belongs to one attempt. If that fails, the stream ends with an error; what was sent is never followed by the text of another attempt.
import { offAbort, onAbort } from '../../../core/base/abort.ts';
import { traceparentIn } from '../../../core/base/traceparent.ts';
import { type AskedBlock, type AwaitedMessage, BlockhouseError, type ChatEntry, schemas, toBlockhouseError } from '../../../core/index.ts';
import type { AnswerContext, Dialect } from '../dialects/shared/dialect.ts';
import { ok, type Reply, STREAMED, Written } from '../wire/reply.ts';
import { forCaller, type RouteContext } from '../wire/route.ts';
import { SseWriter } from '../wire/sse.ts';
import { headersOf } from './answer-headers.ts';
import { BlockAnswer, doneOf } from './block-answer.ts';
import { failureOf } from './block-failure.ts';
import { inLane, inSendingLane } from './block-lanes.ts';
import { questionOf } from './block-question.ts';
import { assertHasBlocks, assertMayAskBlock, rethrowAsModel } from './compatible-blocks.ts';
import { accountsOf } from './keys.ts';
import { waitsOf } from './block-waits.ts';

/** What a client has sent, understood by its dialect. */
export interface BlockRequest<E = unknown> {
  readonly dialect: Dialect<E>;
  readonly context: RouteContext;
  readonly asked: AnswerContext<E>;
  readonly body: unknown;
  readonly block: string;
}

/** How long a connection waits. */
export interface WaitTimes {
  readonly waitMs: number;
}

const TIMES: WaitTimes = { waitMs: schemas.MAX_WAIT_SECONDS * 1000 };

/** Asks the block, and waits for its answer. */
export async function askBlock<E>(request: BlockRequest<E>, times = TIMES): Promise<Reply<object>> {
  const { context, asked, body, block } = request;
  const { core, key, req } = context;
  assertMayAskBlock(context, block, asked.request.model);
  const instance = core.ownAddresses.instance;
  if (req.headers['x-blockhouse-instance'] === instance)
    throw new BlockhouseError(
      'LOOP_DETECTED',
      `A block of this server asks block/${block} through its own provider, so it might wait for itself. Give it another model.`,
    );
  const { message, conversation, warnings } = questionOf(asked.request, body);
  assertHasBlocks(core);
  const refusal = key && (await accountsOf(core).checkForBlock({ key: key.name, adapterId: 'block', model: undefined, askedAs: asked.request.model }));
  const leave = waitsOf(core).enter(block, key);
  try {
    const idempotencyKey = headerText(req.headers['idempotency-key']);
    const question = { message, conversation, idempotencyKey, key, refusal, traceparent: traceparentIn(req.headers) };
    const posted = await inSendingLane(context, () => core.blocks.ask(block, question));
    const headers = {
      ...headersOf({ adapter: 'block', model: block }, warnings, request.dialect.answerHeaders?.(context.requestId)),
      'x-blockhouse-message': posted.id,
    };
    return await (asked.request.stream ? streamed : whole)(request, posted, headers, times);
  } catch (error) {
    return rethrowAsModel(error);
  } finally {
    leave();
  }
}

type Headers = Readonly<Record<string, string>>;

/** A repeated header has several values; none of them is the client's id of the request. */
function headerText(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

async function whole<E>({ dialect, context, asked, block }: BlockRequest<E>, posted: AskedBlock, headers: Headers, times: WaitTimes): Promise<Reply<object>> {
  const answer = await outcome(context, block, posted, times);
  const { content, costUsd } = answer;
  const text = dialect.answer({ pieces: content === '' ? [] : [{ type: 'text', text: content }], done: doneOf(answer) }, asked);
  return ok(new Written<object>(text), { ...headers, ...(costUsd != null && { 'x-blockhouse-cost-usd': String(costUsd) }) });
}

async function streamed<E>(
  { dialect, context, asked, block }: BlockRequest<E>,
  posted: AskedBlock,
  headers: Headers,
  times: WaitTimes,
): Promise<Reply<object>> {
  const { res, requestId, server, rates, key } = context;
  const writer = new SseWriter(res, requestId, server.sse, {
    frames: dialect.stream(asked),
    headers: () => ({ ...headers, ...(dialect.streamType !== undefined && { 'content-type': dialect.streamType }) }),
    rates,
  });
  const text = new BlockAnswer(writer, posted.id);
  try {
    text.finish(await outcome(context, block, posted, times, text));
    return STREAMED;
  } catch (error) {
    const failure = toBlockhouseError(text.broken ?? error);
    writer.fail(forCaller(failure, key));
    throw failure; // an open stream has its error frame already; the server only logs this
  }
}

/** The whole answer. Rejects with why there is none. */
async function outcome(context: RouteContext, block: string, posted: AskedBlock, times: WaitTimes, text?: BlockAnswer): Promise<ChatEntry> {
  const found = await awaited(context, block, posted.id, times, text);
  if (found.note !== null) throw await unanswered(context, block, posted.id);
  context.res.once('finish', posted.delivered);
  if (found.answer?.status === 'done') return found.answer;
  throw failureOf(found, block);
}

/** Waits until the message has its outcome, the time is up, the server ends, or the attempt breaks off whose text went out. looked-first. Not to be called in that lane. */
export async function awaited(context: RouteContext, block: string, id: string, { waitMs }: WaitTimes, text?: BlockAnswer): Promise<AwaitedMessage> {
  const { core, server, signal } = context;
  const found = await inLane(context, () => core.blocks.answer(block, id, { waitMs: 0 }));
  if (found.note === null || waitMs === 0) return found;
  const over = new AbortController();
  const end = (): void => over.abort();
  const draining = onAbort(server.draining, end);
  if (server.draining.aborted) end();
  if (text !== undefined) text.onBroken = end;
  try {
    return await core.blocks.answer(block, id, { waitMs, signal, until: over.signal, ...(text !== undefined && { onReply: text.step }) });
  } finally {
    offAbort(draining);
  }
}

/** Why the wait has ended without an outcome. The message stays where it is. */
async function unanswered({ core, server }: RouteContext, block: string, id: string): Promise<BlockhouseError> {
  if (server.draining.aborted)
    return new BlockhouseError('SHUTTING_DOWN', `The server is shutting down. The block ${block} answers the message ${id} when it runs again.`);
  const blocked = await core.blocks.whyBlocked(block);
  if (blocked !== undefined) return blocked;
  return new BlockhouseError(
    'STILL_WORKING',
    `The block ${block} has not answered the message ${id} yet. It still does; send the same request again to wait on.`,
  );
}
