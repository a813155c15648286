// The five files of one block, and the archive of its chat.
//
// F1 Entries leave chat.json only after they are on disk in chat-archive/; those that a crash left in both are told apart by their ids.
//    Those of a write that failed after that are not put there again by the next one.
// F2 A line that was cut short, by a crash or a full disk, spoils no line after it.
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { BlockFile } from '../bus.ts';
import { noCosts } from '../monitor/costs.ts';
import type { BlockConfig, BlockCosts, BlockMemory, BlockPulse, ChatEntry } from '../schemas/block.ts';
import { syncFolder } from '../workspace/atomic-file.ts';
import { type ChangeNotice, JsonFile, type JsonFileOptions } from '../workspace/json-file.ts';
import { type Entries, formatChat, parseChat, splitOld } from './chat-file.ts';
import { formatFile, freshMemory, freshPulse, parseConfig, parseCosts, parseMemory, parsePulse } from './contents.ts';

const APPEND = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const MIB = 1024 * 1024;
const MAX_BYTES = { config: 4 * MIB, memory: 32 * MIB, costs: 16 * MIB, pulse: 4 * MIB, chat: 64 * MIB } as const;

/** What a block's files tell. */
export interface FileListener {
  /** After a change that matters to somebody, by whomever. */
  onChanged(file: BlockFile, change: ChangeNotice): void;
  onDamaged(file: BlockFile, reason: string, copy: string | undefined): void;
}

export interface BlockContents {
  readonly config: BlockConfig;
  readonly memory: BlockMemory;
  readonly costs: BlockCosts;
  readonly pulse: BlockPulse;
  readonly chat: Entries;
}

export type BlockFileSet = { readonly [F in BlockFile]: JsonFile<BlockContents[F]> };

export const FILE_NAMES = ['config', 'memory', 'costs', 'pulse', 'chat'] as const satisfies readonly BlockFile[];

/** `now` gives ISO time. */
export function openFiles(folder: string, name: string, listener: FileListener, now: () => string): BlockFileSet {
  const file = <F extends BlockFile>(
    id: F,
    parts: Pick<JsonFileOptions<BlockContents[F]>, 'parse' | 'missing' | 'format' | 'onForeign'>,
    beforeWrite?: (value: BlockContents[F]) => Promise<BlockContents[F]>,
  ): JsonFile<BlockContents[F]> =>
    new JsonFile<BlockContents[F]>(join(folder, `${id}.json`), {
      ...parts,
      maxBytes: MAX_BYTES[id],
      ...(beforeWrite !== undefined && { beforeWrite }),
      onChanged: (_value, change) => {
        if (!change.quiet) listener.onChanged(id, change);
      },
      onDamaged: (reason, copy) => listener.onDamaged(id, reason, copy),
    });
  const archived = new WeakSet<ChatEntry>();
  return {
    config: file('config', { parse: (value) => parseConfig(value, name, now()), format: formatFile, onForeign: withNextRevision }),
    memory: file('memory', { parse: parseMemory, missing: freshMemory, format: formatFile }),
    costs: file('costs', { parse: (value) => parseCosts(value, noCosts()), missing: noCosts, format: formatFile }),
    pulse: file('pulse', { parse: parsePulse, missing: freshPulse, format: formatFile }),
    chat: file('chat', { parse: parseChat, missing: () => [], format: formatChat }, (entries) => moveOld(folder, archived, entries, now())),
  };
}

/** Everything that is on disk. Throws BLOCK_DAMAGED. */
export async function readContents({ config, memory, costs, pulse, chat }: BlockFileSet): Promise<BlockContents> {
  const read = await Promise.all([config.read(), memory.read(), costs.read(), chat.read(), pulse.read()]);
  return { config: read[0], memory: read[1], costs: read[2], chat: read[3], pulse: read[4] };
}

/** An edit by hand is another revision too, so that nobody who has seen the old one writes over it. */
function withNextRevision(before: BlockConfig, found: BlockConfig): BlockConfig {
  return found.rev > before.rev ? found : { ...found, rev: before.rev + 1 };
}

/** F1. `archived` are those that are on disk in the archive already; what is put there is added. */
async function moveOld(folder: string, archived: WeakSet<ChatEntry>, entries: Entries, now: string): Promise<Entries> {
  const { kept, old } = splitOld(entries);
  if (old.length === 0) return entries;
  const missing = old.filter((entry) => !archived.has(entry));
  if (missing.length > 0) await addToArchive(folder, missing, now);
  for (const entry of missing) archived.add(entry);
  return kept;
}

async function addToArchive(folder: string, entries: Entries, now: string): Promise<void> {
  const archive = join(folder, 'chat-archive');
  // Not with those above it: a block that was removed must not come back.
  await mkdir(archive, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  const file = await open(join(archive, `${now.slice(0, 7)}.jsonl`), APPEND, 0o600);
  try {
    const start = (await endsLine(file)) ? '' : '\n';
    await file.appendFile(start + entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
    await file.sync();
  } finally {
    await file.close();
  }
  await syncFolder(archive);
}

/** F2. */
async function endsLine(file: FileHandle): Promise<boolean> {
  const stats = await file.stat();
  if (!stats.isFile()) throw new Error('the archive of the chat is not a regular file');
  if (stats.size === 0) return true;
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, stats.size - 1);
  return buffer[0] === 0x0a;
}
