// Those who want to know when a block changes, and the watch on its folder.
//
// F1 The folder is watched only while the monitor runs or somebody follows.
// F2 A follower that throws is reported as a process warning; neither the others nor the work that it follows notice.
// F3 After `onGone` nothing is told.
import type { FolderWatches } from '../workspace/watch.ts';
import type { FollowOptions, StopFollowing } from './api.ts';
import type { ReplyStream } from './reply-stream.ts';

export interface FollowersOptions {
  readonly folder: string;
  readonly watches: FolderWatches;
  readonly feed: ReplyStream;
  /** A file of the folder was touched, by whomever; '' when the folder went away. */
  onTouched(fileName: string): void;
}

interface Following {
  readonly follower: FollowOptions;
  leave(): void;
}

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

  /** The block is gone, and so are they (F3). */
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

  /** F1. */
  #watchAsNeeded(): void {
    const { watches, folder, onTouched } = this.#options;
    if (!this.#isNeeded && this.#all.size === 0) this.pause();
    else this.#unwatch ??= watches.watch(folder, (file) => onTouched(file));
  }
}

/** F2. */
function attempt(call: () => void): void {
  try {
    call();
  } catch (error) {
    process.emitWarning(error instanceof Error ? error : String(error));
  }
}
