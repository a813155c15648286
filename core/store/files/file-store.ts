// A workspace in its folder.
import type { CoreBus } from '../../bus.ts';
import type { ArchiveStore, BlockStore, Store } from '../store.ts';
import { BlockFolders } from './block/block-folders.ts';
import { FileArchive } from './block/file-archive.ts';
import { FileBlocks } from './block/file-blocks.ts';

/** What a store works with. */
export interface FileStoreOptions {
  readonly workspace: string;
  readonly bus: CoreBus;
  /** Epoch milliseconds. */
  now(): number;
}

/** The store of a workspace whose lock this process holds. */
export class FileStore implements Store {
  readonly blocks: BlockStore;
  readonly archive: ArchiveStore;

  constructor({ workspace, bus, now }: FileStoreOptions) {
    const folders = new BlockFolders(workspace);
    const blocks = new FileBlocks({ folders, bus, now });
    this.blocks = blocks;
    this.archive = new FileArchive({ folders, now, onMoved: (name) => blocks.moved(name) });
  }
}
