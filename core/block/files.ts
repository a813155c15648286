// The five files of one block, and the archive of its chat.
//
// F1 Entries leave chat.json only after they are on disk in chat-archive/; those that a crash left in both are told apart by their ids.
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { BlockFile } from '../bus.ts';
import { noCosts } from '../monitor/costs.ts';
import type { BlockConfig, BlockCosts, BlockMemory, BlockPulse } from '../schemas/block.ts';
import { ensureFolder, syncFolder } from '../workspace/atomic-file.ts';
import { JsonFile } from '../workspace/json-file.ts';
import { type Entries, formatChat, parseChat, splitOld } from './chat-file.ts';
import { formatFile, freshMemory, freshPulse, parseConfig, parseCosts, parseMemory, parsePulse } from './contents.ts';

const MIB = 1024 * 1024;
const MAX_BYTES = { config: 4 * MIB, memory: 32 * MIB, costs: 16 * MIB, pulse: 4 * MIB, chat: 64 * MIB } as const;

/** What a block's files tell. */
export interface FileListener {
  /** After a change that matters to somebody, by whomever. */
  onChanged(file: BlockFile, own: boolean): void;
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
    parts: { parse(value: unknown): BlockContents[F]; missing?(): BlockContents[F]; format(value: BlockContents[F]): string },
    beforeWrite?: (value: BlockContents[F]) => Promise<BlockContents[F]>,
  ): JsonFile<BlockContents[F]> =>
    new JsonFile<BlockContents[F]>(join(folder, `${id}.json`), {
      ...parts,
      maxBytes: MAX_BYTES[id],
      ...(beforeWrite !== undefined && { beforeWrite }),
      onChanged: (_value, { own, quiet }) => {
        if (!quiet) listener.onChanged(id, own);
      },
      onDamaged: (reason, copy) => listener.onDamaged(id, reason, copy),
    });
  return {
    config: file('config', { parse: (value) => parseConfig(value, name, now()), format: formatFile }),
    memory: file('memory', { parse: parseMemory, missing: freshMemory, format: formatFile }),
    costs: file('costs', { parse: (value) => parseCosts(value, noCosts()), missing: noCosts, format: formatFile }),
    pulse: file('pulse', { parse: parsePulse, missing: freshPulse, format: formatFile }),
    chat: file('chat', { parse: parseChat, missing: () => [], format: formatChat }, (entries) => moveOld(folder, entries, now())),
  };
}

/** F1. */
async function moveOld(folder: string, entries: Entries, now: string): Promise<Entries> {
  const { kept, old } = splitOld(entries);
  if (old.length === 0) return entries;
  const archive = join(folder, 'chat-archive');
  await ensureFolder(archive);
  const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
  const file = await open(join(archive, `${now.slice(0, 7)}.jsonl`), flags, 0o600);
  try {
    await file.appendFile(old.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
    await file.sync();
  } finally {
    await file.close();
  }
  await syncFolder(archive);
  return kept;
}
