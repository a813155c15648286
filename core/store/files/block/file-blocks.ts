// The blocks of a workspace in their folders.
//
// swept-first: what a crash left behind in a folder is removed before the block is read for the first time.
import type { CoreBus, Timing } from '../../../bus.ts';
import { faultText } from '../../../errors.ts';
import type { BlockConfig } from '../../../schemas/block-config.ts';
import type { BlockContents, BlockRef, Unconfirmed } from '../../port.ts';
import type { BlockList, BlockListener, BlockStore, DamageListener, EntrySource, Rename, RenameByMoves, StoredBlock } from '../../store.ts';
import { ContentRoom } from '../../parts/content-room.ts';
import { FolderWatches } from '../watch.ts';
import type { BlockFolders } from './block-folders.ts';
import { BlockIndex, sweep } from './block-index.ts';
import { FileBlock } from './file-block.ts';
import { openFiles, readContents } from './files.ts';
import { endRename, forgetRename, noteRename, RENAME_NOTE } from './rename-note.ts';

/** What the blocks work with. */
export interface FileBlocksOptions {
  readonly folders: BlockFolders;
  readonly bus: CoreBus;
  /** Epoch milliseconds. */
  now(): number;
}

/** The folder `blocks` of a workspace. */
export class FileBlocks implements BlockStore {
  readonly #options: FileBlocksOptions;
  readonly #watches: FolderWatches;
  /** swept-first. */
  readonly #swept = new Set<string>();
  readonly #timing: Timing;
  readonly #room = new ContentRoom();
  #index: BlockIndex | undefined;

  constructor(options: FileBlocksOptions) {
    this.#options = options;
    this.#timing = (work) => options.bus.time('file', work);
    this.#watches = new FolderWatches({
      onFault: (folder, error) => options.bus.emit('workspace.fault', { what: `watch ${folder}`, error: error.message }),
    });
  }

  async open(): Promise<Rename | undefined> {
    const { folders, now } = this.#options;
    await folders.open(this.#onFault);
    return endRename(folders, now()).catch((error: unknown) => {
      this.#onFault(`archive/${RENAME_NOTE}`, error);
      return undefined;
    });
  }

  close(): Promise<void> {
    return this.#watches.close();
  }

  list(source: EntrySource): BlockList {
    const { folders, now } = this.#options;
    this.#index = new BlockIndex({ ...source, folder: folders.blocks, now, onFault: this.#onFault });
    return this.#index;
  }

  block({ name }: BlockRef, listener: BlockListener): StoredBlock {
    this.#sweep(name);
    const { folders, now } = this.#options;
    return new FileBlock({ name, folder: folders.folderOf(name), watches: this.#watches, listener, now, timing: this.#timing, room: this.#room });
  }

  contents(name: string, listener: DamageListener): Promise<BlockContents> {
    this.#sweep(name);
    const { folders, now } = this.#options;
    return readContents(openFiles(folders.folderOf(name), name, { ...listener, onChanged: () => undefined }, () => new Date(now()).toISOString()));
  }

  async assertFree(name: string): Promise<void> {
    this.#options.folders.assertFree(name);
  }

  async create(config: BlockConfig): Promise<Unconfirmed> {
    const { unconfirmed } = await this.#options.folders.create(config);
    this.moved(config.name);
    return unconfirmed;
  }

  readonly renaming: RenameByMoves = {
    begin: (rename) => noteRename(this.#options.folders, rename),
    end: () => forgetRename(this.#options.folders),
  };

  /** The blocks that are to run. */
  async enabled(): Promise<readonly BlockRef[]> {
    const entries = (await this.#index?.list()) ?? [];
    return entries.filter(({ config, configError }) => config.enabled === true || configError !== undefined).map(({ name }) => ({ name, block: 0 }));
  }

  /** How many blocks there are, as far as the list is used. */
  count(): number {
    return this.#index?.names().length ?? 0;
  }

  /** A block of this name has come or gone. */
  moved(name: string): void {
    this.#swept.delete(name);
    this.#index?.rescan();
  }

  #sweep(name: string): void {
    if (this.#swept.has(name)) return;
    this.#swept.add(name);
    sweep(this.#options.folders.folderOf(name), this.#onFault);
  }

  readonly #onFault = (what: string, error: unknown): void => this.#options.bus.emit('workspace.fault', { what, error: faultText(error) });
}
