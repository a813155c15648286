// Handlers of `/api/blocks/:name/chat`: messages to a block and their answers. Without a query, the history has the active entries; a page
// can also have archived ones.
import { traceparentIn } from '../../../core/base/traceparent.ts';
import type { AskAgain, Channel, ChatAnswer, ChatEntry, ChatReceipt, HistoryPage, MessageFound, PostMessage, ResultPage } from '../../../core/index.ts';
import { OTHER_BODY_BYTES, readJsonBody } from '../wire/body.ts';
import { tagged } from '../wire/etag.ts';
import { channelOf, queryNumber, queryValue } from '../wire/query.ts';
import { accepted, ok, type Reply } from '../wire/reply.ts';
import { param, type RouteContext } from '../wire/route.ts';
import { awaited, waitOf } from './answer.ts';

const OUTCOMES: Partial<Record<ChatEntry['status'], string>> = {
  done: 'The message has its answer.',
  failed: 'The message has failed; entry.error says why.',
  cancelled: 'The message was cancelled.',
  expired: 'The message has expired: it waited too long to be answered.',
};

/**
 * `{queued, block, id, position, running, note}` once the message is on disk. Fails with QUEUE_FULL. With `?wait`, 200 with `entry` and `answer`
 * besides when the message has its outcome in time, and 202 without them when it has not.
 */
export const post = (context: RouteContext): Promise<Reply<ChatAnswer>> =>
  queued(context, (body, channel) => context.core.blocks.post(param(context, 'name'), body as PostMessage, channel, traceparentIn(context.req.headers)));

/** The same for the last message that is asked again. Fails with WRONG_STATE for any other one. */
export const again = (context: RouteContext): Promise<Reply<ChatAnswer>> =>
  queued(context, (body, channel) =>
    context.core.blocks.askAgain(param(context, 'name'), param(context, 'id'), body as AskAgain, channel, traceparentIn(context.req.headers)),
  );

async function queued(context: RouteContext, queue: (body: unknown, channel: Channel) => Promise<ChatReceipt>): Promise<Reply<ChatAnswer>> {
  const wait = waitOf(context);
  const receipt = await queue(await readJsonBody(context, OTHER_BODY_BYTES, false), channelOf(context.req));
  if (wait === undefined) return ok(receipt);
  return awaited(context, receipt.id, wait, ({ entry, answer, running, note }) =>
    note === null ? ok({ ...receipt, running, note: OUTCOMES[entry.status] ?? '', entry, answer }) : accepted({ ...receipt, running, note }),
  );
}

/** `{messages, seq}`, oldest first: the active entries, or a page (`limit`, `before`, `since`); 304 for who has them. */
export const history = async (context: RouteContext) => {
  const { blocks } = context.core;
  const name = param(context, 'name');
  const seq = await blocks.lastStep(name); // before the messages, which are then at least as new
  return tagged(context.req, { messages: await blocks.history(name, pageOf(context)), seq });
};

/** `{entry, answer}`, active or archived. With `?wait`, `running` and `note` besides, and 202 while the message has no outcome. Fails with MESSAGE_NOT_FOUND. */
export const find = async (context: RouteContext): Promise<Reply<MessageFound>> => {
  const wait = waitOf(context);
  const id = param(context, 'id');
  if (wait === undefined) return ok(await context.core.blocks.message(param(context, 'name'), id));
  return awaited(context, id, wait, (found) => (found.note === null ? ok(found) : accepted(found)));
};

/** `{versions}`, each `{entry, answer}`, the oldest first. Fails with MESSAGE_NOT_FOUND. */
export const versions = async (context: RouteContext) => ok(await context.core.blocks.versions(param(context, 'name'), param(context, 'id')));

/** `{servers, tools}`: the tools of a block with the rule that holds for each. */
export const tools = async (context: RouteContext) => ok(await context.core.blocks.tools(param(context, 'name')));

/** `{messageId, records}`: the journal of a message's run with tools. Fails with RUN_NOT_FOUND. */
export const run = async (context: RouteContext) => ok(await context.core.blocks.run(param(context, 'name'), param(context, 'id')));

/** `{isError, parts}`: a whole result that was too long for the model. Fails with RUN_NOT_FOUND. */
export const runResult = async (context: RouteContext) =>
  ok(await context.core.blocks.runResult(param(context, 'name'), param(context, 'id'), param(context, 'ref'), charactersOf(context)));

/** `{success, message, entry}`; ends the reply if one is being written. Fails with WRONG_STATE for a message that is done. */
export const cancel = async (context: RouteContext) => changed(await context.core.blocks.cancel(param(context, 'name'), param(context, 'id')));

/** `{success, message, entry}`; queues a failed, cancelled or expired message again. Fails with WRONG_STATE for any other. */
export const retry = async (context: RouteContext) => changed(await context.core.blocks.retry(param(context, 'name'), param(context, 'id')));

/** Undefined without a query: then the answer is the whole result. */
function charactersOf({ req }: RouteContext): ResultPage | undefined {
  const [offset, limit] = [queryNumber(req, 'offset'), queryNumber(req, 'limit')];
  if (offset === undefined && limit === undefined) return undefined;
  return { ...(offset !== undefined && { offset }), ...(limit !== undefined && { limit }) };
}

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
