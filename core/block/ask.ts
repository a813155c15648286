// A client asks a block as if it were a model: its question becomes a message, or is found to be one that is there already.
//
// one-effect: the same question is the same message, however often it is sent: by its Idempotency-Key for ever; without one, until somebody has got the whole answer.
// said-twice: once its answer was delivered, the same words are a new message: "turn on the light" said twice is meant twice.
// apart: what a client is known by has its owner in it, so two keys with the same Idempotency-Key never meet. A key that was made again under the same name is another owner.
// answered-or-refused: nothing is queued that nobody would answer.
// left-for-others: of the queue of a block, the messages of one key take three quarters at most, also those whose clients have left, so that it shuts out neither the owner nor other keys.
import { hash, randomBytes } from 'node:crypto';
import { dayStart, monthStart } from '../base/calendar.ts';
import { BlockhouseError, invalidRequest } from '../errors.ts';
import { MAX_MESSAGE_CHARACTERS } from '../schemas/chat-api.ts';
import type { ChatEntry } from '../schemas/chat-entry.ts';
import type { AskedBlock, BlockQuestion } from './api.ts';
import type { Block } from './block.ts';
import { WAITING_BYTES } from './conversation/chat-changes.ts';
import { bytesOf, isWaiting } from './conversation/chat-file.ts';
import { hasCaps, judgeBudget } from './costs/budget.ts';
import { explained } from './explained.ts';
import type { QueueMessage } from './operations.ts';
import { blockedBy } from './waiting-note.ts';

/** How long an answer that nobody has got is given to who asks the same again. */
const KEPT_MS = 600_000;
/** More than are asked in that time, mostly. */
const MAX_NOTED = 10_000;
/** left-for-others. */
const SHARE_OF_KEY = 3 / 4;
const RETRY_AFTER_MS = 5000;

/** What asking needs besides the block. */
export interface AskingWith {
  queue: QueueMessage;
  /** Starts a stopped monitor if the configuration says so. Never rejects. */
  autoStart(block: Block): Promise<void>;
}

/** Queues the question, unless it is queued or answered already. Rejects with what a client is to read (docs/errors.md). */
export async function ask(block: Block, question: BlockQuestion, using: AskingWith): Promise<AskedBlock> {
  if (question.message.trim() === '') throw invalidRequest('', 'The last turn of the user has no text.');
  if (question.message.length > MAX_MESSAGE_CHARACTERS)
    throw invalidRequest('', `The last turn of the user has ${question.message.length} characters; a block takes at most ${MAX_MESSAGE_CHARACTERS}.`);
  return question.idempotencyKey === undefined ? inTurn(block, question, using) : byKey(block, question, using, question.idempotencyKey);
}

/** one-effect. */
async function byKey(block: Block, question: BlockQuestion, using: AskingWith, key: string): Promise<AskedBlock> {
  const clientId = `${prefixOf(question)}${digest([ownerOf(question), 'key', key])}`;
  const known = await earlier(block, clientId);
  const id = known ?? (await post(block, question, using, clientId));
  const { entry } = await block.files.conversation.message(id);
  if (entry.content !== question.message)
    throw new BlockhouseError(
      'IDEMPOTENCY_KEY_REUSED',
      `The Idempotency-Key was sent to ${block.name} before, with another message (${id}). Send another key with this one.`,
    );
  return { id, delivered: () => undefined };
}

/** The id of the message with this clientId, active or archived; undefined if there is none. No message fits into a queue of none, so nothing is queued. */
export async function earlier(block: Block, clientId: string): Promise<string | undefined> {
  try {
    const found = await block.files.conversation.append({ content: '', channel: 'api', clientId, cap: 0 });
    return 'archivedId' in found ? found.archivedId : found.entry.id;
  } catch (error) {
    if (error instanceof BlockhouseError && error.code === 'QUEUE_FULL') return undefined;
    throw error;
  }
}

/** The work under way of each block, by a text that says what must not run at once: the second one begins when the first has ended. */
const underWay = new WeakMap<Block, Map<string, Promise<unknown>>>();

async function oneByOne<T>(block: Block, known: string, work: () => Promise<T>): Promise<T> {
  const all = underWay.get(block) ?? new Map<string, Promise<unknown>>();
  underWay.set(block, all);
  const before = all.get(known) ?? Promise.resolve();
  const mine = before.then(work, work);
  all.set(known, mine);
  try {
    return await mine;
  } finally {
    if (all.get(known) === mine) all.delete(known);
  }
}

function inTurn(block: Block, question: BlockQuestion, using: AskingWith): Promise<AskedBlock> {
  const known = `${prefixOf(question)}${digest([ownerOf(question), 'same', question.message, question.conversation])}.`;
  return oneByOne(block, known, () => byWords(block, question, using, known));
}

async function byWords(block: Block, question: BlockQuestion, using: AskingWith, known: string): Promise<AskedBlock> {
  const last = (await block.files.conversation.entries()).findLast(({ clientId }) => clientId?.startsWith(known));
  const id = last !== undefined && isStillAsked(block, last) ? last.id : await post(block, question, using, `${known}${randomBytes(8).toString('base64url')}`);
  note(block, id, false);
  return { id, delivered: () => note(block, id, true) };
}

/**
 * said-twice. What this process has not seen is not known: where it has the workspace alone, an answer from its own time was delivered by nobody else; where others share it, one of
 * them may have delivered it, so only those count that were asked here.
 */
