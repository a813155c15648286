// The five files of one block, and the archive of its chat. costs.json follows from the ledger and pulse.json from what the monitor does, so
// these two are derived files.
import { join } from 'node:path';
import type { BlockFile } from '../bus.ts';
import { noCosts } from '../monitor/costs.ts';
import type { BlockConfig, BlockCosts, BlockMemory, BlockPulse } from '../schemas/block.ts';
import { type ChangeNotice, JsonFile, type JsonFileOptions } from '../workspace/json-file.ts';
import { ChatArchive } from './chat-archive.ts';
import { type Entries, formatChat, parseChat } from './chat-file.ts';
import { splitOld } from './chat-retention.ts';
import { formatFile, freshMemory, freshPulse, parseConfig, parseCosts, parseMemory, parsePulse } from './contents.ts';

const MIB = 1024 * 1024;
const MAX_BYTES = { config: 4 * MIB, memory: 32 * MIB, costs: 16 * MIB, pulse: 4 * MIB, chat: 64 * MIB } as const;

/** Hears what happens to the files of a block. */
export interface FileListener {
  /** Called after each change that matters to somebody, whether it was written here or by hand. */
  onChanged(file: BlockFile, change: ChangeNotice): void;
  onDamaged(file: BlockFile, reason: string, copy: string | undefined): void;
  /** Called when a derived file could not be read and begins anew. */
  onRebuilt(file: BlockFile, reason: string): void;
}

/** What the files hold. */
export interface BlockContents {
  readonly config: BlockConfig;
  readonly memory: BlockMemory;
  readonly costs: BlockCosts;
  readonly pulse: BlockPulse;
  readonly chat: Entries;
}

/** The files of a block, each with its one writer. */
export type BlockFileSet = { readonly [F in BlockFile]: JsonFile<BlockContents[F]> } & { readonly archive: ChatArchive };

/** The files that every block has. */
export const FILE_NAMES = ['config', 'memory', 'costs', 'pulse', 'chat'] as const satisfies readonly BlockFile[];

/** Opens the files in `folder`. `now` gives ISO time. */
export function openFiles(folder: string, name: string, listener: FileListener, now: () => string): BlockFileSet {
  const file = <F extends BlockFile>(
    id: F,
    parts: Pick<JsonFileOptions<BlockContents[F]>, 'parse' | 'missing' | 'format' | 'onForeign'>,
    options: { readonly derived?: true; beforeWrite?(value: BlockContents[F]): Promise<BlockContents[F]> } = {},
  ): JsonFile<BlockContents[F]> =>
    new JsonFile<BlockContents[F]>(join(folder, `${id}.json`), {
      ...parts,
      maxBytes: MAX_BYTES[id],
      ...(options.beforeWrite !== undefined && { beforeWrite: options.beforeWrite }),
      ...(options.derived && { derived: { onRebuilt: (reason: string) => listener.onRebuilt(id, reason) } }),
      onChanged: (_value, change) => {
        if (!change.quiet) listener.onChanged(id, change);
      },
      onDamaged: (reason, copy) => listener.onDamaged(id, reason, copy),
    });
  const archive = new ChatArchive(join(folder, 'chat-archive'));
  const moveOld = async (entries: Entries): Promise<Entries> => {
    const { kept, old } = splitOld(entries);
    if (old.length > 0) await archive.append(old, now());
    return kept;
  };
  return {
    config: file('config', { parse: (value) => parseConfig(value, name, now()), format: formatFile, onForeign: withNextRevision }),
    memory: file('memory', { parse: parseMemory, missing: freshMemory, format: formatFile }),
    costs: file('costs', { parse: (value) => parseCosts(value, noCosts()), missing: noCosts, format: formatFile }, { derived: true }),
    pulse: file('pulse', { parse: parsePulse, missing: freshPulse, format: formatFile }, { derived: true }),
    chat: file('chat', { parse: parseChat, missing: () => [], format: formatChat }, { beforeWrite: moveOld }),
    archive,
  };
}

/** An edit by hand is another revision too, so that nobody who has seen the old one writes over it. */
function withNextRevision(before: BlockConfig, found: BlockConfig): BlockConfig {
  return found.rev > before.rev ? found : { ...found, rev: before.rev + 1 };
}
