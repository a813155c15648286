// An entry of a conversation as a row, and back. Pure: no I/O.
//
// any-text: PostgreSQL has no texts with a NUL or with half a surrogate pair, and JSON escapes both. So such a content is kept in `rest`, which is JSON that is
// never looked into.
import { parseJson } from '../../base/json.ts';
import { bytesOf } from '../../block/conversation/chat-file.ts';
import { BlockhouseError } from '../../errors.ts';
import type { MessageFound } from '../../schemas/chat-api.ts';
import type { ChatEntry } from '../../schemas/chat-entry.ts';
import type { Added, Entries } from '../port.ts';
import type { SpendRow } from './ledger.ts';

/** What a statement returns of a message. */
export interface MessageRow {
  readonly seq: number;
  readonly id: string;
  readonly role: ChatEntry['role'];
  readonly status: ChatEntry['status'];
  readonly content: string;
  /** As it was added. Not every statement asks for it. */
  readonly bytes?: number;
  readonly client_id: string | null;
  readonly reply_to: string | null;
  readonly attempts: number;
  readonly at: Date;
  readonly next_attempt_at: Date | null;
  readonly started_at: Date | null;
  readonly finished_at: Date | null;
  readonly error: ChatEntry['error'];
  /** What came with the outcome. */
  readonly outcome: Partial<ChatEntry> | null;
  readonly rest: Partial<ChatEntry>;
  readonly waiting_for: readonly string[] | null;
}

/** What is known of a message that was to be changed by the owner. */
export interface Owned {
  readonly ours: boolean;
  readonly done: boolean;
}

/** The versions of the block before a change and after it. */
export interface Versions {
  readonly version_before: string;
  readonly version: string;
}

/** What SETTLE returns; with the line of a call, also what the block has spent. */
export interface SettledRow extends MessageRow, Owned, Versions {
  readonly last_id: string;
  readonly waiting: number;
  readonly spends?: readonly SpendRow[] | null;
}

/** What no text of PostgreSQL has (any-text). */
export const NO_TEXT = /[\p{Surrogate}\0]/u;
/** The most bytes in a page, except that a page has at least one entry. */
export const PAGE_BYTES = 8 * 1024 * 1024;
/** The statuses of a message without an outcome. */
export const WAITING: ReadonlySet<string> = new Set(['queued', 'processing', 'waiting-approval']);

/** What `bytes` says of entries that were read: to measure them takes as long as to read them. */
const sizes = new WeakMap<ChatEntry, number>();

/** The entry of a row. */
export function entryOf(row: MessageRow): ChatEntry {
  const entry = shownAs(row);
  if (row.bytes !== undefined) sizes.set(entry, row.bytes);
  return entry;
}

function shownAs(row: MessageRow): ChatEntry {
  const time = (field: 'nextAttemptAt' | 'startedAt' | 'finishedAt', at: Date | null): object => (at === null ? {} : { [field]: at.toISOString() });
  const isUser = row.role === 'user';
  return {
    id: row.id,
    role: row.role,
    content: row.content,
    timestamp: row.at.toISOString(),
    processed: !isUser || !WAITING.has(row.status),
    status: row.status,
    channel: 'web',
    ...(row.reply_to !== null && { replyTo: row.reply_to }),
    ...(row.client_id !== null && { clientId: row.client_id }),
    attempts: row.attempts,
    error: row.error ?? null,
    ...row.rest,
    ...row.outcome,
    ...(row.status === 'waiting-approval' && row.waiting_for !== null && row.waiting_for.length > 0 && { waitingFor: row.waiting_for }),
    ...time('nextAttemptAt', row.next_attempt_at),
    ...time('startedAt', row.started_at),
    ...time('finishedAt', row.finished_at),
  };
}

/** The values of a new entry, in the order of the columns in `sql/conversation.ts`: id to rest. */
export function valuesOf(entry: ChatEntry): unknown[] {
  const {
    id,
    role,
    status,
    content,
    clientId,
    replyTo,
    attempts,
    timestamp,
    nextAttemptAt,
    startedAt,
    finishedAt,
    error,
    processed: _derived,
    waitingFor: _column,
    ...others
  } = entry;
  const isText = !NO_TEXT.test(content); // any-text
  const rest = JSON.stringify(isText ? others : { ...others, content });
  const times = [timestamp, nextAttemptAt ?? null, startedAt ?? null, finishedAt ?? null];
  return [
    id,
    role,
    status,
    isText ? content : '',
    bytesOf(entry),
    clientId ?? null,
    replyTo ?? null,
    attempts ?? 0,
    ...times,
    JSON.stringify(error ?? null),
    rest,
  ];
}

/** The value of `waiting_for`, which no new message has. */
export function waitingOf({ status, waitingFor = [] }: ChatEntry): string | null {
  return status === 'waiting-approval' ? JSON.stringify(waitingFor) : null;
}

/** A new entry as it will be read. */
export function storedAs(entry: ChatEntry): ChatEntry {
  const [id, role, status, content, bytes, client_id, reply_to, attempts, at, next, started, finished, error, rest] = valuesOf(entry) as [
    ...[string, ChatEntry['role'], ChatEntry['status'], string, number, string | null, string | null, number],
    ...[string, string | null, string | null, string | null, string, string],
  ];
  const timeOf = (text: string | null): Date | null => (text === null ? null : new Date(text));
  const times = { at: new Date(at), next_attempt_at: timeOf(next), started_at: timeOf(started), finished_at: timeOf(finished) };
  const json = { error: parseJson(error) as ChatEntry['error'], outcome: null, rest: parseJson(rest) as Partial<ChatEntry>, waiting_for: null };
  return entryOf({ seq: 0, id, role, status, content, bytes, client_id, reply_to, attempts, ...times, ...json });
}

/** Values for the columns of an answer that is not written. */
export const NO_ANSWER: ChatEntry = {
  id: '',
  role: 'assistant',
  content: '',
  timestamp: new Date(0).toISOString(),
  processed: true,
  status: 'done',
  channel: 'web',
};

/** The length of an entry as it was added, in bytes. */
export function sizeOf(entry: ChatEntry): number {
  return sizes.get(entry) ?? bytesOf(entry);
}

/** A message among entries, with its answer. */
export function foundIn(entries: Entries, id: string): MessageFound | undefined {
  const entry = entries.find((one) => one.id === id);
  return entry && { entry, answer: entries.findLast(({ replyTo }) => replyTo === id) ?? null };
}

/** The message that a clientId already has. */
export function knownAs(row: MessageRow & { readonly position: number }): Added {
  return { entry: entryOf(row), position: WAITING.has(row.status) ? row.position : 0, isNew: false };
}

/** The first entries that fit into a page. */
export function firstOf(entries: Entries): Entries {
  let bytes = 0;
  const end = entries.findIndex((entry, index) => {
    bytes += bytesOf(entry);
    return index > 0 && bytes > PAGE_BYTES;
  });
  return end === -1 ? entries : entries.slice(0, end);
}

/** The error for an id that no message has. */
export function notFound(id: string): BlockhouseError {
  return new BlockhouseError('MESSAGE_NOT_FOUND', `The block has no message ${JSON.stringify(id.slice(0, 64))}.`);
}
