// Searches what was said to the blocks of a workspace, active and archived. The index follows the files: before each search, what has changed since is read again,
// no matter who changed it. It is made with the first search.
//
// looks-twice: a text that was found is read before it is told, and has the words; else the index is damaged, for instance by a power cut, and is made again.
// no-silence: a block whose files can't be read is named in the result, and what was known of it is still found.
import { lstatSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { nextTurn } from '../../../base/next-turn.ts';
import { undefinedFor } from '../../../base/undefined-for.ts';
import { BlockhouseError } from '../../../errors.ts';
import { isBlockName, nameInArchive } from '../../../schemas/names.ts';
import { storageFailure } from '../atomic-file.ts';
import type { BlockFolders } from '../block/block-folders.ts';
import { folded, foldedInSteps } from '../../parts/search-text.ts';
import type { Found, SearchFor, SearchStore, Searched } from '../../store.ts';
import { stampOfTexts, textsOf } from './block-texts.ts';
import { type Fit, IndexFault, removeSearchFiles, SearchFiles } from './search-files.ts';

/** Folders that are looked at in one turn of the event loop. */
const SLICE = 50;
const MOST_NAMED = 20;

/** What is kept in files of the workspace beside the blocks. */
export class FileSearch implements SearchStore {
  readonly #workspace: string;
  readonly #folders: Pick<BlockFolders, 'blocks' | 'archive'>;
  #last: Promise<unknown> = Promise.resolve();
  #files: SearchFiles | undefined;
  readonly #closing = new AbortController();

  constructor(workspace: string, folders: Pick<BlockFolders, 'blocks' | 'archive'>) {
    this.#workspace = workspace;
    this.#folders = folders;
  }

  find(wanted: SearchFor, signal: AbortSignal): Promise<Searched> {
    const found = this.#find(wanted, AbortSignal.any([signal, this.#closing.signal]));
    this.#last = found;
    return found;
  }

  /** Removes the index with all texts in it, since some of them were deleted for good. The next search makes it again. Rejects with STORAGE_FAILED. */
  async erase(): Promise<void> {
    await Promise.allSettled([this.#last]);
    await this.#leave();
    await removeSearchFiles(this.#workspace).catch((error: unknown) => {
      throw storageFailure("The index of the search, which has texts of what was deleted, can't be removed", error);
    });
  }

  async close(): Promise<void> {
    this.#closing.abort(new BlockhouseError('SHUTTING_DOWN', 'The server is shutting down.'));
    await Promise.allSettled([this.#last]);
    await this.#leave();
  }

  async #find(wanted: SearchFor, signal: AbortSignal): Promise<Searched> {
    signal.throwIfAborted();
    try {
      const files = await this.#open();
      const unreadable = await this.#follow(files, signal);
      const found = (await this.#look(files, wanted, signal)) ?? (await this.#lookAgain(files, wanted, signal));
      return { ...found, unreadable: unreadable.slice(0, MOST_NAMED), isWhole: unreadable.length === 0 };
    } catch (error) {
      if (signal.aborted) throw error;
      await this.#leave(); // what it knows of them may be wrong
      throw storageFailure("The index of the search can't be written", error);
    }
  }

  /** Undefined where the index is damaged: looks-twice. */
  async #look(files: SearchFiles, { words, limit, block, excerptOf }: SearchFor, signal: AbortSignal): Promise<Pick<Searched, 'found' | 'total'> | undefined> {
    const needles = words.map(folded);
    const newest = new Newest(limit);
    const isOf = (key: string): boolean => block === undefined || key === `blocks/${block}`;
    const wants = (key: string, at: string): boolean => isOf(key) && newest.wants(at);
    await files.find(needles, { wants, onFit: (fit) => newest.add(fit) }, signal);
    const found: Found[] = [];
    for (const fit of newest.fits()) {
      const text = await files.textOf(fit);
      let plain = '';
      for await (const piece of foldedInSteps(text)) plain += piece;
      if (needles.some((needle) => !plain.includes(needle))) return undefined;
      found.push({ ...placeOf(fit), ...excerptOf(text) });
    }
    return { found, total: newest.total };
  }

  async #lookAgain(files: SearchFiles, wanted: SearchFor, signal: AbortSignal): Promise<Pick<Searched, 'found' | 'total'>> {
    await files.clear();
    await this.#follow(files, signal);
    const found = await this.#look(files, wanted, signal);
    if (found === undefined) throw new Error('an index that was just made is damaged');
    return found;
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
        if (error instanceof IndexFault) throw error.cause;
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
