// Folders of blocks on the move: made, archived, brought back, deleted. Each is one rename, so that a crash leaves the block
// whole on one side or the other.
//
// V1 A new folder is written whole, and synced, under a temporary name beside its place, and then renamed.
// V2 A rename never replaces anything: the place is looked at first, and one process holds the workspace.
// V3 What was moved has moved, also when the disk did not confirm it: who moved it gets the error to tell, and does what follows from the move.
// V4 Remains that can't be removed keep nobody from anything: they are out of sight, and tried again at each start.
import { randomBytes } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { lstat, mkdir, opendir, readdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { BlockhouseError } from '../errors.ts';
import { tryParseJson } from '../json.ts';
import { noCosts } from '../monitor/costs.ts';
import { ArchiveInfo, type BlockConfig } from '../schemas/block.ts';
import { compile, type Validator } from '../schemas/validate.ts';
import { ensureFolder, isTemporaryName, renameDurably, replaceFile, storageFailure, syncFolder, unflushed, writeNewFile } from '../workspace/atomic-file.ts';
import { readRegular } from '../workspace/regular-file.ts';
import { formatFile, freshMemory, freshPulse } from './contents.ts';
import { archiveName, archiveNotFound, nameInArchive } from './names.ts';

const checkInfo: Validator<ArchiveInfo> = compile(ArchiveInfo);
const INFO = 'archive.json';
const MAX_INFO_BYTES = 65_536;
/** So many archives are looked at before others have their turn. */
const SLICE = 50;

/** V3. What to tell of a change that was made without being confirmed, or not made whole; undefined when all is well. */
export type Unconfirmed = BlockhouseError | undefined;

export interface Stored {
  readonly archiveName: string;
  readonly unconfirmed: Unconfirmed;
}

export interface Built {
  readonly name: string;
  readonly unconfirmed: Unconfirmed;
}

export class Vault {
  readonly blocks: string;
  readonly archive: string;

  constructor(workspace: string) {
    this.blocks = join(workspace, 'blocks');
    this.archive = join(workspace, 'archive');
  }

  /** Makes the two folders, and removes what a crash left half made; `onFault` hears of what can't be removed (V4). */
  async open(onFault: (what: string, error: unknown) => void): Promise<void> {
    for (const folder of [this.blocks, this.archive]) {
      await ensureFolder(folder);
      for (const name of await readdir(folder)) {
        if (!isTemporaryName(name)) continue;
        await rm(join(folder, name), { recursive: true, force: true }).catch((error: unknown) => onFault(`${basename(folder)}/${name}`, error));
      }
    }
  }

  folderOf(name: string): string {
    return join(this.blocks, name);
  }

  /** V1. Throws NAME_TAKEN. */
  async create(config: BlockConfig): Promise<Built> {
    this.assertFree(config.name);
    return this.#build(writeFresh, () => Promise.resolve(config));
  }

  /** V1. `fill` writes what a block has into the new folder, `configure` says how it is to be called and set. */
  import(fill: (folder: string) => Promise<void>, configure: (folder: string) => Promise<BlockConfig>): Promise<Built> {
    return this.#build(fill, configure);
  }

  async #build(fill: (folder: string) => Promise<void>, configure: (folder: string) => Promise<BlockConfig>): Promise<Built> {
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
    const note = join(this.folderOf(name), INFO);
    try {
      const stored = this.#freeArchiveName(name, at);
      const info: ArchiveInfo = { archiveName: stored, originalName: name, archivedAt: at.toISOString(), ...facts };
      await prepareFile(note, formatFile(info));
      const unconfirmed = await this.#move(this.folderOf(name), join(this.archive, stored));
      return { archiveName: stored, unconfirmed: unconfirmed ?? (await confirmed(this.blocks)) };
    } catch (error) {
      await rm(note, { force: true }).catch(() => undefined); // it says what is not so, and nobody reads it here
      throw storageFault(error);
    }
  }

  /** Newest first. */
  async list(): Promise<ArchiveInfo[]> {
    const names = (await readdir(this.archive, { withFileTypes: true })).filter((item) => item.isDirectory()).map(({ name }) => name);
    const infos: ArchiveInfo[] = [];
    // One after the other: ten thousand open files at once are more than a process may have.
    for (const name of names) {
      const info = await this.#info(name);
      if (info !== undefined) infos.push(info);
      if (infos.length % SLICE === 0) await nextTurn();
    }
    return infos.sort((a, b) => (a.archivedAt < b.archivedAt ? 1 : -1));
  }

  /** The one archive that is meant. Throws ARCHIVE_NOT_FOUND, AMBIGUOUS_ARCHIVE. */
  async find(given: string): Promise<ArchiveInfo> {
    const info = await this.#info(given);
    if (info !== undefined) return info;
    const named = (await this.list()).filter(({ originalName }) => originalName === given);
    if (named.length > 1) {
      const choices = named.map((one) => one.archiveName).join(', ');
      throw new BlockhouseError('AMBIGUOUS_ARCHIVE', `There are ${named.length} archived blocks ${given}: name one of ${choices}.`);
    }
    if (named[0] === undefined) throw archiveNotFound(given);
    return named[0];
  }

  /** Brings an archived block back under `name`, with this configuration. Throws NAME_TAKEN. */
  async restore(info: ArchiveInfo, config: BlockConfig): Promise<Unconfirmed> {
    const from = join(this.archive, info.archiveName);
    this.assertFree(config.name);
    try {
      await prepareFile(join(from, 'config.json'), formatFile(config));
      const unconfirmed = await this.#move(from, this.folderOf(config.name), () => this.assertFree(config.name));
      await rm(join(this.folderOf(config.name), INFO), { force: true }).catch(() => undefined); // nobody reads it here
      return unconfirmed ?? (await confirmed(this.archive));
    } catch (error) {
      throw storageFault(error);
    }
  }

  /** Where an archived block lies. */
  archivedFolder(info: ArchiveInfo): string {
    return join(this.archive, info.archiveName);
  }

  /** Out of sight by one rename, then file by file (V4). */
  async remove(info: ArchiveInfo): Promise<Unconfirmed> {
    const hidden = `.${info.archiveName}.${randomBytes(8).toString('hex')}.tmp`;
    let unconfirmed: Unconfirmed;
    try {
      unconfirmed = await this.#move(join(this.archive, info.archiveName), join(this.archive, hidden));
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

  async #info(name: string): Promise<ArchiveInfo | undefined> {
    const originalName = nameInArchive(name);
    if (originalName === undefined) return undefined;
    const stats = await lstat(join(this.archive, name)).catch(absent);
    if (stats?.isDirectory() !== true) return undefined;
    // Whoever put the folder there by hand, or cut its description short, still has the block.
    const text = await readRegular(join(this.archive, name, INFO), MAX_INFO_BYTES).catch(() => undefined);
    const info = text === undefined ? undefined : tryParseJson(text.toString());
    if (!isInfo(info)) return { archiveName: name, originalName, archivedAt: stats.mtime.toISOString() };
    return { ...info, archiveName: name, originalName };
  }

  #freeArchiveName(name: string, at: Date): string {
    for (let ms = at.getTime(); ; ms += 1) {
      const candidate = archiveName(name, new Date(ms));
      if (lstatSync(join(this.archive, candidate), { throwIfNoEntry: false }) === undefined) return candidate;
    }
  }

  /** Throws NAME_TAKEN, whatever stands there: a link that leads nowhere, too. */
  assertFree(name: string): void {
    let found: unknown;
    try {
      found = lstatSync(this.folderOf(name), { throwIfNoEntry: false });
    } catch (error) {
      throw storageFault(error);
    }
    if (found !== undefined) throw new BlockhouseError('NAME_TAKEN', `There is a block ${name} already; choose another name.`);
  }

  /** V2, V3. */
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
      assertFree(); // somebody else may have been faster
      throw error;
    });
    if (outcome === false) throw refusal;
    return outcome === true ? undefined : outcome;
  }
}

