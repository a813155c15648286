// The list of blocks: one cached entry for each, rebuilt when its block has changed.
//
// background-look: an open block reports its changes itself. For the others, each `list` starts a comparison of file times in the background; the
//   edits that it finds are in the next list.
// small-share: the pause after a comparison grows with what it has cost, so that ten thousand blocks take no more of a core than twenty.
// in-slices: loading and comparing go in slices, so that ten thousand blocks don't block the event loop. A caller waits for the entries that were
//   out of date when it asked, not for those that become so meanwhile.

import { type Dirent, lstatSync, readdirSync, statSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { factsOf } from '../../../block/conversation/counts.ts';
import { BlockhouseError } from '../../../errors.ts';
import type { BlockEntry } from '../../../schemas/block-api.ts';
import { isBlockName } from '../../../schemas/names.ts';
import type { BlockRef } from '../../port.ts';
import type { BlockList, EntrySource, ListPage, ListQuery } from '../../store.ts';
import { isTemporaryName } from '../atomic-file.ts';
import { stampOfAll } from '../file-stamp.ts';
import { pageOfEntries } from './entry-page.ts';
import { FILE_NAMES } from './files.ts';

interface Known {
  entry: BlockEntry | undefined;
  /** The stamp of the files when the entry was made. */
  stamp: number;
}

/** The folder of the blocks, and how they are read. */
export interface BlockIndexOptions extends EntrySource {
  /** The folder of all blocks. */
  readonly folder: string;
  /** Epoch milliseconds. */
  now(): number;
  /** Monotonic milliseconds, to measure work with. */
  readonly elapsed?: () => number;
  onFault(what: string, error: unknown): void;
}

/** Blocks in one slice, which takes some milliseconds. */
const SLICE = 50;
/** The shortest time between two comparisons of the files of blocks that are not open. */
const LOOK_EVERY_MS = 2000;
/** The longest: an edit by hand is found within this time, however many blocks there are. */
const LOOK_AT_LATEST_MS = 60_000;
/** The part of a core that comparisons may take (small-share). */
const LOOK_SHARE = 0.003;

/** The blocks of a workspace, by name. */
export class BlockIndex implements BlockList {
  readonly #options: BlockIndexOptions;
  readonly #known = new Map<string, Known>();
  readonly #stale = new Set<string>();
  #sorted: readonly BlockEntry[] | undefined;
  #folderStamp = '';
  #lookedAt = Number.NEGATIVE_INFINITY;
  #pauseMs = LOOK_EVERY_MS;
  #looking: Promise<void> | undefined;
  #renewing: Promise<void> | undefined;
  #hour = '';

  constructor(options: BlockIndexOptions) {
    this.#options = options;
  }

  async counts(): ReturnType<BlockList['counts']> {
    this.#findNames();
    return { blocks: this.#known.size, monitorsRunning: this.#options.running() };
  }

  names(): string[] {
    this.#findNames();
    return [...this.#known.keys()];
  }

  find(name: string): BlockRef | undefined {
    return this.#has(name) ? { name, block: 0 } : undefined;
  }

  /** True if there is a folder with this name; a link is not a block. */
  #has(name: string): boolean {
    if (!isBlockName(name)) return false;
    try {
      return lstatSync(join(this.#options.folder, name)).isDirectory();
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT' || code === 'ENOTDIR') return false;
      throw error;
    }
  }

  get isStale(): boolean {
    return this.#stale.size > 0 || this.#folderStamp === '' || this.#sorted === undefined || this.#hourNow() !== this.#hour;
  }

  get listed(): readonly BlockEntry[] | undefined {
    return this.#sorted;
  }

  async list(): Promise<readonly BlockEntry[]> {
    this.#findNames();
    this.#startHour();
    await this.#renew();
    this.#lookAround();
    this.#sorted ??= [...this.#known.values()].flatMap(({ entry }) => (entry === undefined ? [] : [entry])).sort((a, b) => (a.name < b.name ? -1 : 1));
    return this.#sorted;
  }

  async page(query: ListQuery): Promise<ListPage> {
    return pageOfEntries(await this.list(), query);
  }

  markStale(name: string): void {
    if (this.#known.has(name)) this.#stale.add(name);
  }

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
      // `statSync` follows a link, because `blocks` may be a link to a larger disk.
      const { mtimeNs, ino } = statSync(folder, { bigint: true });
      const stamp = `${ino}:${mtimeNs}`;
      if (stamp === this.#folderStamp) return;
      this.#take(readdirSync(folder, { withFileTypes: true }));
      this.#folderStamp = stamp;
    } catch (error) {
      onFault('blocks', error);
    }
  }

  /** Skips links, which lead out of the workspace. */
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

  /** Marks the entries that are others in a new hour: those with answers in the last 24, and at midnight all, since they have today's spending. */
  #startHour(): void {
    const hour = this.#hourNow();
    if (this.#hour !== '' && this.#hour !== hour) {
      const isNewDay = this.#hour.slice(0, 10) !== hour.slice(0, 10);
      for (const [name, { entry }] of this.#known) if (isNewDay || entry?.activity.some((answers) => answers > 0) === true) this.#stale.add(name);
    }
    this.#hour = hour;
  }

  #hourNow(): string {
    return new Date(this.#options.now()).toISOString().slice(0, 13);
  }

  /** in-slices. Callers that come at the same time wait for the same round. */
  async #renew(): Promise<void> {
    await this.#renewing; // that round may have missed entries that were out of date when we asked
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
    const { read, entryOf, damagedEntry, now } = this.#options;
    try {
      return entryOf(factsOf(await read(name)), now());
    } catch (error) {
      if (!this.#has(name)) return undefined;
      return damagedEntry(name, error instanceof BlockhouseError ? error.message : 'One of its files could not be read.');
    }
  }

  /** background-look. */
  #lookAround(): void {
    const { now, onFault } = this.#options;
    // The absolute value, so that a clock that is set back doesn't stop the comparisons.
    if (this.#looking !== undefined || Math.abs(now() - this.#lookedAt) < this.#pauseMs) return;
    this.#looking = this.#lookAtAll()
      .catch((error: unknown) => onFault('blocks', error))
      .finally(() => {
        this.#lookedAt = now();
        this.#looking = undefined;
      });
  }

  async #lookAtAll(): Promise<void> {
    const elapsed = this.#options.elapsed ?? (() => performance.now());
    let spentMs = 0;
    const all = [...this.#known];
    for (let from = 0; from < all.length; from += SLICE) {
      const begin = elapsed();
      for (const [name, known] of all.slice(from, from + SLICE)) {
        if (!this.#options.isOpen(name) && known.entry !== undefined && this.#stampOf(name) !== known.stamp) this.markStale(name);
      }
      spentMs += elapsed() - begin;
      await nextTurn();
    }
    this.#pauseMs = Math.min(LOOK_AT_LATEST_MS, Math.max(LOOK_EVERY_MS, spentMs / LOOK_SHARE)); // small-share
  }

  #stampOf(name: string): number {
    return stampOfAll(FILE_NAMES.map((file) => join(this.#options.folder, name, `${file}.json`)));
  }
}

/** Removes what a crash has left in a block's folder. Never throws, because remaining files do no harm; `onFault` reports them. */
export function sweep(folder: string, onFault: (what: string, error: unknown) => void): void {
  try {
    for (const name of readdirSync(folder)) if (isTemporaryName(name)) unlinkSync(join(folder, name));
  } catch (error) {
    onFault('sweep', error);
  }
}
