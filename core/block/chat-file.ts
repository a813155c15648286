// chat.json: reads its entries, completes entries that a person wrote, and has every change of it as a function from entries to entries.
// The order of entries is the order of the array, never the order of clocks. Every function takes time linear in the number of entries.
// A message has exactly one status. It leaves `queued` and `processing` for an outcome, or goes back into the queue. Pure: no I/O.
import { randomBytes } from 'node:crypto';
import { BlockhouseError } from '../errors.ts';
import { isObject } from '../json.ts';
import type { Failures } from '../schemas/block-api.ts';
import type { QueueCounts } from '../schemas/block-pulse.ts';
import { ANSWER_STATUSES, type Channel, ChatEntry, type EntryError, USER_STATUSES } from '../schemas/chat-entry.ts';
import { compile, type Validator } from '../schemas/validate.ts';
import type { Change } from '../workspace/json-file.ts';
import { faultOf } from './document-codecs.ts';

/** The entries of a conversation in their order. */
export type Entries = readonly ChatEntry[];

/** Requires only the fields that a person must write; optional ones are checked if present. */
const checkEntry: Validator<ChatEntry> = compile({ ...ChatEntry, required: ['role', 'content'] });
const STATUSES_OF: Readonly<Record<ChatEntry['role'], readonly string[]>> = { user: USER_STATUSES, assistant: ANSWER_STATUSES };
/** More than `queue.cap` and the active window together. A file of this size is processed in a fraction of a second. */
export const MAX_ENTRIES = 12_000;

const OWN_ID = /^m([0-9a-z]{9})([0-9a-z]{4})[0-9a-f]{8}$/;