/** A file that goes with the folder, before that moves. One that was only not confirmed is a failure like any other: nothing has moved yet. */
async function prepareFile(path: string, content: string): Promise<void> {
  await replaceFile(path, content).catch((error: unknown) => {
    throw error instanceof BlockhouseError && error.code === 'STORAGE_FAILED' ? error.cause : error;
  });
}

/** V3, for the folder that was left. */
async function confirmed(folder: string): Promise<Unconfirmed> {
  try {
    await syncFolder(folder).catch(unflushed);
    return undefined;
  } catch (error) {
    return error as BlockhouseError;
  }
}

/** V4. */
function remains(archiveName: string, hidden: string, error: NodeJS.ErrnoException): BlockhouseError {
  const message = `${archiveName} is deleted, but not all of its files could be removed (${error.code ?? error.message}). What is left lies in archive/${hidden}: remove it by hand, or the server tries again at its next start.`;
  return new BlockhouseError('STORAGE_FAILED', message, { cause: error });
}

async function writeFresh(folder: string): Promise<void> {
  const contents = { memory: freshMemory(), costs: noCosts(), pulse: freshPulse(), chat: [] };
  for (const [name, content] of Object.entries(contents)) await writeNewFile(join(folder, `${name}.json`), formatFile(content));
  for (const name of ['chat-archive', 'logs']) await mkdir(join(folder, name), { mode: 0o700 });
}

/** How much of the disk a block takes; nothing where not all of it can be looked at. */
export async function measure(folder: string): Promise<{ readonly sizeBytes?: number; readonly files?: number }> {
  let sizeBytes = 0;
  let files = 0;
  try {
    for await (const item of await opendir(folder, { recursive: true })) {
      if (!item.isFile()) continue;
      sizeBytes += lstatSync(join(item.parentPath, item.name), { throwIfNoEntry: false })?.size ?? 0;
      files += 1;
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    return {};
  }
  return { sizeBytes, files };
}

function isInfo(value: unknown): value is ArchiveInfo {
  try {
    checkInfo(value);
    return true;
  } catch (error) {
    if (error instanceof BlockhouseError) return false;
    throw error;
  }
}

function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
  throw error;
}

function storageFault(error: unknown): BlockhouseError {
  return storageFailure("The folder of the block can't be written or moved", error);
}
