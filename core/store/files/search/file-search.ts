// Searches what was said to the blocks of a workspace, active and archived. The index follows the files: before each search, what has changed since is read again,
// whoever changed it. It is made with the first search.
//
// one-at-a-time: searches come one after the other, since each may write the index. Those that wait are bounded.
// no-silence: a block whose files can't be read is named in the result, and what was known of it is still found.
import { lstatSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { nextTurn } from '../../../base/next-turn.ts';
import { undefinedFor } from '../../../base/undefined-for.ts';
import { BlockhouseError } from '../../../errors.ts';
import { isBlockName, nameInArchive } from '../../../schemas/names.ts';
import type { BlockFolders } from '../block/block-folders.ts';
import { folded } from '../../parts/search-text.ts';
import type { Found, SearchFor, SearchStore, Searched } from '../../store.ts';
import { stampOfTexts, textsOf } from './block-texts.ts';
import { type Fit, removeSearchFiles, SearchFiles } from './search-files.ts';

/** one-at-a-time. */
const MOST_WAITING = 16;
const RETRY_AFTER_MS = 1000;
/** Folders that are looked at in one turn of the event loop. */
const SLICE = 50;
const MOST_NAMED = 20;

/** What is kept in files of the workspace beside the blocks. */
export class FileSearch implements SearchStore {
  readonly #workspace: string;
  readonly #folders: Pick<BlockFolders, 'blocks' | 'archive'>;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #files: SearchFiles | undefined;
  readonly #closing = new AbortController();

  constructor(workspace: string, folders: Pick<BlockFolders, 'blocks' | 'archive'>) {
    this.#workspace = workspace;
    this.#folders = folders;
  }

  find(wanted: SearchFor, signal: AbortSignal): Promise<Searched> {
    if (this.#waiting >= MOST_WAITING)
      return Promise.reject(new BlockhouseError('QUEUE_FULL', 'Too many searches are waiting. Try again later.', { retryAfterMs: RETRY_AFTER_MS }));
    this.#waiting += 1;
    const run = async (): Promise<Searched> => {
      try {
        return await this.#find(wanted, AbortSignal.any([signal, this.#closing.signal]));
      } finally {
        this.#waiting -= 1;
      }
    };
    const found = this.#last.then(run, run);
    this.#last = found;
    return found;
  }

  async close(): Promise<void> {
    this.#closing.abort(new BlockhouseError('SHUTTING_DOWN', 'The server is shutting down.'));
    await Promise.allSettled([this.#last]);
    await this.#leave();
  }

  async #find({ words, limit, block, excerptOf }: SearchFor, signal: AbortSignal): Promise<Searched> {
    signal.throwIfAborted();
    const needles = words.map(folded);
    const files = await this.#open();
    try {
      const unreadable = await this.#follow(files, signal);
      const newest = new Newest(limit);
      const isOf = (key: string): boolean => block === undefined || key === `blocks/${block}`;
      const wants = (key: string, at: string): boolean => isOf(key) && newest.wants(at);
      await files.find(needles, { wants, onFit: (fit) => newest.add(fit) }, signal);
      const found: Found[] = [];
      for (const fit of newest.fits()) found.push({ ...placeOf(fit), ...excerptOf(await files.textOf(fit)) });
      return { found, total: newest.total, unreadable: unreadable.slice(0, MOST_NAMED), isWhole: unreadable.length === 0 };
    } catch (error) {
      if (!signal.aborted) await this.#leave(); // what it knows of them may be wrong
      throw error;
    }
  }

  /** The files stay open between searches, because to read where their records are takes longer than a search. */
  async #open(): Promise<SearchFiles> {
    const known = this.#files;
    if (known !== undefined && (await known.isThere(this.#workspace))) return known;
    await this.#leave();
    this.#files = await SearchFiles.open(this.#workspace).catch(async () => {
      await removeSearchFiles(this.#workspace); // something else has its name, such as a link
      return SearchFiles.open(this.#workspace);
    });
    return this.#files;
  }

  async #leave(): Promise<void> {
    const known = this.#files;
    this.#files = undefined;
    await known?.close();
  }

  /** Reads again what has changed. Returns the blocks that can't be read. */
  async #follow(files: SearchFiles, signal: AbortSignal): Promise<string[]> {
    if (files.isWorn) await files.clear();
    const unreadable: string[] = [];
    const keys = new Set<string>();
    let looked = 0;
    for (const { key, folder } of await this.#sources()) {
      keys.add(key);
      looked += 1;
      if (looked % SLICE === 0) {
        await nextTurn();
        signal.throwIfAborted();
      }
      const stamp = stampOfTexts(folder);
      if (files.stampOf(key) === stamp) continue;
      await files.put(key, stamp, textsOf(folder)).catch((error: unknown) => {
        if (error instanceof Error && 'code' in error && error.code === 'ENOSPC') throw error;
        if (lstatSync(folder, { throwIfNoEntry: false }) !== undefined) unreadable.push(key.slice(key.indexOf('/') + 1)); // else it has just been moved
      });
    }
    for (const key of [...files.keys]) if (!keys.has(key)) files.forget(key);
    return unreadable;
  }

  async #sources(): Promise<{ readonly key: string; readonly folder: string }[]> {
    const named = async (parent: string, kind: string, isName: (name: string) => boolean) => {
      const items = (await readdir(parent, { withFileTypes: true }).catch(undefinedFor('ENOENT'))) ?? [];
      return items.filter((item) => item.isDirectory() && isName(item.name)).map(({ name }) => ({ key: `${kind}/${name}`, folder: join(parent, name) }));
    };
    const { blocks, archive } = this.#folders;
    const all = await Promise.all([named(blocks, 'blocks', isBlockName), named(archive, 'archive', (name) => nameInArchive(name) !== undefined)]);
    return all.flat();
  }
}

/** The newest of many. */
class Newest {
  total = 0;
  readonly #limit: number;
  #fits: Fit[] = [];
  /** The time that one must have to be among them. */
  #least = '';

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Counts one. False if it is too old to be among them. */
  wants(at: string): boolean {
    this.total += 1;
    return at >= this.#least;
  }

  add(fit: Fit): void {
    this.#fits.push(fit);
    if (this.#fits.length < this.#limit * 4) return;
    this.#fits = this.fits();
    this.#least = this.#fits.at(-1)?.at ?? '';
  }

  fits(): Fit[] {
    return this.#fits.sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0)).slice(0, this.#limit);
  }
}

function placeOf({ key, by, id, at }: Fit): Omit<Found, 'excerpt' | 'marks'> {
  const [kind = '', name = ''] = key.split('/');
  const place = kind === 'blocks' ? { block: name, archive: null } : { block: nameInArchive(name) ?? name, archive: name };
  return { ...place, by, id: id === '' ? null : id, at: at === '' ? null : at };
}
