// Queues, reads, cancels and retries the messages of a block.
import { ByHour } from '../base/by-hour.ts';
import { invalidRequest } from '../errors.ts';
import { AskAgain, type ChatReceipt, HistoryPage, type MessageFound, type MessageVersions, PostMessage } from '../schemas/chat-api.ts';
import type { AskedModel, Channel, ChatEntry } from '../schemas/chat-entry.ts';
import type { BlockConfig } from '../schemas/block-config.ts';
import { compile, type Validator } from '../schemas/validate.ts';
import type { Entries, Standing } from '../store/port.ts';
import { postFromAgent } from './agent-message.ts';
import type { Blocks } from './api.ts';
import { ask, whyBlocked } from './ask.ts';
import type { Block } from './block.ts';
import { entryIn } from './conversation/chat-changes.ts';
import { isWaiting } from './conversation/chat-file.ts';
import { activeOf } from './conversation/retention.ts';
import type { OperationsContext, QueueMessage } from './operations.ts';
import { cancelRun, endOldRun } from './operations-runs.ts';
import type { Ownership } from './ownership.ts';
import type { WorkspaceContext } from './reply/block-context.ts';
import { missingFor } from './status/candidates.ts';
import { blockedBy } from './waiting-note.ts';

const checkPost: Validator<PostMessage> = compile(PostMessage);
const checkAgain: Validator<AskAgain> = compile(AskAgain);
const checkPage: Validator<HistoryPage> = compile(HistoryPage);
const PAGE_LIMIT = 100;

/** The operations on messages. `autoStart` starts the monitor if the configuration says so; it must not reject. */
export function chatOperations(
  { world, blocks, owners, change }: OperationsContext,
  autoStart: (block: Block) => Promise<void>,
): Pick<Blocks, 'post' | 'postFromAgent' | 'ask' | 'whyBlocked' | 'askAgain' | 'history' | 'lastStep' | 'message' | 'versions' | 'cancel' | 'retry'> {
  const sent = new ByHour();
  return {
    post: (name, body, channel, traceparent) => change(name, (block) => post(block, { body, channel, traceparent }, autoStart)),
    postFromAgent: (name, message) => change(name, (block) => postFromAgent(block, message, { sent, queue: queueMessage, autoStart })),
    ask: (name, question) => change(name, (block) => ask(block, question, { queue: queueMessage, autoStart })),
    whyBlocked: async (name) => whyBlocked(await blocks.find(name)),
    askAgain: (name, messageId, body, channel, traceparent) =>
      change(name, (block) => askAgain(world, block, { messageId, body, channel, traceparent }, autoStart)),
    history: async (name, page) => history(await blocks.find(name), page),
    lastStep: async (name) => (await blocks.find(name)).lastStep,
    message: async (name, messageId) => (await blocks.find(name)).files.conversation.message(messageId),
    versions: async (name, messageId) => versions(await blocks.find(name), messageId),
    cancel: (name, messageId) => change(name, (block) => cancel(owners, block, messageId)),
    retry: (name, messageId) => change(name, (block) => retry(block, messageId)),
  };
}

/** Queues a message, which is on disk when it resolves. A known `clientId` gives its earlier message, even if that is archived. */
async function post(block: Block, { body, channel, traceparent }: Posted, autoStart: (block: Block) => Promise<void>): Promise<ChatReceipt> {
  checkPost(body);
  const { message, clientId } = body;
  if (message.trim() === '') throw invalidRequest('message', 'must not be blank');
  return queueMessage(block, { content: message, channel, clientId }, autoStart, traceparent);
}

interface Posted {
  readonly body: unknown;
  readonly channel: Channel;
  readonly traceparent: string | undefined;
}

interface Again extends Posted {
  readonly messageId: string;
}

/** Queues the last message again, with another text or for another model where the body says so. Its earlier version and the answer to that stay in the conversation. */
async function askAgain(
  world: WorkspaceContext,
  block: Block,
  { messageId, body, channel, traceparent }: Again,
  autoStart: (block: Block) => Promise<void>,
): Promise<ChatReceipt> {
  checkAgain(body);
  const { message, clientId } = body;
  if (message?.trim() === '') throw invalidRequest('message', 'must not be blank');
  const asks = askedModel(world.gateway, body, await block.files.config.read());
  return queueMessage(block, { content: message, channel, clientId, again: { id: messageId, asks } }, autoStart, traceparent);
}

