// Queues, reads, cancels and retries the messages of a block.
import { invalidRequest } from '../errors.ts';
import { type ChatReceipt, HistoryPage, PostMessage } from '../schemas/chat-api.ts';
import type { Channel, ChatEntry } from '../schemas/chat-entry.ts';
import { compile, type Validator } from '../schemas/validate.ts';
import type { Entries, Standing } from '../store/port.ts';
import type { Blocks } from './api.ts';
import type { Block } from './block.ts';
import { entryIn } from './conversation/chat-changes.ts';
import { isWaiting } from './conversation/chat-file.ts';
import { activeOf } from './conversation/retention.ts';
import type { OperationsContext } from './operations.ts';
import type { Ownership } from './ownership.ts';
import { blockedBy } from './waiting-note.ts';

const checkPost: Validator<PostMessage> = compile(PostMessage);
const checkPage: Validator<HistoryPage> = compile(HistoryPage);
const PAGE_LIMIT = 100;

/** The operations on messages. `autoStart` starts the monitor if the configuration says so; it must not reject. */
export function chatOperations(
  { blocks, owners, change }: OperationsContext,
  autoStart: (block: Block) => Promise<void>,
): Pick<Blocks, 'post' | 'history' | 'lastStep' | 'message' | 'cancel' | 'retry'> {
  return {
    post: (name, body, channel) => change(name, (block) => post(block, body, channel, autoStart)),
    history: async (name, page) => history(await blocks.find(name), page),
    lastStep: async (name) => (await blocks.find(name)).lastStep,
    message: async (name, messageId) => (await blocks.find(name)).files.conversation.message(messageId),
    cancel: (name, messageId) => change(name, (block) => cancel(owners, block, messageId)),
    retry: (name, messageId) => change(name, (block) => retry(block, messageId)),
  };
}

/** Queues a message, which is on disk when it resolves. A known `clientId` gives its earlier message, even if that is archived. */
async function post(block: Block, body: unknown, channel: Channel, autoStart: (block: Block) => Promise<void>): Promise<ChatReceipt> {
  checkPost(body);
  const { message, clientId } = body;
  if (message.trim() === '') throw invalidRequest('message', 'must not be blank');
  const { name } = block;
  const { queue, autoStart: isWanted } = await block.files.config.read();
  const added = await block.files.conversation.append({ content: message, channel, clientId, cap: queue.cap });
  const standing = await block.standing();
  if ('archivedId' in added) return archivedReceipt(name, standing, added.archivedId);
  const { entry, position, isNew } = added;
  if (isNew) block.world.bus.emit('message.queued', { block: name, id: entry.id, channel });
  const startsNow = isWanted && !standing.isRunning;
  if (startsNow) await autoStart(block);
  const now = startsNow ? await block.standing() : standing;
  return { queued: true, block: name, id: entry.id, position, running: now.isRunning, note: noteFor(name, now, entry) };
}

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
  const cancelled = await block.files.conversation.cancel(id, block.tenure.claim);
  if (cancelled === 'asked') {
    const entry = async (): Promise<ChatEntry> => entryIn(await block.files.conversation.entries(), id);
    await owners.waitFor(block.ref, async () => (await entry()).status !== 'processing');
    return entry();
  }
  const { entry, hadFailed } = cancelled;
  if (!hadFailed) block.world.bus.emit('message.finished', { block: block.name, id, status: 'cancelled' });
  return entry;
}

/** Queues a message again that ended without an answer. */
async function retry(block: Block, id: string): Promise<ChatEntry> {
  const { queue } = await block.files.config.read();
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
