// chat.json: what a person may have written into it, made whole; and every change of it as a function from entries to entries.
// Order is the order of the array, never that of clocks. Pure: no I/O.
//
// M1 A message is in exactly one status; it leaves `queued` and `processing` only for an outcome, or back into the queue.
// M2 The answer and its message's outcome are one change, and a message that has an outcome takes no answer.
// M3 An id belongs to one entry, the first that bears it: a later one, as when a line was copied by hand, gets an id of its own.
import { randomBytes } from 'node:crypto';
import { BlockhouseError } from '../errors.ts';
import { isObject } from '../json.ts';
import { type Channel, ChatEntry, type EntryError, type QueueCounts } from '../schemas/block.ts';
import { compile, type Validator } from '../schemas/validate.ts';
import type { Change } from '../workspace/json-file.ts';
import { faultOf } from './contents.ts';

export type Entries = readonly ChatEntry[];

const checkEntry: Validator<ChatEntry> = compile(ChatEntry);
/** So many entries are active; older ones move to chat-archive/. */
export const ACTIVE_ENTRIES = 500;
/** Also when they are long: every change writes them all. */
export const ACTIVE_CHARACTERS = 4 * 1024 * 1024;

const OWN_ID = /^m([0-9a-z]{9})([0-9a-z]{4})[0-9a-f]{8}$/;