/** Throws INVALID_REQUEST, or what the provider still needs. */
function askedModel(gateway: WorkspaceContext['gateway'], { provider, model }: AskAgain, { adapter }: BlockConfig): AskedModel | undefined {
  if (model === undefined) {
    if (provider === undefined) return undefined;
    throw invalidRequest('model', 'is missing: a provider alone says no model');
  }
  const [before = '', ...rest] = model.split('/');
  const isNamed = provider === undefined && rest.length > 0 && gateway.adapterIdOf(before) !== undefined;
  const named = isNamed ? before : (provider ?? adapter?.provider);
  if (named === undefined) throw invalidRequest('provider', 'is missing: the block has none of its own');
  const asks = { provider: gateway.adapterIdOf(named) ?? named, model: isNamed ? rest.join('/') : model };
  const missing = missingFor(gateway, { ...asks, config: {} }, 'provider');
  if (missing !== undefined) throw missing;
  return asks;
}

/** All versions of a message, of which each asks again the one before it. */
async function versions(block: Block, id: string): Promise<MessageVersions> {
  const { conversation } = block.files;
  const entries = await conversation.entries();
  const found = await conversation.message(id, entries);
  const first = found.entry.role === 'user' ? found : await conversation.message(found.entry.replyTo ?? '', entries);
  const all: MessageFound[] = [first];
  const seen = new Set([first.entry.id]);
  for (let before = first.entry.replaces; before !== undefined && !seen.has(before); before = all[0]?.entry.replaces) {
    seen.add(before);
    all.unshift(await conversation.message(before, entries));
  }
  for (const entry of entries) {
    if (seen.has(entry.id) || entry.replaces !== all.at(-1)?.entry.id) continue;
    seen.add(entry.id);
    all.push(await conversation.message(entry.id, entries));
  }
  return { versions: all };
}

/** Queues a message, which is on disk when it resolves. */
export const queueMessage: QueueMessage = async (block, message, autoStart, traceparent) => {
  const { name } = block;
  const {
    queue: { cap },
    autoStart: isWanted,
  } = await block.files.config.read();
  const added = await block.files.conversation.append({ ...message, cap });
  const standing = await block.standing();
  if ('archivedId' in added) return archivedReceipt(name, standing, added.archivedId);
  const { entry, position, isNew } = added;
  if (isNew) block.world.bus.emit('message.queued', { block: name, id: entry.id, channel: entry.channel, traceparent });
  const startsNow = isWanted && !standing.isRunning;
  if (startsNow) await autoStart(block);
  const now = startsNow ? await block.standing() : standing;
  return { queued: true, block: name, id: entry.id, position, running: now.isRunning, note: noteFor(name, now, entry) };
};

/** The active entries, or, with a page, entries of the whole conversation. */
async function history(block: Block, page?: HistoryPage): Promise<Entries> {
  const { conversation } = block.files;
  if (page === undefined) return activeOf(await conversation.entries());
  checkPage(page);
  const { limit = PAGE_LIMIT, before, since } = page;
  if (before !== undefined && since !== undefined) throw invalidRequest('since', "can't be given together with before; give one of them");
  return conversation.page({ limit, before, since });
}

/** Ends a message without an answer, or gives up on one that failed. */
async function cancel(owners: Ownership, block: Block, id: string): Promise<ChatEntry> {
  if (await block.cancelReply(id)) return entryIn(await block.files.conversation.entries(), id);
  const ended = await cancelRun(owners, block, id);
  if (ended !== undefined) {
    block.world.bus.emit('message.finished', { block: block.name, id, status: 'cancelled' });
    return ended;
  }
  const cancelled = await block.files.conversation.cancel(id, block.tenure.claim);
  if (cancelled === 'asked') {
    const entry = async (): Promise<ChatEntry> => entryIn(await block.files.conversation.entries(), id);
    await owners.waitFor(block.ref, async () => (await entry()).status !== 'processing');
    return entry();
  }
  const { entry, hadFailed } = cancelled;
  block.unsaved.forget(entry);
  if (!hadFailed) block.world.bus.emit('message.finished', { block: block.name, id, status: 'cancelled' });
  return entry;
}

/** Queues a message again that ended without an answer. */
async function retry(block: Block, id: string): Promise<ChatEntry> {
  const { queue } = await block.files.config.read();
  await endOldRun(block, id);
  const queued = await block.files.conversation.retry(id, queue.cap);
  block.world.bus.emit('message.queued', { block: block.name, id, channel: queued.channel });
  return queued;
}

function archivedReceipt(name: string, { isRunning }: Pick<Standing, 'isRunning'>, id: string): ChatReceipt {
  const note = 'This message was sent before; it has its outcome, and is in the archive of the chat.';
  return { queued: true, block: name, id, position: 0, running: isRunning, note };
}

function noteFor(name: string, standing: Pick<Standing, 'isRunning' | 'state'>, entry: ChatEntry): string {
  if (!isWaiting(entry)) return `This message was sent before; it is ${entry.status}.`;
  return blockedBy(name, standing) ?? 'The answer will be in the chat history.';
}
