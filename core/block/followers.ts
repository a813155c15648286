// The followers of a block, and the watch for changes by others.
//
// watch-when-needed: the block is watched only while the monitor runs or the block has a follower.
// logs-when-asked: lines of other servers are looked for only while a follower wants the log.
// followers-apart: an error that a follower throws becomes a process warning; it doesn't reach other followers or the block.
// silent-after-gone: after `onGone` no callback of a follower is called.
import { callApart } from '../bus.ts';
import type { FollowOptions, LogLines, StopFollowing } from './api.ts';
import type { RunFact } from '../store/run-fact.ts';
import type { ReplyStream } from './reply/reply-stream.ts';

/** What followers need of their block. */
export interface FollowersOptions {
  readonly feed: Pick<ReplyStream, 'join'>;
  /** Begins to look for changes by others. Returns a function that ends it. */
  watch(): () => void;
  /** Begins to look for lines of the log by others. Returns a function that ends it. */
  watchLog(): () => void;
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
  #unwatchLog: (() => void) | undefined;
  #isNeeded = false;

  constructor(options: FollowersOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#all.size;
  }

  add(follower: FollowOptions): StopFollowing {
    const { onReply, sinceSeq } = follower;
    const leave = onReply === undefined ? () => undefined : this.#options.feed.join((step) => callApart(() => onReply(step)), sinceSeq);
    const following: Following = { follower, leave };
    this.#all.add(following);
    this.#watchAsNeeded();
    return () => {
      leave();
      if (this.#all.delete(following)) this.#watchAsNeeded();
    };
  }

  changed(): void {
    for (const following of [...this.#all]) if (this.#all.has(following)) callApart(() => following.follower.onChange?.());
  }

  logged(lines: LogLines): void {
    for (const { follower } of this.#all) if (follower.onLog !== undefined) callApart(() => follower.onLog?.(lines));
  }

  ran(fact: RunFact): void {
    for (const { follower } of this.#all) if (follower.onRun !== undefined) callApart(() => follower.onRun?.(fact));
  }

  /** Calls `onGone` of every follower and removes them all, because the block is gone. */
  dismiss(): void {
    const all = [...this.#all];
    this.#all.clear();
    this.needWatch(false);
    for (const { follower, leave } of all) {
      leave();
      callApart(() => follower.onGone?.());
    }
  }

  /** Keeps the watch even without followers, because a running monitor must notice edits by hand. */
  needWatch(isNeeded: boolean): void {
    this.#isNeeded = isNeeded;
    this.#watchAsNeeded();
  }

  /** Ends the watch, before the folder moves. */
  pause(): void {
    this.#unwatch?.();
    this.#unwatch = undefined;
    this.#unwatchLog?.();
    this.#unwatchLog = undefined;
  }

  resume(): void {
    this.#watchAsNeeded();
  }

  /** watch-when-needed. */
  #watchAsNeeded(): void {
    if (!this.#isNeeded && this.#all.size === 0) this.pause();
    else this.#unwatch ??= this.#options.watch();
    // logs-when-asked.
    if ([...this.#all].some(({ follower }) => follower.onLog !== undefined)) this.#unwatchLog ??= this.#options.watchLog();
    else {
      this.#unwatchLog?.();
      this.#unwatchLog = undefined;
    }
  }
}
