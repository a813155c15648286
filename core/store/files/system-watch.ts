// How the system's watch of a folder is asked for: by `watch` of node:fs on Linux, by chokidar elsewhere.
//
// one-watch: on Linux the watch of a folder tells of changes to its files too, so a block takes one of the system's watches, and an event costs no look at any file, except that of a file which
//    has come, for its other names.
// other-names: what is written to a file under another name of it (a hard link), the watch of the folder does not tell. So such a file has a watch of its own.
// other-systems: chokidar knows what the watches of other systems don't tell. It also polls, if its variable CHOKIDAR_USEPOLLING asks for that, as file systems on a
//    network need it. Its own throttling may drop the last change, so its raw events are used as well.
// no-loss: Linux drops events when too many wait, and everything may then have changed.
import { type FSWatcher, lstatSync, watch } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isTemporaryName } from './atomic-file.ts';
import { EventFlood } from './event-flood.ts';

/** What is heard of a folder. */
export interface Hearing {
  /** A file directly inside was added, changed or removed. */
  onFile(name: string): void;
  /** Any file may have changed. Called once when the watch stands. */
  onAny(): void;
  /** The folder may have been removed or replaced. */
  onMoved(): void;
  /** The folder was removed or replaced, so the watch is of no use any more. */
  onGone(): void;
  onError(error: unknown): void;
}

/** A watch of the system. */
export interface SystemWatch {
  /** Resolves when it has ended. */
  end(): Promise<void>;
  /** This file has other names (other-names). */
  follow(name: string): void;
}

const INOTIFY: ReadonlySet<string> = new Set(['linux', 'android']);
/** Of this process, whose watches share a queue (no-loss). */
const flood = new EventFlood();

/** Watches a folder, by its absolute path. Throws the system's own error. */
export async function watchFolder(folder: string, hearing: Hearing, system: NodeJS.Platform = process.platform): Promise<SystemWatch> {
  return INOTIFY.has(system) && !isPollingAskedFor() ? watchByNode(folder, hearing) : watchByPackage(folder, hearing);
}

/** As chokidar reads it. */
function isPollingAskedFor(): boolean {
  return !['', '0', 'false'].includes((process.env['CHOKIDAR_USEPOLLING'] ?? '').toLowerCase());
}

/** one-watch. */
function watchByNode(folder: string, hearing: Hearing): SystemWatch {
  const linked = new LinkedFiles(folder, hearing);
  const watcher = watch(folder, (event, name) => {
    flood.count();
    if (name === null) hearing.onAny();
    // The removal of the folder comes under its own name, as if it were a file inside.
    else if (event === 'rename' && name === basename(folder)) hearing.onGone();
    else {
      hearing.onFile(name);
      if (event !== 'rename' || isTemporaryName(name)) return;
      linked.look(name);
      hearing.onMoved(); // under its old name, if it was watched by that as well
    }
  });
  watcher.on('error', (error) => hearing.onError(error));
  const look = (): void => hearing.onAny();
  flood.looks.add(look);
  look();
  const end = async (): Promise<void> => {
    flood.looks.delete(look);
    watcher.close();
    linked.close();
  };
  return { end, follow: (name) => linked.look(name) };
}

/** The files of a folder that have other names (other-names). */
class LinkedFiles {
  readonly #folder: string;
  readonly #hearing: Hearing;
  readonly #watchers = new Map<string, { readonly ino: bigint; readonly watcher: FSWatcher }>();

  constructor(folder: string, hearing: Hearing) {
    this.#folder = folder;
    this.#hearing = hearing;
  }

  /** As the file is now. */
  look(name: string): void {
    const path = join(this.#folder, name);
    try {
      const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
      const isLinked = stats?.isFile() === true && stats.nlink > 1n;
      const known = this.#watchers.get(name);
      if (known !== undefined && !(isLinked && stats.ino === known.ino)) this.#end(name);
      if (!isLinked || this.#watchers.has(name)) return;
      const watcher = watch(path, () => this.#hearing.onFile(name));
      watcher.on('error', (error) => this.#hearing.onError(error));
      this.#watchers.set(name, { ino: stats.ino, watcher });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') this.#hearing.onError(error); // that it went away is told of the folder
    }
  }

  close(): void {
    for (const name of [...this.#watchers.keys()]) this.#end(name);
  }

  #end(name: string): void {
    this.#watchers.get(name)?.watcher.close();
    this.#watchers.delete(name);
  }
}

/** other-systems. */
async function watchByPackage(folder: string, hearing: Hearing): Promise<SystemWatch> {
  const chokidar = await import('chokidar');
  const watcher = chokidar.watch(folder, {
    depth: 0,
    ignoreInitial: true,
    followSymlinks: false,
    atomic: false,
    // Parents are ignored, because the watcher would watch the parent of a folder that goes away.
    ignored: (path) => isTemporaryName(basename(path)) || (path !== folder && dirname(path) !== folder),
  });
  const onPath = (path: string): void => {
    if (dirname(path) === folder) hearing.onFile(basename(path));
    else if (path === folder) hearing.onMoved();
  };
  watcher.on('ready', () => hearing.onAny());
  watcher.on('all', (_event, path) => onPath(path));
  watcher.on('raw', (event, path: string | null, details: unknown) => {
    // Without `watchedPath`, the watcher polls, and `path` is absolute.
    const { watchedPath = path ?? folder } = details as { watchedPath?: string };
    if (watchedPath !== folder) onPath(watchedPath);
    // The removal of the folder comes under its own name, as if it were a file inside.
    else if (event === 'rename' && path === basename(folder)) hearing.onGone();
    else if (path !== null) hearing.onFile(path);
  });
  watcher.on('error', (error) => hearing.onError(error));
  const end = async (): Promise<void> => {
    // In this turn, the watcher may have got a system watch that it does not know of yet and would not close.
    await new Promise((resolve) => setImmediate(resolve));
    watcher.add = () => watcher; // a pending check of a missing file would open the watch again
    await watcher.close();
  };
  return { end, follow: () => undefined }; // it watches each file
}
