// The changes of a conversation, each as a function from entries to entries in time linear in their number. Pure: no I/O.
//
// one-status: a message has exactly one status. It leaves `queued` and `processing` for an outcome, or goes back into the queue.
import { BlockhouseError } from '../../errors.ts';
import type { ChatEntry, EntryError } from '../../schemas/chat-entry.ts';
import type { Added, BackInQueue, Change, Entries, MessageToAppend, Outcome } from '../../store/port.ts';
import { taintOfSeen } from '../../tools/taint.ts';
import { bytesOf, isWaiting } from './chat-file.ts';

/** A message to append, with its id and time. */
export interface NewMessage extends MessageToAppend {
  readonly id: string;
  readonly at: string;
}

/** The most bytes that waiting messages may have together; QUEUE_FULL beyond it, as beyond the cap. */
export const WAITING_BYTES = 8 * 1024 * 1024;
const RETRY_AFTER_MS = 5000;

/** Appends a message. If an entry has the same `clientId`, returns that one instead. Throws QUEUE_FULL. */
export function appendMessage(entries: Entries, message: NewMessage): Change<Entries, Added> {
  const known = message.clientId === undefined ? undefined : entries.find((entry) => entry.clientId === message.clientId);
  if (known !== undefined) return { value: entries, result: { entry: known, position: positionOf(entries, known), isNew: false } };
  const entry = newEntry(entries, message);
  const position = assertRoom(entries, entry, message.cap);
  return { value: [...entries, entry], result: { entry, position, isNew: true } };
}

/** The entry of a message. Throws MESSAGE_NOT_FOUND and WRONG_STATE where it can't take the place of another one. */
export function newEntry(entries: Entries, { id, at, content, again, channel, clientId, chain, window }: Omit<NewMessage, 'cap'>): ChatEntry {
  const replaced = again && lastAsked(entries, again.id);
  const taint = replaced === undefined ? [] : taintOfSeen({ entries: [replaced] });
  return {
    id,
    role: 'user',
    content: content ?? replaced?.content ?? '',
    timestamp: at,
    processed: false,
    status: 'queued',
    channel,
    ...(replaced !== undefined && { replaces: replaced.id }),
    ...(again?.asks !== undefined && { asks: again.asks }),
    ...(clientId !== undefined && { clientId }),
    ...(chain !== undefined && { chain }),
    ...(taint.length > 0 && { taint }), // also of another text, which may be a part of the first one
    ...(window !== undefined && { window }),
    attempts: 0,
    error: null,
  };
}

/** The last message, by its id or by that of its answer. */
function lastAsked(entries: Entries, id: string): ChatEntry {
  const found = entryIn(entries, id);
  const isMessage = ({ role }: ChatEntry): boolean => role === 'user';
  const message = isMessage(found)
    ? found
    : entries.slice(0, entries.indexOf(found)).findLast((entry) => isMessage(entry) && (found.replyTo ?? entry.id) === entry.id);
  const last = entries.findLast(isMessage);
  if (last === undefined || message !== last)
    throw new BlockhouseError('WRONG_STATE', 'Only the last message of a conversation can be asked again. Send the message as a new one.');
  if (isWaiting(last)) throw new BlockhouseError('WRONG_STATE', `The message is ${last.status}. Wait for its answer, or cancel it, and ask again then.`);
  return last;
}

/** Returns how many messages wait. Throws QUEUE_FULL if there is no room for one more. */
function assertRoom(entries: Entries, added: ChatEntry, cap: number): number {
  let waiting = 0;
  let bytes = bytesOf(added);
  for (const entry of entries) {
    if (!isWaiting(entry)) continue;
    waiting += 1;
    bytes += bytesOf(entry);
  }
  if (waiting < cap && bytes <= WAITING_BYTES) return waiting;
  throw queueFull(waiting, cap);
}

/** What a message gets for which there is no room, where so many wait. */
export function queueFull(waiting: number, cap: number): BlockhouseError {
  const limit = waiting >= cap ? `queue.cap is ${cap}` : `waiting messages are limited to ${WAITING_BYTES} bytes in total`;
  return new BlockhouseError('QUEUE_FULL', `The queue is full: ${waiting} messages are already waiting (${limit}). Try again later.`, {
    retryAfterMs: RETRY_AFTER_MS,
  });
}

