// The entries of a chat as they are known, and the order in which they are shown. Pure.
//
// never-emptied: a page replaces what it covers; an entry that has not changed stays the same object.
// by-turn: an answer stands below the message that it answers, also while that message is on its way; messages that wait stand last, and below them those that
// the server does not have yet.
// one-version: of the versions of a message that was asked again one is shown, in one place: the newest that does not wait, or another that is chosen.
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
  return role === 'user' && (status === 'queued' || status === 'processing' || status === 'waiting-approval');
}

/** The versions of a message that was asked again. */
export interface Versions {
  /** The oldest first; none that waits. */
  readonly ids: readonly string[];
  /** The place of the one that is shown. */
  readonly at: number;
  /** False if models see a later one in its place. */
  readonly isSeen: boolean;
}

/** Something that is shown in the chat. */
export type Line =
  | { readonly kind: 'entry'; readonly key: string; readonly entry: ChatEntry; readonly versions?: Versions }
  /** The reply that is being written. */
  | { readonly kind: 'reply'; readonly key: string; readonly to: string }
  /** A message that waits, and how many are before it. */
  | { readonly kind: 'waiting'; readonly key: string; readonly entry: ChatEntry; readonly before: number }
  /** A message whose entry is not read yet. */
  | { readonly kind: 'sending'; readonly key: string; readonly message: Outgoing };

/**
 * The lines in the order in which they are shown. `keyOf` gives an entry the key of the bubble or reply that it replaces; `outgoing` has the messages of the
 * block on their way, also those whose entries are there. `chosen` has the version to show by the newest one.
 */
export function linesOf(
  entries: Entries,
  reply: { readonly id: string; readonly key: string } | undefined,
  keyOf: (entry: ChatEntry) => string,
  outgoing: readonly Outgoing[] = [],
  chosen: ReadonlyMap<string, string> = new Map(),
): readonly Line[] {
  const answers = answersOf(entries);
  const sending = withoutEntries(outgoing, entries);
  const asked = reply === undefined || entries.has(reply.id) ? undefined : questionOf(reply.id, sending);
  const lines: Line[] = [];
  const waiting: ChatEntry[] = [];
  const versions = versionsIn(entries);
  // The entry of a complete reply has its key, and stands in its place.
  let isPlaced = reply === undefined || [...entries.values()].some((entry) => keyOf(entry) === reply.key);
  const atWork = [...entries.values()].filter(({ role, status }) => role === 'user' && status === 'processing').length;
  for (const entry of entries.values()) {
    if (entry.role === 'assistant' && entry.replyTo !== undefined && answers.has(entry.replyTo)) continue; // by-turn
    const isAnswered = reply?.id === entry.id;
    if (entry.status === 'queued' && !isAnswered) {
      waiting.push(entry);
      continue;
    }
    const own = shownOf(versions.get(entry.id), entries, chosen, reply?.id);
    if (own !== undefined && own.ids[own.at] !== entry.id) {
      isPlaced ||= isAnswered; // one-version
      continue;
    }
    const first = entries.get(own?.ids[0] ?? '') ?? entry; // its place is that of all versions
    lines.push({ kind: 'entry', key: keyOf(first), entry, ...(own !== undefined && { versions: own }) });
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

/** All versions by the id of each, the oldest first; messages that were asked once are left out. */
function versionsIn(entries: Entries): ReadonlyMap<string, readonly string[]> {
  const all = new Map<string, string[]>();
  for (const { id, role, replaces } of entries.values()) {
    if (role !== 'user' || replaces === undefined || !entries.has(replaces)) continue;
    const ids = all.get(replaces) ?? [replaces];
    ids.push(id);
    all.set(replaces, ids).set(id, ids);
  }
  return all;
}

/** one-version: undefined if there is one alone. */
function shownOf(ids: readonly string[] | undefined, entries: Entries, chosen: ReadonlyMap<string, string>, replyId: string | undefined): Versions | undefined {
  const shown = ids?.filter((id) => entries.get(id)?.status !== 'queued' || id === replyId) ?? [];
  if (shown.length < 2) return undefined;
  const place = shown.indexOf(chosen.get(shown.at(-1) ?? '') ?? '');
  const at = place === -1 ? shown.length - 1 : place;
  const isAsked = (id: string): boolean => id === replyId || ['done', 'processing'].includes(entries.get(id)?.status ?? '');
  return { ids: shown, at, isSeen: !shown.slice(at + 1).some(isAsked) };
}

/** `chosen` with a version to show, by its id or that of its answer. */
export function withVersion(chosen: ReadonlyMap<string, string>, entries: Entries, id: string, replyId: string | undefined): ReadonlyMap<string, string> {
  const message = entries.get(id)?.replyTo ?? id;
  const newest = shownOf(versionsIn(entries).get(message), entries, chosen, replyId)?.ids.at(-1);
  return newest === undefined ? chosen : new Map(chosen).set(newest, message);
}

/** True if versions are folded away so that little is left to show, or earlier ones are not read. */
export function isShort(entries: Entries, lines: number, wanted: number): boolean {
  return [...entries.values()].some(({ replaces }) => replaces !== undefined && (lines < wanted || !entries.has(replaces)));
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
