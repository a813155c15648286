// Makes, archives, restores and deletes the folders of blocks. Each move is one rename, so after a crash the block is complete in one of two places.
//
// whole-folder: a new folder is written completely, and synced, under a temporary name beside its place, and then renamed.
// no-replacement: a rename never replaces anything: the target is checked first, and only one process holds the workspace.
// moved-is-moved: after its rename a folder has moved, even if the disk did not confirm it. The caller does what follows from the move, and then
//   throws the error that it gets.
// hidden-remains: files that can't be removed are hidden under a temporary name. They don't disturb anything, and each start tries to remove them.

import { randomBytes } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { formatFile } from '../../../block/documents/document-codecs.ts';
import { BlockhouseError } from '../../../errors.ts';
import type { ArchiveInfo } from '../../../schemas/block-api.ts';
import type { BlockConfig } from '../../../schemas/block-config.ts';
import { archiveName } from '../../../schemas/names.ts';
import type { Stored, Unconfirmed } from '../../port.ts';
import type { Built } from '../../store.ts';
import { ensureFolder, isTemporaryName, renameDurably, replaceFile, storageFailure, syncFolder, unflushed, writeNewFile } from '../atomic-file.ts';
import { ARCHIVE_INFO, findArchive, listArchives } from './archive-info.ts';
import { BLOCK_FOLDERS } from '../../parts/block-layout.ts';
import { freshFiles } from './files.ts';

/** The folders `blocks` and `archive` of a workspace. */
export class BlockFolders {
  readonly blocks: string;
  readonly archive: string;

  constructor(workspace: string) {
    this.blocks = join(workspace, 'blocks');
    this.archive = join(workspace, 'archive');
  }

  /** Makes the two folders, and removes what a crash left behind. `onFault` is called for each item that can't be removed. */
  async open(onFault: (what: string, error: unknown) => void): Promise<void> {
    for (const folder of [this.blocks, this.archive]) {
      await ensureFolder(folder);
      for (const name of await readdir(folder)) {
        if (!isTemporaryName(name)) continue;
        await rm(join(folder, name), { recursive: true, force: true }).catch((error: unknown) => onFault(`${basename(folder)}/${name}`, error));
      }
    }
  }

  /** The folder of a block, whether or not it exists. */
  folderOf(name: string): string {
    return join(this.blocks, name);
  }

  /** Makes a new block with this configuration. Throws NAME_TAKEN. */
  async create(config: BlockConfig): Promise<Built> {
    this.assertFree(config.name);
    return this.build(writeFresh, () => Promise.resolve(config));
  }

  /**
   * Makes a block: `fill` writes its files into the new folder, and `configure` returns the configuration, which names the block. Throws NAME_TAKEN.
   * whole-folder.
   */
  async build(fill: (folder: string) => Promise<void>, configure: (folder: string) => Promise<BlockConfig>): Promise<Built> {
    const temporary = join(this.blocks, `.new.${randomBytes(8).toString('hex')}.tmp`);
    try {
      await mkdir(temporary, { mode: 0o700 });
      await fill(temporary);
      const config = await configure(temporary);
      await prepareFile(join(temporary, 'config.json'), formatFile(config));
      const unconfirmed = await this.#move(temporary, this.folderOf(config.name), () => this.assertFree(config.name));
      return { name: config.name, unconfirmed };
    } catch (error) {
      await rm(temporary, { recursive: true, force: true });
      throw storageFault(error);
    }
  }

  /** Moves a block's folder into the archive. Resolves with its name there. */
  async store(name: string, facts: Omit<ArchiveInfo, 'archiveName' | 'originalName' | 'archivedAt'>, at: Date): Promise<Stored> {
    const note = join(this.folderOf(name), ARCHIVE_INFO);
    try {
      const stored = this.#freeArchiveName(name, at);
      const info: ArchiveInfo = { archiveName: stored, originalName: name, archivedAt: at.toISOString(), ...facts };
      await prepareFile(note, formatFile(info));
      const unconfirmed = await this.#move(this.folderOf(name), join(this.archive, stored));
      return { archiveName: stored, unconfirmed: unconfirmed ?? (await confirmed(this.blocks)) };
    } catch (error) {
      await rm(note, { force: true }).catch(() => undefined); // the block has not moved, and nothing reads archive.json here
      throw storageFault(error);
    }
  }

  /** The archived blocks, the newest first. */
  list(): Promise<ArchiveInfo[]> {
    return listArchives(this.archive);
  }

