// A block that is copied, as a folder.
//
// in-slices: the newest entries are held in memory, and older ones go to the disk as they come, so that a long conversation needs no more than a short one.
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { formatChat } from '../../../block/conversation/chat-file.ts';
import { MOVED_AT_ONCE, splitOld } from '../../../block/conversation/retention.ts';
import { formatFile } from '../../../block/documents/document-codecs.ts';
import type { ChatEntry } from '../../../schemas/chat-entry.ts';
import { BLOCK_FOLDERS } from '../../parts/block-layout.ts';
import type { CopiedBlock, CopiedLog, CopiedRun } from '../../parts/copied.ts';
import { syncFolder, writeNewFile } from '../atomic-file.ts';
import { ARCHIVE_INFO } from '../block/archive-info.ts';
import { KNOWN } from '../chat/client-ids.ts';

/** Writes a block into a new folder, which it makes. All of it is on disk when it resolves. `now` in epoch milliseconds. */
export async function writeBlock(folder: string, block: CopiedBlock, now: number): Promise<void> {
  await mkdir(folder, { mode: 0o700 });
  for (const inner of BLOCK_FOLDERS) await mkdir(join(folder, inner), { mode: 0o700 });
  for (const [id, value] of Object.entries(block.documents)) await writeNewFile(join(folder, `${id}.json`), formatFile(value));
  if (block.archived !== undefined) await writeNewFile(join(folder, ARCHIVE_INFO), formatFile(block.archived));
  await writeEntries(folder, block, new Date(now).toISOString().slice(0, MONTH));
  for (const log of block.logs) await writeLog(join(folder, 'logs', log.file), log);
  await writeRuns(join(folder, 'runs'), block.runs);
  for (const inner of [...BLOCK_FOLDERS, '']) await syncFolder(join(folder, inner));
}

/** Only a block with tools has such a folder. */
async function writeRuns(folder: string, runs: readonly CopiedRun[]): Promise<void> {
  if (runs.length === 0) return;
  await mkdir(folder, { mode: 0o700 });
  for (const { file, at, bytes } of runs) {
    const opened = await open(join(folder, file), 'wx', 0o600);
    try {
      await opened.writeFile(await bytes());
      if (at !== undefined) await opened.utimes(at, at); // the oldest results are dropped first
      await opened.sync();
    } finally {
      await opened.close();
    }
  }
  await syncFolder(folder);
}

const MONTH = '2026-11'.length;

async function writeEntries(folder: string, block: CopiedBlock, newest: string): Promise<void> {
  const old = new OldEntries(join(folder, 'chat-archive'), newest);
  try {
    let held: readonly ChatEntry[] = [];
    let fresh = 0;
    const split = async (): Promise<void> => {
      const { kept, old: moved } = splitOld(held);
      await old.add(moved);
      held = kept;
      fresh = 0;
    };
    for await (const entries of block.entries()) {
      held = [...held, ...entries];
      fresh += entries.length;
      if (fresh >= MOVED_AT_ONCE.entries) await split(); // in-slices
    }
    await split();
    await old.finish();
    await writeNewFile(join(folder, 'chat.json'), formatChat(held));
  } finally {
    await old.close();
  }
}

/** The files in chat-archive. */
class OldEntries {
  readonly #folder: string;
  /** No month comes after that of the next entry that moves. */
  readonly #newest: string;
  #month = '';
  #file: FileHandle | undefined;
  #ids: string[] = [];

  constructor(folder: string, newest: string) {
    this.#folder = folder;
    this.#newest = newest;
  }

  async add(entries: readonly ChatEntry[]): Promise<void> {
    let text = '';
    for (const entry of entries) {
      const own = entry.timestamp.slice(0, MONTH);
      const month = own < this.#newest ? own : this.#newest;
      if (month > this.#month) {
        await this.#file?.appendFile(text);
        text = '';
        await this.#open(month);
      }
      text += `${JSON.stringify(entry)}\n`;
      const { id, clientId } = entry;
      if (clientId !== undefined) this.#ids.push(`${JSON.stringify({ id, clientId })}\n`);
    }
    await this.#file?.appendFile(text);
    if (this.#ids.length > 2 * KNOWN) this.#ids = this.#ids.slice(-KNOWN);
  }

  async finish(): Promise<void> {
    if (this.#ids.length > 0) await writeNewFile(join(this.#folder, 'client-ids.jsonl'), this.#ids.slice(-KNOWN).join(''));
  }

  async #open(month: string): Promise<void> {
    await this.close();
    this.#month = month;
    this.#file = await open(join(this.#folder, `${month}.jsonl`), 'wx', 0o600);
  }

  async close(): Promise<void> {
    await this.#file?.sync();
    await this.#file?.close();
    this.#file = undefined;
  }
}

async function writeLog(path: string, { at, pieces }: CopiedLog): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    for await (const piece of pieces()) await file.appendFile(piece);
    await file.utimes(at, at); // logs are sorted by their time
    await file.sync();
  } finally {
    await file.close();
  }
}
