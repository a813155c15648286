// Decides which entries stay in chat.json and which move to chat-archive/. Every change rewrites all of chat.json, so it must stay small. Messages
// that wait always stay. Of the others, the newest stay, as many as the limits allow. Pure: no I/O.
import type { ChatEntry } from '../../schemas/chat-entry.ts';
import type { Entries } from '../../store/port.ts';
import { bytesOf, isWaiting } from './chat-file.ts';

/** The most active entries with an outcome. */
export const ACTIVE_ENTRIES = 500;
const MIB = 1024 * 1024;
/** The same limit in bytes. */
export const ACTIVE_BYTES = 4 * MIB;
/** The newest entries may exceed `ACTIVE_BYTES`, so that one long entry doesn't push out its own conversation. */
export const RECENT = { entries: 20, bytes: 12 * MIB } as const;
/** The limit for the last message and its answer. A larger entry moves at once. */
export const LAST = { entries: 2, bytes: 24 * MIB } as const;
/** Entries move in groups of at least this size, so that a long conversation doesn't write to the archive with each message. */
export const MOVED_AT_ONCE = { entries: 50, bytes: MIB } as const;

interface Split {
  readonly kept: Entries;
  readonly old: Entries;
}

/** The active entries, which the history without a page shows. */
export function activeOf(entries: Entries, sizeOf = bytesOf): Entries {
  return split(entries, ACTIVE_ENTRIES, ACTIVE_BYTES, sizeOf).kept;
}

/** Splits off the entries that move now, oldest first; none until there are enough. */
export function splitOld(entries: Entries): Split {
  const due = split(entries, ACTIVE_ENTRIES + MOVED_AT_ONCE.entries, ACTIVE_BYTES + MOVED_AT_ONCE.bytes);
  return due.old.length === 0 ? due : split(entries, ACTIVE_ENTRIES, ACTIVE_BYTES);
}

function split(entries: Entries, mostEntries: number, mostBytes: number, sizeOf = bytesOf): Split {
  const kept: ChatEntry[] = [];
  const old: ChatEntry[] = [];
  let count = 0;
  let bytes = 0;
  for (let index = entries.length - 1; index >= 0; index -= 1) {
    const entry = entries[index] as ChatEntry;
    if (isWaiting(entry)) {
      kept.push(entry);
      continue;
    }
    const size = sizeOf(entry);
    const room = count < LAST.entries ? LAST.bytes : count < RECENT.entries ? RECENT.bytes : mostBytes;
    if (size > LAST.bytes) old.push(entry);
    else if (count < mostEntries && bytes + size <= room) {
      kept.push(entry);
      count += 1;
      bytes += size;
    } else {
      old.push(entry);
      count = mostEntries; // no older entry stays
    }
  }
  return old.length === 0 ? { kept: entries, old } : { kept: kept.reverse(), old: old.reverse() };
}