function isStillAsked(block: Block, entry: ChatEntry): boolean {
  if (isWaiting(entry)) return true;
  const endedAt = Date.parse(entry.finishedAt ?? '');
  if (!(endedAt > block.world.now() - KEPT_MS)) return false;
  const isDelivered = askedHere.get(block)?.get(entry.id);
  if (isDelivered !== undefined) return !isDelivered;
  return !block.world.member().isShared && endedAt > startedAt;
}

const startedAt = Date.now() - performance.now();
/** By the id of its message: whether a client has got the outcome of a question. */
const askedHere = new WeakMap<Block, Map<string, boolean>>();

function note(block: Block, id: string, isDelivered: boolean): void {
  const asked = askedHere.get(block) ?? new Map<string, boolean>();
  askedHere.set(block, asked);
  if (isDelivered || !asked.has(id)) asked.set(id, isDelivered);
  for (const old of asked.keys()) {
    if (asked.size <= MAX_NOTED) break;
    asked.delete(old);
  }
}

/** Whose question it is: apart. */
function ownerOf({ key }: BlockQuestion): string {
  return key === undefined ? 'token' : `key ${key.name} ${key.hash}`;
}

function prefixOf({ key }: BlockQuestion): string {
  return `wire:${key?.name ?? ''}:`;
}

function digest(parts: readonly string[]): string {
  return hash('sha256', JSON.stringify(parts), 'base64url').slice(0, 32);
}

async function post(block: Block, question: BlockQuestion, { queue, autoStart }: AskingWith, clientId: string): Promise<string> {
  const { message, key, refusal, traceparent } = question;
  if (refusal !== undefined) throw refusal;
  await assertAnswers(block, autoStart);
  const chain = [key === undefined ? ({ via: 'api' } as const) : ({ via: 'key', key: key.name, ...(key.trusted === true && { trusted: true }) } as const)];
  const send = () => queue(block, { content: message, channel: 'api', clientId, chain }, async () => undefined, traceparent);
  if (key === undefined) return (await send()).id;
  const { id } = await oneByOne(block, prefixOf(question), async () => {
    await assertShare(block, question, clientId);
    return send();
  });
  return id;
}

/** left-for-others. */
async function assertShare(block: Block, question: BlockQuestion, clientId: string): Promise<void> {
  const { queue } = await block.files.config.read();
  const prefix = prefixOf(question);
  const own = (await block.files.conversation.entries()).filter((entry) => isWaiting(entry) && entry.clientId?.startsWith(prefix) === true);
  if (own.some((entry) => entry.clientId === clientId)) return;
  const bytes = own.reduce((sum, entry) => sum + bytesOf(entry), Buffer.byteLength(question.message));
  if (own.length < Math.ceil(queue.cap * SHARE_OF_KEY) && bytes <= WAITING_BYTES * SHARE_OF_KEY) return;
  const why = `${own.length} messages of the key ${question.key?.name} wait for the block ${block.name} already, and it may have no more there.`;
  throw new BlockhouseError('QUEUE_FULL', `${why} Try again later.`, { retryAfterMs: RETRY_AFTER_MS });
}

/** answered-or-refused. */
async function assertAnswers(block: Block, autoStart: AskingWith['autoStart']): Promise<void> {
  const { files, world, name } = block;
  if (world.halted().halted) throw notRunning(name, 'The kill switch is set, so no block calls a model; `blockhouse unhalt` releases it.');
  const config = await files.config.read();
  if (!(await block.standing()).isRunning && config.autoStart) await autoStart(block);
  if (hasCaps(config.budget)) {
    const now = world.now();
    const { timezone } = config.budget;
    const [day, month] = await world.store.ledger.spend(name, [dayStart(now, timezone), monthStart(now, timezone)]);
    const verdict = judgeBudget({ budget: config.budget, day, month, worstCase: { usd: 0, tokens: 0 }, now });
    if (verdict.kind === 'exceeded') throw capReached(name, verdict.message, verdict.resetsAt - now);
  }
  const blocked = await whyBlocked(block);
  if (blocked !== undefined) throw blocked;
}

/** Why a block does not answer now, as an error for its client; undefined while it does. */
export async function whyBlocked(block: Block): Promise<BlockhouseError | undefined> {
  if (blockedBy(block.name, await block.standing()) === undefined) return undefined;
  const { why, reason } = await explained(block);
  if (reason?.code !== 'BUDGET_REACHED') return notRunning(block.name, why);
  const { nextWakeUp } = await block.pulse();
  return capReached(block.name, why, Date.parse(nextWakeUp ?? '') - block.world.now());
}

function notRunning(name: string, why: string): BlockhouseError {
  const forKeys = `The block ${name} does not answer now. Try again later.`;
  return new BlockhouseError('BLOCK_NOT_RUNNING', `The block ${name} does not answer now. ${why} \`blockhouse why ${name}\` says more.`, { forKeys });
}

function capReached(name: string, why: string, afterMs: number): BlockhouseError {
  const forKeys = `The block ${name} has spent what it may spend. Try again later.`;
  return new BlockhouseError('BUDGET_REACHED', `The block ${name} calls no model now. ${why}`, { forKeys, ...(afterMs > 0 && { retryAfterMs: afterMs }) });
}
