// The list of blocks, without reading all of them each time: one entry for each, made anew when its block has changed.
//
// background-look: A block that is held open tells of its changes itself. Edits by hand of the others are found by the times of their files, in the
//   background after a list was asked for, and are in the next list.
// in-slices: Loading and looking go in slices, so that ten thousand blocks hold up nobody. A caller waits for what was out of date when it asked,
//   and not for what busy blocks make out of date meanwhile.
import { type Dirent, lstatSync, readdirSync, statSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { BlockhouseError } from '../errors.ts';
import type { BlockEntry } from '../schemas/block-api.ts';
import { isTemporaryName } from '../workspace/atomic-file.ts';
import { stampOf } from '../workspace/file-stamp.ts';
import { type BlockContents, FILE_NAMES } from './files.ts';
import { isBlockName } from './names.ts';
import { damagedEntry, entryOf } from './summary.ts';

interface Known {
  entry: BlockEntry | undefined;
  /** Of the files, when the entry was made. */
  stamp: number;
}

/** Where the blocks are, and how they are read. */
export interface BlockIndexOptions {
  /** The folder of all blocks. */
  readonly folder: string;
  /** Reads a block from disk. Throws BLOCK_DAMAGED. */
  read(name: string): Promise<BlockContents>;
  /** True for a block that tells of its changes itself (background-look). */
  isOpen(name: string): boolean;
  /** Epoch milliseconds. */
  now(): number;
  onFault(what: string, error: unknown): void;
}

/** Blocks in one slice, which takes some milliseconds. */
const SLICE = 50;
/** The shortest time between two looks at the files of blocks that are not open. */
const LOOK_EVERY_MS = 2000;

/** The blocks of a workspace, by name. */
export class BlockIndex {
  readonly #options: BlockIndexOptions;
  readonly #known = new Map<string, Known>();
  readonly #stale = new Set<string>();
  #sorted: readonly BlockEntry[] | undefined;
  #folderStamp = '';
  #lookedAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | undefined;
  #renewing: Promise<void> | undefined;
  #day = '';

  constructor(options: BlockIndexOptions) {
    this.#options = options;
  }

  /** How many blocks there are. */
  get size(): number {
    this.#findNames();
    return this.#known.size;
  }

  /** True for a folder with the name of a block; a link is not a block. */
  has(name: string): boolean {
    if (!isBlockName(name)) return false;
    try {
      return lstatSync(join(this.#options.folder, name)).isDirectory();
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT' || code === 'ENOTDIR') return false;
      throw error;
    }
  }

  /** Sorted by name. The same frozen entries until something changes. */
  async list(): Promise<readonly BlockEntry[]> {
    this.#findNames();
    this.#startDay();
    await this.#renew();
    this.#lookAround();
    this.#sorted ??= [...this.#known.values()].flatMap(({ entry }) => (entry === undefined ? [] : [entry])).sort((a, b) => (a.name < b.name ? -1 : 1));
    return this.#sorted;
  }

  /** The entry of a block may be out of date. */
  markStale(name: string): void {
    if (this.#known.has(name)) this.#stale.add(name);
  }

  /** Something that all entries depend on has changed: credentials. */
  markAllStale(): void {
    for (const name of this.#known.keys()) this.#stale.add(name);
  }

  /** Folders were added or moved away. */
  rescan(): void {
    this.#folderStamp = '';
  }

  /** Reads the names when the time of the folder has changed. */
  #findNames(): void {
    const { folder, onFault } = this.#options;
    try {
      // Of the folder itself, also where `blocks` is a link that its owner has made, to a larger disk perhaps.
      const { mtimeNs, ino } = statSync(folder, { bigint: true });
      const stamp = `${ino}:${mtimeNs}`;
      if (stamp === this.#folderStamp) return;
      this.#take(readdirSync(folder, { withFileTypes: true }));
      this.#folderStamp = stamp;
    } catch (error) {
      onFault('blocks', error);
    }
  }

  /** A link is not a block: it leads out of the workspace. */
  #take(found: readonly Dirent[]): void {
    const names = new Set(found.filter((item) => item.isDirectory() && isBlockName(item.name)).map(({ name }) => name));
    for (const name of this.#known.keys()) if (!names.has(name)) this.#forget(name);
    for (const name of names) {
      if (this.#known.has(name)) continue;
      this.#known.set(name, { entry: undefined, stamp: 0 });
      this.#stale.add(name);
    }
    this.#sorted = undefined;
  }

  #forget(name: string): void {
    this.#known.delete(name);
    this.#stale.delete(name);
    this.#sorted = undefined;
  }

  /** What was spent today changes at midnight. */
  #startDay(): void {
    const day = new Date(this.#options.now()).toISOString().slice(0, 10);
    if (this.#day !== '' && this.#day !== day) this.markAllStale();
    this.#day = day;
  }

  /** in-slices. Callers that come at the same time wait for the same round. */
  async #renew(): Promise<void> {
    await this.#renewing; // it may have passed by what was out of date when we asked
    if (this.#stale.size === 0) return;
    this.#renewing ??= this.#renewAll().finally(() => {
      this.#renewing = undefined;
    });
    await this.#renewing;
  }

  async #renewAll(): Promise<void> {
    let count = 0;
    for (const name of [...this.#stale]) {
      await this.#renewOne(name);
      count += 1;
      if (count % SLICE === 0) await nextTurn();
    }
  }

  async #renewOne(name: string): Promise<void> {
    const known = this.#known.get(name);
    this.#stale.delete(name);
    if (known === undefined) return;
    const stamp = this.#stampOf(name);
    const entry = await this.#make(name);
    if (entry === undefined) {
      this.#forget(name);
      return;
    }
    known.entry = entry;
    known.stamp = stamp;
    this.#sorted = undefined;
  }

  async #make(name: string): Promise<BlockEntry | undefined> {
    try {
      return entryOf(await this.#options.read(name), new Date(this.#options.now()).toISOString().slice(0, 10));
    } catch (error) {
      if (!this.has(name)) return undefined;
      return damagedEntry(name, error instanceof BlockhouseError ? error.message : 'One of its files could not be read.');
    }
  }

  /** background-look. */
  #lookAround(): void {
    const { now, onFault } = this.#options;
    // A clock that is set back must not end the looking.
    if (this.#looking !== undefined || Math.abs(now() - this.#lookedAt) < LOOK_EVERY_MS) return;
    this.#looking = this.#lookAtAll()
      .catch((error: unknown) => onFault('blocks', error))
      .finally(() => {
        this.#lookedAt = now();
        this.#looking = undefined;
      });
  }

  async #lookAtAll(): Promise<void> {
    let count = 0;
    for (const [name, known] of [...this.#known]) {
      if (!this.#options.isOpen(name) && known.entry !== undefined && this.#stampOf(name) !== known.stamp) this.markStale(name);
      count += 1;
      if (count % SLICE === 0) await nextTurn();
    }
  }

  /** One number for the times and sizes of the files: it is kept ten thousand times, and only compared. */
  #stampOf(name: string): number {
    let stamp = 0;
    const mix = (value: number): void => {
      stamp = Math.imul(stamp ^ value, 0x01000193) ^ (stamp >>> 15);
    };
    for (const file of FILE_NAMES) {
      for (const part of stampOf(join(this.#options.folder, name, `${file}.json`)).split(':')) mix(Number(part) % 0x1_0000_0000 || part.length);
    }
    return stamp;
  }
}

/** Removes what a crash has left in a block's folder. Never throws: what can't be removed does no harm. */
export function sweep(folder: string, onFault: (what: string, error: unknown) => void): void {
  try {
    for (const name of readdirSync(folder)) if (isTemporaryName(name)) unlinkSync(join(folder, name));
  } catch (error) {
    onFault('sweep', error);
  }
}
