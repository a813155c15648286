// chat.json: reads and writes its entries, and completes entries that a person wrote. The order of entries is the order of the array, never the
// order of clocks. chat-changes.ts has the changes. Pure: no I/O.
import { isObject } from '../../base/json.ts';
import { ANSWER_STATUSES, ChatEntry, USER_STATUSES } from '../../schemas/chat-entry.ts';
import { compile, faultOf, type Validator } from '../../schemas/validate.ts';
import type { Entries } from '../../store/port.ts';
import type { EntryIds } from './entry-ids.ts';

/** Requires only the fields that a person must write; optional ones are checked if present. */
const checkEntry: Validator<ChatEntry> = compile({ ...ChatEntry, required: ['role', 'content'] });
const STATUSES_OF: Readonly<Record<ChatEntry['role'], readonly string[]>> = { user: USER_STATUSES, assistant: ANSWER_STATUSES };
/** More than `queue.cap` and the active window together. A file of this size is processed in a fraction of a second. */
export const MAX_ENTRIES = 12_000;

/** The text of chat.json, with one entry on each line. */
export function formatChat(entries: Entries): string {
  return entries.length === 0 ? '[]\n' : `[\n${entries.map((entry) => JSON.stringify(entry)).join(',\n')}\n]\n`;
}

/**
 * Reads the entries of chat.json. An entry written by hand needs only a role and a content; `completeEntries` fills in the rest. If two entries
 * have the same id (a copied line), the later one gets a new id. Throws an Error that names the entry and its field.
 */
export function parseChat(value: unknown): Entries {
  if (!Array.isArray(value)) throw new Error('it must contain an array of messages');
  if (value.length > MAX_ENTRIES) {
    throw new Error(`it contains ${value.length} messages, but at most ${MAX_ENTRIES} can be active; move the oldest ones to a file in chat-archive`);
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
  if (status !== undefined && !statuses.includes(status)) return new Error(`status must be one of ${statuses.join(', ')} for role ${role}`);
  if (role === 'user' && replyTo !== undefined) return new Error('replyTo is only allowed on an answer, but the role is user');
  return undefined;
}

/** True for an entry without one of the fields that the server always writes. */
function isHandWritten(item: Partial<ChatEntry>): boolean {
  return ChatEntry.required.some((field) => item[field] === undefined);
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

const WAITING: ReadonlySet<string> = new Set<ChatEntry['status']>(['queued', 'processing', 'waiting-approval']);

/** True for a message without an outcome, even if it was written by hand and is not completed yet. */
export function isWaiting({ role, status, processed }: ChatEntry): boolean {
  return role === 'user' && (status === undefined ? processed !== true : WAITING.has(status));
}

const knownBytes = new WeakMap<ChatEntry, number>();

/** The length of an entry in a file, in bytes. Measured once for each object. */
export function bytesOf(entry: ChatEntry): number {
  const known = knownBytes.get(entry) ?? Buffer.byteLength(JSON.stringify(entry));
  knownBytes.set(entry, known);
  return known;
}

/**
 * The entries of a block that comes from elsewhere, without the names of the keys with which its messages were sent: a key of the same name here belongs to another program, and would
 * pay for their answers. Nor does this owner trust those senders. Returns the same array if nothing changes.
 */
export function withoutKeys(entries: Entries): Entries {
  if (!entries.some(namesKey)) return entries;
  return entries.map((entry) => (namesKey(entry) ? { ...entry, chain: (entry.chain ?? []).map(withoutKey) } : entry));
}

type Link = NonNullable<ChatEntry['chain']>[number];

function namesKey({ chain = [] }: ChatEntry): boolean {
  return chain.some(({ key, trusted }) => key !== undefined || trusted !== undefined);
}

function withoutKey({ key: _key, trusted: _trusted, ...link }: Link): Link {
  return link;
}
