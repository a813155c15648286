// The archive of a workspace in its folder.
import { BlockhouseError, invalidRequest } from '../../../errors.ts';
import type { ArchiveInfo } from '../../../schemas/block-api.ts';
import type { BlockConfig } from '../../../schemas/block-config.ts';
import type { Claim, Stored, Unconfirmed } from '../../port.ts';
import type { ArchiveStore, Built } from '../../store.ts';
import { isPassingFault, readFault } from '../regular-file.ts';
import type { BlockFolders } from './block-folders.ts';
import { configIn } from './config-in-folder.ts';
import { checkFiles } from './files.ts';

/** What the archive works with. */
export interface FileArchiveOptions {
  readonly folders: BlockFolders;
  /** Epoch milliseconds. */
  now(): number;
  /** Called after a block of this name has come or gone. */
  onMoved(name: string): void;
  /** Called after a block was deleted for good: what else was made of its files goes, too. */
  onRemoved(): Promise<void>;
}

/** The folder `archive` of a workspace. */
export class FileArchive implements ArchiveStore {
  readonly #options: FileArchiveOptions;

  constructor(options: FileArchiveOptions) {
    this.#options = options;
  }

  async store({ name }: Claim, ...facts: [Parameters<ArchiveStore['store']>[1], Date]): Promise<Stored> {
    const { folders, onMoved } = this.#options;
    const stored = await folders.store(name, ...facts);
    onMoved(name);
    return stored;
  }

  list(): Promise<ArchiveInfo[]> {
    return this.#options.folders.list();
  }

  find(given: string): Promise<ArchiveInfo> {
    return this.#options.folders.find(given);
  }

  config(info: ArchiveInfo, name: string): Promise<BlockConfig> {
    const { folders, now } = this.#options;
    return configIn(folders.archivedFolder(info), name, now()).catch((error: Error) => {
      if (isPassingFault(error)) throw error;
      const place = `archive/${info.archiveName}/config.json`;
      throw new BlockhouseError('BLOCK_DAMAGED', `${place} can't be used: ${readFault(error)}. Repair it by hand.`, { cause: error });
    });
  }

  async restore(info: ArchiveInfo, config: BlockConfig): Promise<Unconfirmed> {
    const { folders, onMoved } = this.#options;
    const unconfirmed = await folders.restore(info, config);
    onMoved(config.name);
    return unconfirmed;
  }

  async remove(info: ArchiveInfo): Promise<Unconfirmed> {
    const { folders, onRemoved } = this.#options;
    const unconfirmed = await folders.remove(info);
    await onRemoved();
    return unconfirmed;
  }

  async import(bundle: Uint8Array, wanted: string | undefined, accept: (config: BlockConfig) => Promise<void>): Promise<Built> {
    const { folders, now, onMoved } = this.#options;
    const built = await folders.build(
      async (folder) => {
        const { unpackInto } = await import('../bundle/bundle-unpack.ts');
        await unpackInto(bundle, folder);
      },
      async (folder) => {
        const config = await configIn(folder, wanted, now()).catch((error: Error) => {
          if (isPassingFault(error)) throw error;
          throw invalidRequest('', `The config.json in the archive can't be used: ${readFault(error)}.`);
        });
        await checkFiles(folder);
        await accept(config);
        return config;
      },
    );
    onMoved(built.name);
    return built;
  }
}
