// The followers of a block, who hear of its changes, and the watch on its folder.
//
// Watch-when-needed: the folder is watched only while the monitor runs or somebody follows.
// Followers-apart: a follower that throws is reported as a process warning; neither the others nor the work that it follows notice.
// Silent-after-gone: after `onGone` a follower hears nothing.
import type { FolderWatches } from '../workspace/watch.ts';
import type { FollowOptions, StopFollowing } from './api.ts';
import type { ReplyStream } from './reply-stream.ts';

/** What followers need of their block. */
export interface FollowersOptions {
  readonly folder: string;
  readonly watches: FolderWatches;
  readonly feed: ReplyStream;
  /** A file of the folder was touched, by anybody; '' when the folder went away. */
  onTouched(fileName: string): void;
}

interface Following {
  readonly follower: FollowOptions;
  leave(): void;
}

/** The followers of one block. */
export class Followers {
  readonly #options: FollowersOptions;
  readonly #all = new Set<Following>();
  #unwatch: (() => void) | undefined;
  #isNeeded = false;

  constructor(options: FollowersOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#all.size;
  }

  add(follower: FollowOptions): StopFollowing {
    const { onReply, sinceSeq } = follower;
    const leave = onReply === undefined ? () => undefined : this.#options.feed.join((step) => attempt(() => onReply(step)), sinceSeq);
    const following: Following = { follower, leave };
    this.#all.add(following);
    this.#watchAsNeeded();
    return () => {
      leave();
      if (this.#all.delete(following)) this.#watchAsNeeded();
    };
  }

  changed(): void {
    for (const following of [...this.#all]) if (this.#all.has(following)) attempt(() => following.follower.onChange?.());
  }

  /** The block is gone, and so are its followers (silent-after-gone). */
  dismiss(): void {
    const all = [...this.#all];
    this.#all.clear();
    this.needWatch(false);
    for (const { follower, leave } of all) {
      leave();
      attempt(() => follower.onGone?.());
    }
  }

  /** A running monitor wants to see edits by hand, too. */
  needWatch(isNeeded: boolean): void {
    this.#isNeeded = isNeeded;
    this.#watchAsNeeded();
  }

  /** Ends the watch, for a folder that is about to move. */
  pause(): void {
    this.#unwatch?.();
    this.#unwatch = undefined;
  }

  resume(): void {
    this.#watchAsNeeded();
  }

  /** Watch-when-needed. */
  #watchAsNeeded(): void {
    const { watches, folder, onTouched } = this.#options;
    if (!this.#isNeeded && this.#all.size === 0) this.pause();
    else this.#unwatch ??= watches.watch(folder, (file) => onTouched(file));
  }
}

/** Followers-apart. */
function attempt(call: () => void): void {
  try {
    call();
  } catch (error) {
    process.emitWarning(error instanceof Error ? error : String(error));
  }
}
