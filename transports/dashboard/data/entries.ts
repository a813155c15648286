// The entries of a chat as they are known, and the order in which they are shown. Pure.
//
// never-emptied: a page replaces what it covers; an entry that has not changed stays the same object.
// by-turn: an answer stands below the message that it answers, also while that message is on its way; messages that wait stand last, and below them those that
// the server does not have yet.
import type { ChatEntry } from '../../../core/types.ts';
import type { Outgoing } from './outbox.ts';

/** Entries by id, oldest first. */
export type Entries = ReadonlyMap<string, ChatEntry>;

/** A page of the newest entries taken in: entries of its span that it does not have are gone, and so are all before a page that begins the chat. */
export function withNewest(known: Entries, page: readonly ChatEntry[], isBeginning: boolean): Entries {
  const first = page[0]?.id;
  const kept = isBeginning || first === undefined ? [] : [...known.values()].filter(({ id }) => id < first);
  return sorted(known, [...kept, ...page]);
}

/** An older page taken in. */
export function withOlder(known: Entries, page: readonly ChatEntry[]): Entries {
  return sorted(known, [...page.filter(({ id }) => !known.has(id)), ...known.values()]);
}

function sorted(known: Entries, entries: readonly ChatEntry[]): Entries {
  const list = entries.map((entry) => sameOr(known.get(entry.id), entry)).sort((one, other) => (one.id < other.id ? -1 : 1));
  const isSame = list.length === known.size && list.every((entry) => known.get(entry.id) === entry);
  return isSame ? known : new Map(list.map((entry) => [entry.id, entry]));
}

function sameOr(old: ChatEntry | undefined, entry: ChatEntry): ChatEntry {
  return old !== undefined && old.content === entry.content && bare(old) === bare(entry) ? old : entry;
}

function bare(entry: ChatEntry): string {
  return JSON.stringify({ ...entry, content: '' });
}

/** True while a message waits or is answered. */
export function isUnfinished({ role, status }: ChatEntry): boolean {
  return role === 'user' && (status === 'queued' || status === 'processing');
}

/** Something that is shown in the chat. */
export type Line =
  | { readonly kind: 'entry'; readonly key: string; readonly entry: ChatEntry }
  /** The reply that is being written. */
  | { readonly kind: 'reply'; readonly key: string; readonly to: string }
  /** A message that waits, and how many are before it. */
  | { readonly kind: 'waiting'; readonly key: string; readonly entry: ChatEntry; readonly before: number }
  /** A message whose entry is not read yet. */
  | { readonly kind: 'sending'; readonly key: string; readonly message: Outgoing };

/**
 * The lines in the order in which they are shown. `keyOf` gives an entry the key of the bubble or reply that it replaces; `outgoing` has the messages of the
 * block on their way, also those whose entries are there.
 */
export function linesOf(
  entries: Entries,
  reply: { readonly id: string; readonly key: string } | undefined,
  keyOf: (entry: ChatEntry) => string,
  outgoing: readonly Outgoing[] = [],
): readonly Line[] {
  const answers = answersOf(entries);
  const sending = withoutEntries(outgoing, entries);
  const asked = reply === undefined || entries.has(reply.id) ? undefined : questionOf(reply.id, sending);
  const lines: Line[] = [];
  const waiting: ChatEntry[] = [];
  // The entry of a complete reply has its key, and stands in its place.
  let isPlaced = reply === undefined || [...entries.values()].some((entry) => keyOf(entry) === reply.key);
  const atWork = [...entries.values()].filter(({ role, status }) => role === 'user' && status === 'processing').length;
  for (const entry of entries.values()) {
    if (entry.role === 'assistant' && entry.replyTo !== undefined && answers.has(entry.replyTo)) continue; // by-turn
    const isAnswered = reply?.id === entry.id;
    if (entry.status === 'queued' && !isAnswered) waiting.push(entry);
    else lines.push({ kind: 'entry', key: keyOf(entry), entry });
    for (const answer of answers.get(entry.id) ?? []) lines.push({ kind: 'entry', key: keyOf(answer), entry: answer });
    if (isAnswered && !isPlaced && reply !== undefined) {
      lines.push({ kind: 'reply', key: reply.key, to: reply.id });
      isPlaced = true;
    }
  }
  const replyLine: readonly Line[] = isPlaced || reply === undefined ? [] : [{ kind: 'reply', key: reply.key, to: reply.id }];
  if (asked === undefined) lines.push(...replyLine);
  const offset = Math.max(atWork, reply === undefined ? 0 : 1);
  for (const [index, entry] of waiting.entries()) lines.push({ kind: 'waiting', key: keyOf(entry), entry, before: index + offset });
  for (const message of sending) lines.push({ kind: 'sending', key: message.clientId, message }, ...(message === asked ? replyLine : []));
  return lines;
}

function withoutEntries(outgoing: readonly Outgoing[], entries: Entries): readonly Outgoing[] {
  if (outgoing.length === 0) return outgoing;
  const known = new Set([...entries.values()].map(({ clientId }) => clientId));
  return outgoing.filter(({ clientId }) => !known.has(clientId));
}

/** The message on its way that a reply answers. A receipt may come later than the first words of the answer; messages are answered in their order. */
function questionOf(id: string, sending: readonly Outgoing[]): Outgoing | undefined {
  return sending.find((message) => message.id === id) ?? sending.find((message) => message.id === undefined && message.state === 'sending');
}

/** Answers by the message that they answer, if it is known. */
function answersOf(entries: Entries): ReadonlyMap<string, readonly ChatEntry[]> {
  const answers = new Map<string, ChatEntry[]>();
  for (const entry of entries.values()) {
    if (entry.role !== 'assistant' || entry.replyTo === undefined || !entries.has(entry.replyTo)) continue;
    const list = answers.get(entry.replyTo);
    if (list === undefined) answers.set(entry.replyTo, [entry]);
    else list.push(entry);
  }
  return answers;
}