function positionOf(entries: Entries, entry: ChatEntry): number {
  return isWaiting(entry) ? entries.filter(isWaiting).indexOf(entry) : 0;
}

/** Changes the entry of this id if it is what `isRight` wants. Otherwise nothing changes, and the result is undefined. */
function changeOne(
  entries: Entries,
  id: string,
  isRight: (entry: ChatEntry) => boolean,
  change: (entry: ChatEntry) => ChatEntry,
): Change<Entries, ChatEntry | undefined> {
  const index = entries.findIndex((entry) => entry.id === id);
  const old = entries[index];
  if (old === undefined || !isRight(old)) return { value: entries, result: undefined };
  const result = change(old);
  return { value: result === old ? entries : entries.with(index, result), result };
}

function isQueued({ status }: Pick<ChatEntry, 'status'>): boolean {
  return status === 'queued';
}

/** True for a message that may be begun: one that waits for its turn, or for a person. */
function isNext({ status }: Pick<ChatEntry, 'status'>): boolean {
  return status === 'queued' || status === 'waiting-approval';
}

/** Marks a message as being processed and counts the attempt; undefined if it no longer waits. */
export function begin(entries: Entries, id: string, at: string): Change<Entries, ChatEntry | undefined> {
  return changeOne(entries, id, isNext, ({ nextAttemptAt: _due, waitingFor: _decided, ...old }) => ({
    ...old,
    status: 'processing',
    attempts: (old.attempts ?? 0) + 1,
    startedAt: at,
  }));
}

/**
 * Gives a message that is being processed its outcome, together with its answer. False if the message already has an outcome. An editor that saves
 * an older copy of the file may have made it `queued` again: the outcome counts for that one too.
 */
export function settle(entries: Entries, id: string, outcome: Outcome, answer: ChatEntry | undefined): Change<Entries, boolean> {
  const { value, result } = changeOne(entries, id, isWaiting, ({ waitingFor: _decided, ...old }) => ({ ...old, processed: true, ...outcome }));
  if (result === undefined) return { value, result: false };
  return { value: answer === undefined ? value : [...value, answer], result: true };
}

/** Puts a message that is being processed back into the queue. False if the message has an outcome. Counts for an older copy, like `settle`. */
export function requeue(entries: Entries, id: string, { countsAsAttempt, ...reasons }: BackInQueue): Change<Entries, boolean> {
  const { value, result } = changeOne(entries, id, isWaiting, (old) => {
    const isThere = isQueued(old) && !countsAsAttempt && Object.keys(reasons).length === 0;
    if (isThere) return old;
    return { ...inQueue(old, countsAsAttempt), ...reasons, ...(reasons.waitingFor !== undefined && { status: 'waiting-approval' }) };
  });
  return { value, result: result !== undefined };
}

function inQueue({ startedAt: _start, waitingFor: _decided, ...old }: ChatEntry, countsAsAttempt: boolean): ChatEntry {
  // `begin` counted the attempt, unless an editor has saved the entry as it was before.
  const before = isQueued(old) ? (old.attempts ?? 0) : Math.max(0, (old.attempts ?? 1) - 1);
  return { ...old, status: 'queued', processed: false, attempts: before + (countsAsAttempt ? 1 : 0) };
}

/** Puts every message that is being processed back into the queue; the attempt counts. */
export function requeueAll(entries: Entries): Entries {
  if (!entries.some(({ status }) => status === 'processing')) return entries;
  return entries.map((entry) => (entry.status === 'processing' ? inQueue(entry, true) : entry));
}

/** The message whose turn it is: the first one that is queued, or that waits for a person and keeps its place. An attempt finds it by its id, so another entry with that id can't be chosen. */
export function nextIn(entries: Entries): ChatEntry | undefined {
  return entries.find((entry) => entry.role === 'user' && isNext(entry) && entries.find(({ id }) => id === entry.id) === entry);
}

/** Ends a message without an answer, or gives up on one that failed. Throws MESSAGE_NOT_FOUND, WRONG_STATE. */
export function cancel(entries: Entries, id: string, at: string): Change<Entries, { readonly entry: ChatEntry; readonly hadFailed: boolean }> {
  const before = entryIn(entries, id);
  const hadFailed = before.role === 'user' && before.status === 'failed';
  if (!isWaiting(before) && !hadFailed) throw notCancellable(before);
  const { waitingFor: _decided, ...rest } = before;
  const entry: ChatEntry = { ...rest, status: 'cancelled', processed: true, finishedAt: at };
  return { value: entries.with(entries.indexOf(before), entry), result: { entry, hadFailed } };
}