/** Makes ids that sort by time, and by order within a millisecond. They keep growing even if the clock is set back, and after a restart. */
export class EntryIds {
  #last = 0;
  #count = 0;
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Makes every later id sort after the ids of these entries. */
  follow(entries: Entries): void {
    for (const { id } of entries) {
      const [, time, count] = OWN_ID.exec(id ?? '')?.map((digits) => Number.parseInt(digits, 36)) ?? [];
      if (time === undefined || count === undefined || time < this.#last || (time === this.#last && count <= this.#count)) continue;
      this.#last = time;
      this.#count = count;
    }
  }

  /** A new id, greater than every one before it. */
  next(): string {
    const now = Math.max(this.#now(), this.#last);
    this.#count = now === this.#last ? this.#count + 1 : 0;
    this.#last = now;
    return `m${now.toString(36).padStart(9, '0')}${this.#count.toString(36).padStart(4, '0')}${randomBytes(4).toString('hex')}`;
  }
}

/** The text of chat.json, with one entry on each line. */
export function formatChat(entries: Entries): string {
  return entries.length === 0 ? '[]\n' : `[\n${entries.map((entry) => JSON.stringify(entry)).join(',\n')}\n]\n`;
}

/**
 * Reads the entries of chat.json. An entry written by hand needs only a role and a content; `completeEntries` fills in the rest. If two entries
 * have the same id (a copied line), the later one gets a new id. Throws an Error that names the entry and its field.
 */
export function parseChat(value: unknown): Entries {
  if (!Array.isArray(value)) throw new Error('it must hold an array of messages');
  if (value.length > MAX_ENTRIES) {
    throw new Error(`it holds ${value.length} messages, and at most ${MAX_ENTRIES} can be active; move the oldest ones into a file in chat-archive`);
  }
  const taken = new Set<string>();
  return value.map((item: unknown, index) => {
    const entry = readEntry(item, index);
    if (taken.has(entry.id)) return withoutId(entry);
    if (entry.id !== undefined) taken.add(entry.id);
    return entry;
  });
}

/** A complete, valid entry; undefined for anything else. */
export function wholeEntry(value: unknown): ChatEntry | undefined {
  return isObject(value) && !isHandWritten(value) && entryFault(value) === undefined ? (value as unknown as ChatEntry) : undefined;
}

function withoutId({ id: _taken, ...others }: ChatEntry): ChatEntry {
  return others as ChatEntry;
}

function readEntry(item: unknown, index: number): ChatEntry {
  if (!isObject(item)) throw new Error(`[${index}] must be an object`);
  const fault = entryFault(item);
  if (fault !== undefined) throw new Error(`[${index}]: ${fault.message}`, { cause: fault });
  return item as unknown as ChatEntry;
}

/** What is wrong with an entry; undefined if it is valid. */
function entryFault(item: Readonly<Record<string, unknown>>): Error | undefined {
  try {
    checkEntry(item);
  } catch (error) {
    return new Error(faultOf(error), { cause: error });
  }
  const { role, status, replyTo } = item;
  const statuses = STATUSES_OF[role];
  if (status !== undefined && !statuses.includes(status)) return new Error(`status must be one of ${statuses.join(', ')} where the role is ${role}`);
  if (role === 'user' && replyTo !== undefined) return new Error('replyTo must be on an answer only, and the role is user');
  return undefined;
}

const REQUIRED = ChatEntry.required;

function isHandWritten(item: object): boolean {
  for (const field of REQUIRED) if ((item as Readonly<Record<string, unknown>>)[field] === undefined) return true;
  return false;
}

/** Completes entries written by hand: a user's message without an outcome is queued. Returns the same array if nothing changes. */
export function completeEntries(entries: Entries, ids: EntryIds, now: string): Entries {
  ids.follow(entries);
  if (!entries.some(isHandWritten)) return entries;
  return entries.map((entry) => (isHandWritten(entry) ? completed(entry, ids, now) : entry));
}

function completed(entry: Partial<ChatEntry> & Pick<ChatEntry, 'role' | 'content'>, ids: EntryIds, now: string): ChatEntry {
  const isUser = entry.role === 'user';
  const status = entry.status ?? (isUser && entry.processed !== true ? 'queued' : 'done');
  const { id = ids.next(), timestamp = now, channel = 'web' } = entry;
  return { ...entry, id, timestamp, processed: !isUser || !WAITING.has(status), status, channel };
}

const WAITING: ReadonlySet<string> = new Set<ChatEntry['status']>(['queued', 'processing']);

/** True for a message without an outcome, even if it was written by hand and is not completed yet. */
export function isWaiting({ role, status, processed }: ChatEntry): boolean {
  return role === 'user' && (status === undefined ? processed !== true : WAITING.has(status));
}

/** Counts the messages that wait, are being answered, or have failed. */
export function countQueue(entries: Entries): QueueCounts {
  let queued = 0;
  let processing = 0;
  let failed = 0;
  let oldestQueuedAt: string | null = null;
  for (const entry of entries) {
    if (entry.role !== 'user') continue;
    if (entry.status === 'processing') processing += 1;
    else if (entry.status === 'failed') failed += 1;
    else if (isWaiting(entry)) {
      queued += 1;
      oldestQueuedAt ??= entry.timestamp ?? null;
    }
  }
  return { queued, processing, failed, oldestQueuedAt };
}

/** The messages that failed: how many, since when, and the last of them. */
export function failuresIn(entries: Entries): Failures {
  let count = 0;
  let since: string | null = null;
  let last: Failures['last'] = null;
  for (const { id, role, status, error, timestamp, finishedAt } of entries) {
    if (role !== 'user' || status !== 'failed') continue;
    const at = finishedAt ?? timestamp ?? '';
    count += 1;
    if (since === null || at < since) since = at;
    if (last === null || at >= last.at) last = { id: id ?? '', at, code: error?.code ?? 'UNKNOWN', message: error?.message ?? 'The cause was not recorded.' };
  }
  return { count, since, last };
}

/** When the last entry was written; null if there is none. */
export function lastMessageAt(entries: Entries): string | null {
  return entries.at(-1)?.timestamp ?? null;
}

/** A message to append. */
export interface NewMessage {
  readonly id: string;
  readonly content: string;
  readonly channel: Channel;
  readonly clientId: string | undefined;
  readonly at: string;
  readonly cap: number;
}

/** The most bytes that waiting messages may have together; QUEUE_FULL beyond it, as beyond the cap. */
export const WAITING_BYTES = 8 * 1024 * 1024;
const RETRY_AFTER_MS = 5000;

/** The result of appending: a new message, or an earlier one with the same clientId. */
export interface Added {
  readonly entry: ChatEntry;
  /** The number of messages that wait before it. */
  readonly position: number;
  readonly isNew: boolean;
}

/** Appends a message. If an entry has the same `clientId`, returns that one instead. Throws QUEUE_FULL. */
export function appendMessage(entries: Entries, message: NewMessage): Change<Entries, Added> {
  const known = message.clientId === undefined ? undefined : entries.find((entry) => entry.clientId === message.clientId);
  if (known !== undefined) return { value: entries, result: { entry: known, position: positionOf(entries, known), isNew: false } };
  const entry: ChatEntry = {
    id: message.id,
    role: 'user',
    content: message.content,
    timestamp: message.at,
    processed: false,
    status: 'queued',
    channel: message.channel,
    ...(message.clientId !== undefined && { clientId: message.clientId }),
    attempts: 0,
    error: null,
  };
  const position = assertRoom(entries, entry, message.cap);
  return { value: [...entries, entry], result: { entry, position, isNew: true } };
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
  const limit = waiting >= cap ? `queue.cap is ${cap}` : `together they may have ${WAITING_BYTES} bytes`;
  if (waiting < cap && bytes <= WAITING_BYTES) return waiting;
  throw new BlockhouseError('QUEUE_FULL', `${waiting} messages wait already (${limit}); try again later.`, { retryAfterMs: RETRY_AFTER_MS });
}

const knownBytes = new WeakMap<ChatEntry, number>();

/** The length of an entry in a file, in bytes. Measured once for each object. */
export function bytesOf(entry: ChatEntry): number {
  const known = knownBytes.get(entry) ?? Buffer.byteLength(JSON.stringify(entry));
  knownBytes.set(entry, known);
  return known;
}

function positionOf(entries: Entries, entry: ChatEntry): number {
  return isWaiting(entry) ? entries.filter(isWaiting).indexOf(entry) : 0;
}

/** The entries with one of them changed; the same array if none has that id. */
export function withEntry(entries: Entries, id: string, change: (entry: ChatEntry) => ChatEntry): Entries {
  const index = entries.findIndex((entry) => entry.id === id);
  const old = entries[index];
  if (old === undefined) return entries;
  const changed = change(old);
  return changed === old ? entries : entries.with(index, changed);
}

/** Marks a message as being processed and counts the attempt; undefined if it is no longer queued. */
export function begin(entries: Entries, id: string, at: string): Change<Entries, ChatEntry | undefined> {
  const entry = entries.find((candidate) => candidate.id === id);
  if (entry?.status !== 'queued') return { value: entries, result: undefined };
  const { nextAttemptAt: _due, ...rest } = entry;
  const begun: ChatEntry = { ...rest, status: 'processing', attempts: (entry.attempts ?? 0) + 1, startedAt: at };
  return { value: withEntry(entries, id, () => begun), result: begun };
}

/** The status that ends a message, and the fields to store with it. */
export type Outcome = Pick<ChatEntry, 'status'> & Partial<ChatEntry>;

/** Gives a message that is being processed its outcome, together with its answer. False if the message already has an outcome. */
export function settle(entries: Entries, id: string, outcome: Outcome, answer: ChatEntry | undefined): Change<Entries, boolean> {
  const entry = entries.find((candidate) => candidate.id === id);
  if (entry?.status !== 'processing') return { value: entries, result: false };
  const settled = withEntry(entries, id, (old) => ({ ...old, processed: true, ...outcome }));
  return { value: answer === undefined ? settled : [...settled, answer], result: true };
}

/** Puts a message that is being processed back into the queue. `countsAsAttempt` false gives the attempt back. */
export function requeue(
  entries: Entries,
  id: string,
  { nextAttemptAt, error, countsAsAttempt }: { readonly nextAttemptAt?: string; readonly error?: EntryError | null; readonly countsAsAttempt: boolean },
): Change<Entries, boolean> {
  const entry = entries.find((candidate) => candidate.id === id);
  if (entry?.status !== 'processing') return { value: entries, result: false };
  const value = withEntry(entries, id, (old) => ({
    ...inQueue(old, countsAsAttempt),
    ...(nextAttemptAt !== undefined && { nextAttemptAt }),
    ...(error !== undefined && { error }),
  }));
  return { value, result: true };
}

function inQueue({ startedAt: _start, ...old }: ChatEntry, countsAsAttempt: boolean): ChatEntry {
  return { ...old, status: 'queued', processed: false, attempts: Math.max(0, (old.attempts ?? 1) - (countsAsAttempt ? 0 : 1)) };
}

/** Puts every message that is being processed back into the queue; the attempt counts. */
export function requeueAll(entries: Entries): Entries {
  if (!entries.some(({ status }) => status === 'processing')) return entries;
  return entries.map((entry) => (entry.status === 'processing' ? inQueue(entry, true) : entry));
}

const AGAIN: ReadonlySet<string> = new Set(['failed', 'cancelled', 'expired']);

/**
 * Queues a message again that ended without an answer: it goes to the end and gets the time `at`. Throws WRONG_STATE for any other message,
 * and QUEUE_FULL like `appendMessage`.
 */
export function queueAgain(entries: Entries, entry: ChatEntry, { at, cap }: { readonly at: string; readonly cap: number }): Change<Entries, ChatEntry> {
  if (entry.role !== 'user' || !AGAIN.has(entry.status)) {
    throw new BlockhouseError('WRONG_STATE', `Only a failed, cancelled or expired message can be queued again; this one is ${entry.status}.`);
  }
  assertRoom(entries, entry, cap);
  const { nextAttemptAt: _due, startedAt: _start, finishedAt: _end, ...rest } = entry;
  const result: ChatEntry = { ...rest, status: 'queued', processed: false, attempts: 0, error: null, timestamp: at };
  const others = entries.filter(({ id, replyTo }) => id !== entry.id && replyTo !== entry.id);
  return { value: [...others, result], result };
}

/**
 * Repairs the entries after a crash. A message that was being processed is queued again, or has failed if that was its last attempt. A message
 * that has waited too long expires. A message that has an answer is done, whatever its status says.
 */
export function recover(
  entries: Entries,
  { now, at, staleAfterMs, maxAttempts }: { readonly now: number; readonly at: string; readonly staleAfterMs: number; readonly maxAttempts: number },
): Entries {
  const answered = new Set<string>();
  for (const { replyTo } of entries) if (replyTo !== undefined) answered.add(replyTo);
  const recovered = entries.map((entry): ChatEntry => {
    if (!isWaiting(entry)) return entry;
    if (answered.has(entry.id)) return { ...entry, status: 'done', processed: true };
    const waited = now - Date.parse(entry.timestamp);
    if (entry.status === 'queued' && waited > staleAfterMs) {
      const error = { code: 'EXPIRED', message: 'It waited too long for a monitor; queue it again if it still matters.', retryable: true };
      return { ...entry, status: 'expired', processed: true, finishedAt: at, error };
    }
    if (entry.status === 'queued') return entry;
    // One attempt more than usual, because the crash may have had another cause.
    if ((entry.attempts ?? 0) > maxAttempts) {
      const error = { code: 'CRASHED', message: 'The server ended each time while it was being answered.', retryable: true };
      return { ...entry, status: 'failed', processed: true, finishedAt: at, error };
    }
    return { ...entry, status: 'queued', processed: false };
  });
  return recovered.every((entry, index) => entry === entries[index]) ? entries : recovered;
}