/** Ids sort by time, and by order within a millisecond; a clock that is set back does not set them back, nor does a restart under it. */
export class EntryIds {
  #last = 0;
  #count = 0;
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** What comes next sorts after all of these. */
  follow(entries: Entries): void {
    for (const { id } of entries) {
      const [, time, count] = OWN_ID.exec(id ?? '')?.map((digits) => Number.parseInt(digits, 36)) ?? [];
      if (time === undefined || count === undefined || time < this.#last || (time === this.#last && count <= this.#count)) continue;
      this.#last = time;
      this.#count = count;
    }
  }

  next(): string {
    const now = Math.max(this.#now(), this.#last);
    this.#count = now === this.#last ? this.#count + 1 : 0;
    this.#last = now;
    return `m${now.toString(36).padStart(9, '0')}${this.#count.toString(36).padStart(4, '0')}${randomBytes(4).toString('hex')}`;
  }
}

export function formatChat(entries: Entries): string {
  return entries.length === 0 ? '[]\n' : `[\n${entries.map((entry) => JSON.stringify(entry)).join(',\n')}\n]\n`;
}

/**
 * Reads entries. What a person left out (`{"role": "user", "content": "…"}` is enough), or an id that is taken, is filled in by
 * `completeEntries`. Throws an Error that names the entry and its field.
 */
export function parseChat(value: unknown): Entries {
  if (!Array.isArray(value)) throw new Error('it must hold an array of messages');
  const taken = new Set<string>();
  return value.map((item: unknown, index) => {
    const entry = readEntry(item, index);
    if (taken.has(entry.id)) return withoutId(entry); // M3
    if (entry.id !== undefined) taken.add(entry.id);
    return entry;
  });
}

function withoutId({ id: _taken, ...others }: ChatEntry): ChatEntry {
  return others as ChatEntry;
}

function readEntry(item: unknown, index: number): ChatEntry {
  if (!isObject(item)) throw new Error(`[${index}] must be an object`);
  if (typeof item['role'] !== 'string' || typeof item['content'] !== 'string') throw new Error(`[${index}] must have a role and a content`);
  try {
    // As it will be when it is whole: whoever completes it later is not the one who wrote it.
    checkEntry(isHandWritten(item) ? completed(item as Partial<ChatEntry>, () => 'new', 'now') : item);
  } catch (error) {
    throw new Error(`[${index}]: ${faultOf(error)}`, { cause: error });
  }
  return item as unknown as ChatEntry;
}

const REQUIRED = ChatEntry.required;

function isHandWritten(item: Readonly<Record<string, unknown>>): boolean {
  return REQUIRED.some((field) => item[field] === undefined);
}

/** Entries written by hand become whole ones: a user's without an outcome is queued. The same array when there is nothing to do. */
export function completeEntries(entries: Entries, ids: EntryIds, now: string): Entries {
  ids.follow(entries);
  if (!entries.some((entry) => isHandWritten(entry))) return entries;
  return entries.map((entry) => (isHandWritten(entry) ? completed(entry, () => ids.next(), now) : entry));
}

function completed(entry: Partial<ChatEntry>, newId: () => string, now: string): ChatEntry {
  const isUser = entry.role === 'user';
  const status = entry.status ?? (isUser && entry.processed !== true ? 'queued' : 'done');
  return {
    ...entry,
    id: entry.id ?? newId(),
    role: isUser ? 'user' : 'assistant',
    content: entry.content ?? '',
    timestamp: entry.timestamp ?? now,
    processed: !isUser || !WAITING.has(status),
    status,
    channel: entry.channel ?? 'web',
  };
}

const WAITING: ReadonlySet<string> = new Set<ChatEntry['status']>(['queued', 'processing']);

export function isWaiting(entry: ChatEntry): boolean {
  return entry.role === 'user' && WAITING.has(entry.status);
}

export function countQueue(entries: Entries): QueueCounts {
  let queued = 0;
  let processing = 0;
  let failed = 0;
  let oldestQueuedAt: string | null = null;
  for (const entry of entries) {
    if (entry.role !== 'user') continue;
    if (entry.status === 'processing') processing += 1;
    if (entry.status === 'failed') failed += 1;
    // Written by hand, and not completed yet: it waits as well.
    if (entry.status === 'queued' || (entry.status === undefined && !entry.processed)) {
      queued += 1;
      oldestQueuedAt ??= entry.timestamp ?? null;
    }
  }
  return { queued, processing, failed, oldestQueuedAt };
}

export function lastMessageAt(entries: Entries): string | null {
  return entries.at(-1)?.timestamp ?? null;
}

export interface NewMessage {
  readonly id: string;
  readonly content: string;
  readonly channel: Channel;
  readonly clientId: string | undefined;
  readonly at: string;
  readonly cap: number;
}

/** Waiting text beyond this is refused like waiting messages beyond the cap. */
const WAITING_CHARACTERS = 8 * 1024 * 1024;
const RETRY_AFTER_MS = 5000;

/** Appends a message; the same `clientId` again gives the entry that is there. Throws QUEUE_FULL. */
export function appendMessage(
  entries: Entries,
  message: NewMessage,
): Change<Entries, { readonly entry: ChatEntry; readonly position: number; readonly isNew: boolean }> {
  const known = message.clientId === undefined ? undefined : entries.find((entry) => entry.clientId === message.clientId);
  if (known !== undefined) return { value: entries, result: { entry: known, position: positionOf(entries, known), isNew: false } };
  const waiting = entries.filter(isWaiting);
  if (waiting.length >= message.cap || waiting.reduce((sum, { content }) => sum + content.length, message.content.length) > WAITING_CHARACTERS) {
    throw new BlockhouseError('QUEUE_FULL', `${waiting.length} messages wait already (queue.cap is ${message.cap}); try again later.`, {
      retryAfterMs: RETRY_AFTER_MS,
    });
  }
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
  return { value: [...entries, entry], result: { entry, position: waiting.length, isNew: true } };
}

function positionOf(entries: Entries, entry: ChatEntry): number {
  return isWaiting(entry) ? entries.filter(isWaiting).indexOf(entry) : 0;
}

/** Entries with one of them changed; the same array when there is none with that id. */
export function withEntry(entries: Entries, id: string, change: (entry: ChatEntry) => ChatEntry): Entries {
  const index = entries.findIndex((entry) => entry.id === id);
  const old = entries[index];
  if (old === undefined) return entries;
  const changed = change(old);
  return changed === old ? entries : entries.with(index, changed);
}

/** Takes a message to work on: undefined when it is no longer queued. */
export function begin(entries: Entries, id: string, at: string): Change<Entries, ChatEntry | undefined> {
  const entry = entries.find((candidate) => candidate.id === id);
  if (entry?.status !== 'queued') return { value: entries, result: undefined };
  const { nextAttemptAt: _due, ...rest } = entry;
  const begun: ChatEntry = { ...rest, status: 'processing', attempts: (entry.attempts ?? 0) + 1, startedAt: at };
  return { value: withEntry(entries, id, () => begun), result: begun };
}

export type Outcome = Pick<ChatEntry, 'status'> & Partial<ChatEntry>;

/** Gives a message that is being processed its outcome, and its answer with it (M2). False when it has one already. */
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
  const value = withEntry(entries, id, ({ startedAt: _start, ...old }) => ({
    ...old,
    status: 'queued',
    processed: false,
    attempts: Math.max(0, (old.attempts ?? 1) - (countsAsAttempt ? 0 : 1)),
    ...(nextAttemptAt !== undefined && { nextAttemptAt }),
    ...(error !== undefined && { error }),
  }));
  return { value, result: true };
}

/**
 * After a crash: what was being processed is queued for one more attempt, and has failed when that was its last; what has waited too long is expired.
 * A message whose answer is there is done, whatever its status says.
 */
export function recover(
  entries: Entries,
  { now, at, staleAfterMs, maxAttempts }: { readonly now: number; readonly at: string; readonly staleAfterMs: number; readonly maxAttempts: number },
): Entries {
  const answered = new Set(entries.flatMap(({ replyTo }) => (replyTo === undefined ? [] : [replyTo])));
  const recovered = entries.map((entry): ChatEntry => {
    if (!isWaiting(entry)) return entry;
    if (answered.has(entry.id)) return { ...entry, status: 'done', processed: true };
    const waited = now - Date.parse(entry.timestamp);
    if (entry.status === 'queued' && waited > staleAfterMs) {
      const error = { code: 'EXPIRED', message: 'It waited too long for a monitor; queue it again if it still matters.', retryable: true };
      return { ...entry, status: 'expired', processed: true, finishedAt: at, error };
    }
    if (entry.status === 'queued') return entry;
    // One more than usual: the crash may have had nothing to do with it.
    if ((entry.attempts ?? 0) > maxAttempts) {
      const error = { code: 'CRASHED', message: 'The server ended each time while it was being answered.', retryable: true };
      return { ...entry, status: 'failed', processed: true, finishedAt: at, error };
    }
    return { ...entry, status: 'queued', processed: false };
  });
  return recovered.every((entry, index) => entry === entries[index]) ? entries : recovered;
}

/** Splits off the oldest settled entries beyond what stays active. An answer goes no earlier than its message. */
export function splitOld(entries: Entries): { readonly kept: Entries; readonly old: Entries } {
  let spare = entries.length - ACTIVE_ENTRIES;
  let characters = entries.reduce((sum, { content }) => sum + content.length, 0) - ACTIVE_CHARACTERS;
  if (spare <= 0 && characters <= 0) return { kept: entries, old: [] };
  const old: ChatEntry[] = [];
  const kept = entries.filter((entry) => {
    if ((spare <= 0 && characters <= 0) || isWaiting(entry)) return true;
    spare -= 1;
    characters -= entry.content.length;
    old.push(entry);
    return false;
  });
  return { kept, old };
}
