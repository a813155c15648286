// Messages of a block: queued, listed, cancelled, queued again.
import { BlockhouseError } from '../errors.ts';
import type { Channel, ChatEntry } from '../schemas/block.ts';
import { type ChatReceipt, PostMessage } from '../schemas/block-api.ts';
import { compile, type Validator } from '../schemas/validate.ts';
import type { Block } from './block.ts';
import { appendMessage, completeEntries, type Entries, isWaiting, withEntry } from './chat-file.ts';
import type { Blocks } from './api.ts';
import type { OperationsContext } from './operations.ts';

const checkPost: Validator<PostMessage> = compile(PostMessage);

/** Messages. `autoStart` starts the monitor of a block that wants it; it must not reject. */
export function chatOperations(
  { blocks, change }: OperationsContext,
  autoStart: (block: Block) => Promise<void>,
): Pick<Blocks, 'post' | 'history' | 'cancel' | 'retry'> {
  return {
    post: (name, body, channel) => change(name, (block) => post(block, body, channel, autoStart)),
    history: async (name) => (await blocks.find(name)).files.chat.read(),
    cancel: (name, messageId) => change(name, (block) => cancel(block, messageId)),
    retry: (name, messageId) => change(name, (block) => retry(block, messageId)),
  };
}

async function post(block: Block, body: unknown, channel: Channel, autoStart: (block: Block) => Promise<void>): Promise<ChatReceipt> {
  checkPost(body);
  const { message, clientId } = body;
  if (message.trim() === '')
    throw new BlockhouseError('INVALID_REQUEST', 'message must not be blank.', { details: [{ path: 'message', message: 'must not be blank' }] });
  const { name } = block;
  const { queue, autoStart: isWanted } = await block.files.config.read();
  const at = block.at();
  const { entry, position, isNew } = await block.files.chat.update((entries) => {
    const whole = completeEntries(entries, block.ids, at);
    return appendMessage(whole, { id: block.ids.next(), content: message, channel, clientId, at, cap: queue.cap });
  });
  if (isNew) block.world.bus.emit('message.queued', { block: name, id: entry.id, channel });
  if (isWanted && !block.isRunning) await autoStart(block);
  const running = block.isRunning;
  return { queued: true, block: name, id: entry.id, position, running, note: noteFor(block, entry, running) };
}

async function cancel(block: Block, id: string): Promise<ChatEntry> {
  if (await block.cancelReply(id)) return entryIn(await block.files.chat.read(), id);
  const cancelled = await block.files.chat.update((entries) => {
    const entry = entryIn(entries, id);
    if (!isWaiting(entry)) throw new BlockhouseError('WRONG_STATE', `The message is ${entry.status} already.`);
    const result: ChatEntry = { ...entry, status: 'cancelled', processed: true, finishedAt: block.at() };
    return { value: withEntry(entries, id, () => result), result };
  });
  block.world.bus.emit('message.finished', { block: block.name, id, status: 'cancelled' });
  return cancelled;
}

async function retry(block: Block, id: string): Promise<ChatEntry> {
  const queued = await block.files.chat.update((entries) => {
    const entry = entryIn(entries, id);
    if (entry.role !== 'user' || !AGAIN.has(entry.status))
      throw new BlockhouseError('WRONG_STATE', `Only a failed, cancelled or expired message can be queued again; this one is ${entry.status}.`);
    const { nextAttemptAt: _due, finishedAt: _end, ...rest } = entry;
    // A new life: it is as old as this request, and goes to the end of the queue.
    const result: ChatEntry = { ...rest, status: 'queued', processed: false, attempts: 0, error: null, timestamp: block.at() };
    const others = entries.filter((other) => other.id !== id && other.replyTo !== id);
    return { value: [...others, result], result };
  });
  block.world.bus.emit('message.queued', { block: block.name, id, channel: queued.channel });
  return queued;
}

const AGAIN: ReadonlySet<string> = new Set(['failed', 'cancelled', 'expired']);

function entryIn(entries: Entries, id: string): ChatEntry {
  const entry = entries.find((candidate) => candidate.id === id);
  if (entry === undefined) throw new BlockhouseError('MESSAGE_NOT_FOUND', 'The block has no active message of this id.');
  return entry;
}

function noteFor(block: Block, entry: ChatEntry, running: boolean): string {
  if (!isWaiting(entry)) return `This message was sent before; it is ${entry.status}.`;
  if (!running) return `The monitor is stopped, so nobody answers yet: blockhouse start ${block.name}`;
  const { state } = block;
  if (state === 'paused' || state === 'failed') return `The monitor is ${state}, so the message waits: blockhouse why ${block.name}`;
  return 'The answer will be in the chat history.';
}
