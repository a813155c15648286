// Reads the whole conversation of a block, archived and active, in pages or by id. A page needs all files between it and the present. An entry
// that a crash has left in two places is shown once. Reads only.
import { tryParseJson } from '../../../base/json.ts';
import { bytesOf, wholeEntry } from '../../../block/conversation/chat-file.ts';
import { BlockhouseError } from '../../../errors.ts';
import type { MessageFound } from '../../../schemas/chat-api.ts';
import type { ChatEntry } from '../../../schemas/chat-entry.ts';
import type { Entries, PagePlace } from '../../port.ts';
import type { ChatArchive } from './chat-archive.ts';

/** The most bytes in a page, except that a page has at least one entry. */
export const PAGE_BYTES = 8 * 1024 * 1024;

/** The entries of a page, oldest first. Throws MESSAGE_NOT_FOUND if no entry has the id `before` or `since`. */
export function pageOf(archive: ChatArchive, active: Entries, { limit, before, since }: PagePlace): Promise<Entries> {
  return since === undefined ? pageBefore(archive, active, before, limit) : pageAfter(archive, active, since, limit);
}

/** Finds an entry and its answer; searches the active entries first. Throws MESSAGE_NOT_FOUND. */
export async function findEntry(archive: ChatArchive, active: Entries, id: string): Promise<MessageFound> {
  let entry = active.find((one) => one.id === id);
  let answer = active.findLast(({ replyTo }) => replyTo === id);
  const replyTo = `"replyTo":${JSON.stringify(id)}`;
  for (const month of archive.months().reverse()) {
    // Go on only for an answer that moved to the archive before its message.
    if (entry !== undefined && (answer !== undefined || entry.role !== 'user' || !mayHaveAnswer(entry))) break;
    const isActive = entry !== undefined;
    let reply: ChatEntry | undefined;
    await archive.read(month, (line) => {
      if (line.includes(replyTo)) reply = entryIn(line) ?? reply;
      else if (!isActive && idOf(line) === id) entry = entryIn(line) ?? entry;
      return false;
    });
    answer ??= reply;
    if (!isActive && entry !== undefined) break;
  }
  if (entry === undefined) throw notFound(id);
  return { entry, answer: answer ?? null };
}

/** False for a message that waits or has failed. */
function mayHaveAnswer({ status }: ChatEntry): boolean {
  return status === 'done' || status === 'cancelled';
}

async function pageBefore(archive: ChatArchive, active: Entries, before: string | undefined, limit: number): Promise<Entries> {
  const end = before === undefined ? active.length : active.findIndex(({ id }) => id === before);
  const without = idsOf(active);
  let wanted = end >= 0 ? undefined : before;
  let page = lastOf(active.slice(0, Math.max(end, 0)), limit);
  let isFull = end > page.length || page.length >= limit;
  for (const month of archive.months().reverse()) {
    if (isFull) break;
    const tail = await tailOf(archive, month, { until: wanted, most: limit, without });
    if (tail === undefined) continue;
    wanted = undefined;
    const both = [...tail.entries, ...page];
    page = lastOf(both, limit);
    isFull = tail.wasCut || page.length < both.length || page.length >= limit;
  }
  if (wanted !== undefined) throw notFound(wanted);
  return page;
}

interface TailQuery {
  readonly until: string | undefined;
  readonly most: number;
  readonly without: ReadonlySet<string>;
}

/** The last entries of a file, or those before `until`; undefined if `until` is not in it. `wasCut`: older ones did not fit. */
async function tailOf(archive: ChatArchive, month: string, { until, most, without }: TailQuery) {
  const lines = new Map<string, string>();
  let characters = 0;
  let wasCut = false;
  let isFound = until === undefined;
  const drop = (id: string): void => {
    characters -= lines.get(id)?.length ?? 0;
    lines.delete(id);
  };
  await archive.read(month, (line) => {
    const id = idOf(line);
    if (until !== undefined && id === until) isFound = true;
    else if (id !== undefined && !without.has(id)) {
      drop(id);
      lines.set(id, line);
      characters += line.length;
    }
    while (lines.size > most || (lines.size > 1 && characters > PAGE_BYTES)) {
      const [oldest = ''] = lines.keys();
      drop(oldest);
      wasCut = true;
    }
    return until !== undefined && isFound;
  });
  return isFound ? { entries: [...lines.values()].flatMap((line) => entryIn(line) ?? []), wasCut } : undefined;
}

async function pageAfter(archive: ChatArchive, active: Entries, since: string, limit: number): Promise<Entries> {
  const start = active.findIndex(({ id }) => id === since);
  if (start >= 0) return firstOf(active.slice(start + 1), limit);
  const { months, line: sinceLine } = await placeOf(archive, since);
  const without = idsOf(active);
  const found = new Map<string, ChatEntry>();
  let bytes = 0;
  const isEnough = (): boolean => found.size >= limit || bytes > PAGE_BYTES;
  for (const [index, month] of months.entries()) {
    if (isEnough()) break;
    let number = 0;
    await archive.read(month, (line) => {
      number += 1;
      if (index === 0 && number <= sinceLine) return false;
      const id = idOf(line);
      const entry = id === undefined || without.has(id) || found.has(id) ? undefined : entryIn(line);
      if (entry === undefined) return false;
      found.set(entry.id, entry);
      bytes += line.length;
      return isEnough();
    });
  }
  return firstOf([...found.values(), ...active], limit);
}

/** The files from the one with the entry on, and the number of the entry's last line there, from 1. Throws MESSAGE_NOT_FOUND. */
async function placeOf(archive: ChatArchive, id: string): Promise<{ readonly months: readonly string[]; readonly line: number }> {
  const months = archive.months();
  for (let first = months.length - 1; first >= 0; first -= 1) {
    let number = 0;
    let last: number | undefined;
    await archive.read(months[first] as string, (line) => {
      number += 1;
      if (idOf(line) === id) last = number;
      return false;
    });
    if (last !== undefined) return { months: months.slice(first), line: last };
  }
  throw notFound(id);
}

function firstOf(entries: Entries, limit: number): Entries {
  let bytes = 0;
  const end = entries.findIndex((entry, index) => {
    bytes += bytesOf(entry);
    return index >= limit || (index > 0 && bytes > PAGE_BYTES);
  });
  return end === -1 ? entries : entries.slice(0, end);
}

function lastOf(entries: Entries, limit: number): Entries {
  let start = entries.length;
  let bytes = 0;
  for (; start > 0 && entries.length - start < limit; start -= 1) {
    bytes += bytesOf(entries[start - 1] as ChatEntry);
    if (bytes > PAGE_BYTES && start < entries.length) break;
  }
  return entries.slice(start);
}

function idsOf(entries: Entries): ReadonlySet<string> {
  return new Set(entries.map(({ id }) => id));
}

/** The beginning of an entry in the form that the server writes. */
const OWN_LINE = /^\{"id":"([^"\\]+)","role":"(?:user|assistant)","content":"/;

/** Undefined for a line that is not an entry. The server's own lines are matched without parsing, because there may be very many. */
function idOf(line: string): string | undefined {
  return (line.endsWith('}') ? OWN_LINE.exec(line)?.[1] : undefined) ?? entryIn(line)?.id;
}

/** Undefined for a damaged line; `doctor` reports it. */
function entryIn(line: string): ChatEntry | undefined {
  return wholeEntry(tryParseJson(line));
}

function notFound(id: string): BlockhouseError {
  return new BlockhouseError('MESSAGE_NOT_FOUND', `The block has no message ${JSON.stringify(id.slice(0, 64))}, neither in chat.json nor in chat-archive.`);
}
