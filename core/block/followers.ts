// Those who want to know when a block changes, and the watch on its folder.
//
// F1 The folder is watched only while the monitor runs or somebody follows.
import type { FolderWatches } from '../workspace/watch.ts';
import type { FollowOptions, StopFollowing } from './api.ts';
import type { ReplyFeed } from './feed.ts';

export interface FollowersOptions {
  readonly folder: string;
  readonly watches: FolderWatches;
  readonly feed: ReplyFeed;
  /** A file of the folder was touched, by whomever; '' when the folder went away. */
  onTouched(fileName: string): void;
}

export class Followers {
  readonly #options: FollowersOptions;
  readonly #all = new Set<FollowOptions>();
  #unwatch: (() => void) | undefined;
  #isNeeded = false;

  constructor(options: FollowersOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#all.size;
  }

  add(follower: FollowOptions): StopFollowing {
    this.#all.add(follower);
    this.#watchAsNeeded();
    const { onReply, sinceSeq } = follower;
    const leave = onReply === undefined ? undefined : this.#options.feed.join((step) => onReply(step), sinceSeq);
    return () => {
      leave?.();
      if (this.#all.delete(follower)) this.#watchAsNeeded();
    };
  }

  changed(): void {
    for (const { onChange } of [...this.#all]) onChange?.();
  }

  /** The block is gone, and so are they. */
  dismiss(): void {
    for (const { onGone } of [...this.#all]) onGone?.();
    this.#all.clear();
    this.needWatch(false);
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
