// Watches folders for edits by hand, with one watcher per folder for all its listeners.
import { resolve } from 'node:path';
import { FolderWatch, type FolderWatchesOptions, type OnTouched } from './folder-watch.ts';

export type { FolderWatchesOptions, OnTouched } from './folder-watch.ts';

/** All watches of a workspace. */
export class FolderWatches {
  readonly #options: FolderWatchesOptions;
  readonly #folders = new Map<string, FolderWatch>();
  /** Watchers that are being closed. */
  readonly #ending = new Set<Promise<void>>();
  #isClosed = false;

  constructor(options: FolderWatchesOptions) {
    this.#options = options;
  }

  /** How many folders are watched. */
  get size(): number {
    return this.#folders.size;
  }

  /** Calls `onTouched` for changes directly in `folder`, which need not exist yet. Returns a function that ends the watch. */
  watch(folder: string, onTouched: OnTouched): () => void {
    if (this.#isClosed) return () => undefined;
    const path = resolve(folder);
    const watch = this.#folders.get(path) ?? new FolderWatch(path, this.#options);
    this.#folders.set(path, watch);
    // A new function for each call, because the same listener may be given twice.
    const listener: OnTouched = (fileName) => onTouched(fileName);
    watch.listeners.add(listener);
    return () => {
      if (watch.listeners.delete(listener) && watch.listeners.size === 0) this.#end(path, watch);
    };
  }

  /** Ends all watches. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const [path, watch] of this.#folders) this.#end(path, watch);
    await Promise.all(this.#ending);
  }

  #end(path: string, watch: FolderWatch): void {
    if (this.#folders.get(path) === watch) this.#folders.delete(path);
    const ending: Promise<void> = watch.close().finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }
}