/** What the cancellation of an entry gets that neither waits nor has failed. */
export function notCancellable({ status }: Pick<ChatEntry, 'status'>): BlockhouseError {
  return new BlockhouseError('WRONG_STATE', `The message is ${status} already.`);
}

/** What the repetition of an entry gets that can't be queued again. */
export function notRepeatable({ status }: Pick<ChatEntry, 'status'>): BlockhouseError {
  return new BlockhouseError('WRONG_STATE', `Only a failed, cancelled or expired message can be retried; this one is ${status}.`);
}

/** The active entry of this id. Throws MESSAGE_NOT_FOUND. */
export function entryIn(entries: Entries, id: string): ChatEntry {
  const entry = entries.find((candidate) => candidate.id === id);
  if (entry !== undefined) return entry;
  throw notActive();
}

/** What a change of a message gets that is not active. */
export function notActive(): BlockhouseError {
  return new BlockhouseError('MESSAGE_NOT_FOUND', 'The block has no active message of this id; an archived one can only be read, and sent again.');
}

const AGAIN: ReadonlySet<string> = new Set(['failed', 'cancelled', 'expired']);

/**
 * Queues a message again that ended without an answer: it goes to the end and gets the time `at`. Throws WRONG_STATE for any other message,
 * and QUEUE_FULL like `appendMessage`.
 */
export function queueAgain(entries: Entries, entry: ChatEntry, { at, cap }: { readonly at: string; readonly cap: number }): Change<Entries, ChatEntry> {
  if (entry.role !== 'user' || !AGAIN.has(entry.status)) throw notRepeatable(entry);
  assertRoom(entries, entry, cap);
  const { nextAttemptAt: _due, startedAt: _start, finishedAt: _end, ...rest } = entry;
  const result: ChatEntry = { ...rest, status: 'queued', processed: false, attempts: 0, error: null, timestamp: at };
  const others = entries.filter(({ id, replyTo }) => id !== entry.id && replyTo !== entry.id);
  return { value: [...others, result], result };
}

/** Why a message expires. */
export const EXPIRED: EntryError = { code: 'EXPIRED', message: 'It waited too long to be answered. Retry it if it still matters.', retryable: true };
/** Why a message fails whose last attempt broke off. */
export const CRASHED: EntryError = { code: 'CRASHED', message: 'The server stopped each time while the message was being answered.', retryable: true };

/** The limits of a recovery. `now` and `at` are the same time, as a number and in ISO 8601. */
interface Recovery {
  readonly now: number;
  readonly at: string;
  readonly staleAfterMs: number;
  readonly maxAttempts: number;
  readonly runs?: ReadonlyMap<string, boolean>;
}

/**
 * Repairs the entries after a crash. A message that was being processed is queued again, or has failed if that was its last attempt. A message
 * that has waited too long expires. One that waits for a person stays. A message that has an answer is done, whatever its status says.
 */
export function recover(entries: Entries, recovery: Recovery): Entries {
  const answered = new Set<string>();
  for (const { replyTo } of entries) if (replyTo !== undefined) answered.add(replyTo);
  const recovered = entries.map((entry): ChatEntry => {
    if (!isWaiting(entry)) return entry;
    return answered.has(entry.id) ? { ...entry, status: 'done', processed: true } : recoverOne(entry, recovery);
  });
  return recovered.every((entry, index) => entry === entries[index]) ? entries : recovered;
}

function recoverOne(entry: ChatEntry, { now, at, staleAfterMs, maxAttempts, runs }: Recovery): ChatEntry {
  if (entry.status === 'waiting-approval') return entry;
  if (entry.status === 'queued') {
    if (!(now - Date.parse(entry.timestamp) > staleAfterMs)) return entry; // also for a timestamp that is no time
    return { ...entry, status: 'expired', processed: true, finishedAt: at, error: EXPIRED };
  }
  const hasGotOn = runs?.get(entry.id);
  if (hasGotOn !== undefined) return inQueue(entry, !hasGotOn);
  // One attempt more than usual, because the crash may have had another cause.
  if ((entry.attempts ?? 0) <= maxAttempts) return { ...entry, status: 'queued', processed: false };
  return { ...entry, status: 'failed', processed: true, finishedAt: at, error: CRASHED };
}
