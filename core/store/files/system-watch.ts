// How the system's watch of a folder is asked for: by `watch` of node:fs on Linux, by chokidar elsewhere.
//
// one-watch: on Linux the watch of a folder tells of changes to its files too, so a block takes one of the system's watches, and an event costs no look at any file.
// other-systems: chokidar knows what the watches of other systems don't tell. It also polls, if its variable CHOKIDAR_USEPOLLING asks for that, as file systems on a
//    network need it. Its own throttling may drop the last change, so its raw events are used as well.
// no-loss: Linux drops events when too many wait, and everything may then have changed.
import { watch } from 'node:fs';
import { basename, dirname } from 'node:path';
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

/** Resolves when the watch has ended. */
export type EndWatch = () => Promise<void>;

const INOTIFY: ReadonlySet<string> = new Set(['linux', 'android']);
/** Of this process, whose watches share a queue (no-loss). */
const flood = new EventFlood();

/** Watches a folder, by its absolute path. Throws the system's own error. */
export async function watchFolder(folder: string, hearing: Hearing, system: NodeJS.Platform = process.platform): Promise<EndWatch> {
  return INOTIFY.has(system) && !isPollingAskedFor() ? watchByNode(folder, hearing) : watchByPackage(folder, hearing);
}

/** As chokidar reads it. */
function isPollingAskedFor(): boolean {
  return !['', '0', 'false'].includes((process.env['CHOKIDAR_USEPOLLING'] ?? '').toLowerCase());
}

/** one-watch. */
function watchByNode(folder: string, hearing: Hearing): EndWatch {
  const watcher = watch(folder, (event, name) => {
    flood.count();
    if (name === null) hearing.onAny();
    // The removal of the folder comes under its own name, as if it were a file inside.
    else if (event === 'rename' && name === basename(folder)) hearing.onGone();
    else {
      hearing.onFile(name);
      // Under its old name, if it was watched by that as well.
      if (event === 'rename' && !isTemporaryName(name)) hearing.onMoved();
    }
  });
  watcher.on('error', (error) => hearing.onError(error));
  const look = (): void => hearing.onAny();
  flood.looks.add(look);
  look();
  return async () => {
    flood.looks.delete(look);
    watcher.close();
  };
}

/** other-systems. */
async function watchByPackage(folder: string, hearing: Hearing): Promise<EndWatch> {
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
  return async () => {
    // In this turn, the watcher may have got a system watch that it does not know of yet and would not close.
    await new Promise((resolve) => setImmediate(resolve));
    watcher.add = () => watcher; // a pending check of a missing file would open the watch again
    await watcher.close();
  };
}
