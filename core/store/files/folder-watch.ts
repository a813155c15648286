// The watch of one folder, for any number of listeners.
//
// reported-later: the constructor calls no listener and never throws. `onFault` gets each kind of failure once.
// last-change: listeners always get the last change, because every event is passed on, those of one turn together.
// no-gap: listeners also get the changes that happen while the watch is being set up.
// new-folder: a folder that went away, or was replaced, is watched again as soon as it is there. A link is not a folder.
// polling: on a system without free watches, the folder is read every second instead.
import PQueue from 'p-queue';
import { isTemporaryName } from './atomic-file.ts';
import { contentsNow, differences, type FolderContents, folderIdentity, hasOtherNames, readContents } from './folder-contents.ts';
import { type Hearing, type SystemWatch, watchFolder } from './system-watch.ts';

/** The pause between two readings of a folder that the system does not watch, or that does not exist. */
const LOOK_MS = 1000;
const EXHAUSTED: ReadonlySet<string | undefined> = new Set(['ENOSPC', 'EMFILE', 'ENFILE']);
const GONE: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ENOTDIR']);

/** How folders are watched, and the callback for failures. */
export interface FolderWatchesOptions {
  onFault(folder: string, error: Error): void;
  /** Reads the folder every second instead of using the system's watches. */
  readonly usePolling?: boolean;
  /** Another system than this one, to test what is done there. */
  readonly system?: NodeJS.Platform | undefined;
}

/** Called with the base name of a file that was added, changed or removed; with '' when the folder itself went away. */
export type OnTouched = (fileName: string) => void;

/** The watch of one folder; see above. */
export class FolderWatch {
  readonly listeners = new Set<OnTouched>();
  readonly #folder: string;
  readonly #onFault: (folder: string, error: Error) => void;
  /** Kinds of faults that `onFault` has got (reported-later). */
  readonly #reported = new Set<string>();
  readonly #touched = new Set<string>();
  readonly #system: NodeJS.Platform | undefined;
  #usePolling: boolean;
  #systemWatch: SystemWatch | undefined;
  /** Which folder of this name is watched; undefined while there is none. */
  #identity: string | undefined;
  #contents: FolderContents = new Map();
  #retry: NodeJS.Timeout | undefined;
  #isAboutToBegin = false;
  #isAboutToLook = false;
  #mayBeMoved = false;
  #isClosed = false;
  readonly #queue = new PQueue({ concurrency: 1 });

  /** `folder` is an absolute path without a slash at its end. */
  constructor(folder: string, { onFault, usePolling = false, system }: FolderWatchesOptions) {
    this.#folder = folder;
    this.#onFault = onFault;
    this.#usePolling = usePolling;
    this.#system = system;
    this.#attempt(() => {
      this.#identity = folderIdentity(folder);
      this.#contents = contentsNow(folder); // no-gap: as it is when the caller begins to listen
    });
    this.#begin();
  }

  /** Ends the watch. No listener is called after that. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    await this.#queue.onIdle();
    await this.#end();
  }

  /** Starts or restarts. */
  #begin(): void {
    if (this.#isAboutToBegin || this.#isClosed) return;
    this.#isAboutToBegin = true;
    clearTimeout(this.#retry);
    this.#inTurn(() => this.#beginNow());
  }

  #inTurn(work: () => Promise<void>): void {
    this.#queue.add(work).catch((error: unknown) => {
      this.#fault(error);
      this.#beginLater();
    });
  }

  #beginLater(): void {
    clearTimeout(this.#retry);
    if (!this.#isClosed) this.#retry = setTimeout(() => this.#begin(), LOOK_MS).unref();
  }

  async #beginNow(): Promise<void> {
    this.#isAboutToBegin = false;
    await this.#end();
    const before = this.#identity;
    this.#identity = folderIdentity(this.#folder);
    if (before !== undefined && before !== this.#identity) this.#touch('');
    if (this.#identity === undefined) {
      this.#contents = new Map();
      return this.#beginLater(); // new-folder
    }
    if (this.#usePolling) {
      await this.#compare();
      this.#beginLater(); // polling
      return;
    }
    if (!this.#isClosed) await this.#watch();
  }

  async #watch(): Promise<void> {
    let isOver = false;
    // What is heard of a watch that has ended counts no more.
    const heard = (work: () => void): void => {
      if (!isOver) work();
    };
    const hearing: Hearing = {
      onFile: (name) => heard(() => this.#touch(name)),
      onAny: () => heard(() => this.#look()), // no-gap
      onMoved: () => heard(() => this.#lookForMove()),
      onGone: () => heard(() => this.#begin()),
      onError: (error) => heard(() => this.#fail(error)),
    };
    try {
      const { end, follow } = await watchFolder(this.#folder, hearing, this.#system);
      this.#systemWatch = {
        follow,
        end: () => {
          isOver = true;
          return end();
        },
      };
    } catch (error) {
      if (GONE.has((error as NodeJS.ErrnoException).code))
        this.#beginLater(); // it went away in the meantime
      else this.#fail(error);
    }
  }

  async #end(): Promise<void> {
    const watch = this.#systemWatch;
    this.#systemWatch = undefined;
    await watch?.end();
  }

  #look(): void {
    if (this.#isAboutToLook) return;
    this.#isAboutToLook = true;
    this.#inTurn(() => {
      this.#isAboutToLook = false;
      return this.#compare();
    });
  }

  async #compare(): Promise<void> {
    const contents = await readContents(this.#folder);
    if (this.#identity !== folderIdentity(this.#folder)) {
      this.#begin(); // it went away in the meantime
      return;
    }
    for (const name of differences(this.#contents, contents)) this.#touch(name);
    this.#contents = contents;
    for (const [name, text] of contents) if (hasOtherNames(text)) this.#systemWatch?.follow(name);
  }

  /** new-folder. At the end of the turn, because events come in crowds. */
  #lookForMove(): void {
    if (this.#mayBeMoved) return;
    this.#mayBeMoved = true;
    setImmediate(() => {
      this.#mayBeMoved = false;
      if (!this.#isClosed && this.#identity !== this.#attempt(() => folderIdentity(this.#folder))) this.#begin();
    });
  }

  #fail(error: unknown): void {
    this.#fault(error);
    if (this.#isAboutToBegin) return; // a failing watch reports an error for each file
    if (EXHAUSTED.has((error as NodeJS.ErrnoException).code) && !this.#usePolling) {
      this.#usePolling = true; // polling
      this.#begin();
    } else this.#beginLater();
  }

  #touch(name: string): void {
    if (isTemporaryName(name)) return;
    if (this.#touched.size === 0) setImmediate(() => this.#notify());
    this.#touched.add(name);
  }

  #notify(): void {
    const names = this.#isClosed ? [] : [...this.#touched];
    this.#touched.clear();
    for (const name of names) {
      for (const listener of [...this.listeners]) this.#attempt(() => listener(name));
    }
  }

  #attempt<T>(work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      this.#fault(error);
      return undefined;
    }
  }

  /** reported-later. */
  #fault(error: unknown): void {
    const fault = error instanceof Error ? error : new Error(String(error));
    const kind = (fault as NodeJS.ErrnoException).code ?? fault.message;
    if (this.#isClosed || this.#reported.has(kind)) return;
    this.#reported.add(kind);
    setImmediate(() => this.#onFault(this.#folder, fault));
  }
}
