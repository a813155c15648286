// chat-archive/: the entries that have left chat.json, one on each line, in a file for the month in which they left. The lines are in the order of
// the conversation, and all of them come before the active entries.
//
// archive-first: entries leave chat.json only when they are on disk here. If a crash leaves an entry in both places, the active one counts.
// once-written: if the write of chat.json fails after that, the entries are not appended here again.
// no-links: the folder and its files are never read or written through a link.
import { lstatSync, readdirSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { BlockhouseError } from '../../../errors.ts';
import type { ChatEntry } from '../../../schemas/chat-entry.ts';
import type { Entries } from '../../port.ts';
import { syncFolder } from '../atomic-file.ts';
import { isPassingFault, readFault, readLines } from '../regular-file.ts';
import { appendLines } from './chat-lines.ts';
import { ClientIds } from './client-ids.ts';

const MONTH_FILE = /^\d{4}-\d{2}\.jsonl$/;
/** Limits of a file, which is read in pieces so that a large one doesn't block the event loop. */
export const ARCHIVE_LIMITS = { maxBytes: 16 * 1024 ** 3, maxLineBytes: 64 * 1024 ** 2 } as const;

/** The archived entries of one block. */
export class ChatArchive {
  readonly clientIds: ClientIds;
  readonly #folder: string;
  /** once-written. */
  readonly #written = new WeakSet<ChatEntry>();

  /** `folder` is the block's chat-archive; the first `append` makes it. */
  constructor(folder: string) {
    this.#folder = folder;
    this.clientIds = new ClientIds(join(folder, 'client-ids.jsonl'));
  }

  /** The entries are on disk when it resolves. `at` is the current time, ISO 8601. Throws the system's own error. */
  async append(entries: Entries, at: string): Promise<void> {
    const missing = entries.filter((entry) => !this.#written.has(entry));
    if (missing.length === 0) return;
    await this.#makeFolder();
    const hasNewIndex = await this.clientIds.add(missing);
    const hasNewFile = await appendLines(join(this.#folder, `${at.slice(0, 7)}.jsonl`), missing);
    if (hasNewIndex || hasNewFile) await syncFolder(this.#folder);
    for (const entry of missing) this.#written.add(entry);
  }

  /** The names of the files, oldest first. Throws BLOCK_DAMAGED. */
  months(): string[] {
    const stats = lstatSync(this.#folder, { throwIfNoEntry: false });
    if (stats === undefined) return [];
    if (!stats.isDirectory()) throw damaged('it is not a folder'); // no-links
    return readdirSync(this.#folder)
      .filter((name) => MONTH_FILE.test(name))
      .sort();
  }

  /** Reads the lines of one file in their order until `take` returns true. Throws BLOCK_DAMAGED, STORAGE_FAILED. */
  async read(month: string, take: (line: string) => boolean): Promise<void> {
    for await (const lines of this.lines(month)) for (const line of lines) if (take(line)) return;
  }

  /** The lines of one file in their order, some at a time. Throws BLOCK_DAMAGED, STORAGE_FAILED. */
  async *lines(month: string): AsyncGenerator<readonly string[]> {
    try {
      for await (const lines of readLines(join(this.#folder, month), ARCHIVE_LIMITS)) {
        yield lines.filter((line) => line !== undefined && line !== '') as string[];
      }
    } catch (error) {
      throw isPassingFault(error) ? error : damaged(`${month}: ${readFault(error as Error)}`, error);
    }
  }

  async #makeFolder(): Promise<void> {
    // Not `recursive`: a late write must not bring back the folder of a removed block.
    await mkdir(this.#folder, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    if (!lstatSync(this.#folder).isDirectory()) throw new Error('chat-archive is not a folder'); // no-links
  }
}

function damaged(problem: string, cause?: unknown): BlockhouseError {
  return new BlockhouseError('BLOCK_DAMAGED', `chat-archive can't be read: ${problem}. Repair it by hand.`, { cause });
}