  /** Finds an archived block as `findArchive` does. Throws ARCHIVE_NOT_FOUND, AMBIGUOUS_ARCHIVE. */
  find(given: string): Promise<ArchiveInfo> {
    return findArchive(this.archive, given);
  }

  /** Brings an archived block back under `name`, with this configuration. Throws NAME_TAKEN. */
  async restore(info: ArchiveInfo, config: BlockConfig): Promise<Unconfirmed> {
    const from = this.archivedFolder(info);
    this.assertFree(config.name);
    try {
      await prepareFile(join(from, 'config.json'), formatFile(config));
      const unconfirmed = await this.#move(from, this.folderOf(config.name), () => this.assertFree(config.name));
      await rm(join(this.folderOf(config.name), ARCHIVE_INFO), { force: true }).catch(() => undefined); // nothing reads it here
      return unconfirmed ?? (await confirmed(this.archive));
    } catch (error) {
      throw storageFault(error);
    }
  }

  /** The folder of an archived block. */
  archivedFolder(info: ArchiveInfo): string {
    return join(this.archive, info.archiveName);
  }

  /** Deletes an archived block: one rename hides it, then its files are removed. */
  async remove(info: ArchiveInfo): Promise<Unconfirmed> {
    const hidden = `.${info.archiveName}.${randomBytes(8).toString('hex')}.tmp`;
    let unconfirmed: Unconfirmed;
    try {
      unconfirmed = await this.#move(this.archivedFolder(info), join(this.archive, hidden));
    } catch (error) {
      throw storageFault(error);
    }
    try {
      await rm(join(this.archive, hidden), { recursive: true, force: true });
    } catch (error) {
      return remains(info.archiveName, hidden, error as NodeJS.ErrnoException);
    }
    return unconfirmed;
  }

  #freeArchiveName(name: string, at: Date): string {
    for (let ms = at.getTime(); ; ms += 1) {
      const candidate = archiveName(name, new Date(ms));
      if (lstatSync(join(this.archive, candidate), { throwIfNoEntry: false }) === undefined) return candidate;
    }
  }

  /** Throws NAME_TAKEN if anything has this name, even a broken link. */
  assertFree(name: string): void {
    let found: unknown;
    try {
      found = lstatSync(this.folderOf(name), { throwIfNoEntry: false });
    } catch (error) {
      throw storageFault(error);
    }
    if (found !== undefined) throw new BlockhouseError('NAME_TAKEN', `A block named ${name} already exists; choose another name.`);
  }

  /** no-replacement, moved-is-moved. */
  async #move(from: string, to: string, assertFree: () => void = () => undefined): Promise<Unconfirmed> {
    let refusal: unknown;
    const isFree = (): boolean => {
      try {
        assertFree();
        return true;
      } catch (error) {
        refusal = error;
        return false;
      }
    };
    const outcome = await renameDurably(from, to, isFree).catch((error: unknown) => {
      if (error instanceof BlockhouseError) return error; // it was renamed
      assertFree(); // another program may have been faster
      throw error;
    });
    if (outcome === false) throw refusal;
    return outcome === true ? undefined : outcome;
  }
}

/** Writes a file into a folder before its move. An unconfirmed write is an ordinary failure here, because nothing has moved yet. */
async function prepareFile(path: string, content: string): Promise<void> {
  await replaceFile(path, content).catch((error: unknown) => {
    throw error instanceof BlockhouseError && error.code === 'STORAGE_FAILED' ? error.cause : error;
  });
}

/** moved-is-moved, for the folder that the block left. */
async function confirmed(folder: string): Promise<Unconfirmed> {
  try {
    await syncFolder(folder).catch(unflushed);
    return undefined;
  } catch (error) {
    return error as BlockhouseError;
  }
}

/** hidden-remains. */
function remains(archiveName: string, hidden: string, error: NodeJS.ErrnoException): BlockhouseError {
  const message = `${archiveName} was deleted, but some of its files could not be removed (${error.code ?? error.message}). The rest is in archive/${hidden}; remove it by hand, or the server tries again when it next starts.`;
  return new BlockhouseError('STORAGE_FAILED', message, { cause: error });
}

async function writeFresh(folder: string): Promise<void> {
  for (const [name, text] of freshFiles()) await writeNewFile(join(folder, name), text);
  for (const name of BLOCK_FOLDERS) await mkdir(join(folder, name), { mode: 0o700 });
}

function storageFault(error: unknown): BlockhouseError {
  return storageFailure("The folder of the block can't be written or moved", error);
}
