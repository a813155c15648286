// What changes in the list of blocks, for those who follow it.
//
// idle-is-free: nothing is compared while there is no follower, or while no block has changed.
// same-entry: the list returns the same frozen object until a block changes, so a change is a comparison of two references.
// others-read-too: a page that reads the list takes the marks of what has changed, so a look also asks whether somebody has got a newer list.
// small-frames: a follower gets one frame of at most 200 entries at each look, so that one that reads at all is never flooded.
// any-server: where several servers share the blocks, a number is a moment of the clock that they share, and a follower may come back to another one. That one has noticed
//   some changes earlier and some later, so it tells those of the last seconds again: an entry that comes twice changes nothing.
// bounded: of removed blocks, only the newest are kept. A follower that has missed more must read the list again.
import { callApart } from '../bus.ts';
import type { BlockEntry } from '../schemas/block-api.ts';

/** What has changed since a number that only grows. */
export interface FleetChanges {
  readonly seq: number;
  /** True when it is not known what was missed: read the list. */
  readonly reset: boolean;
  readonly changed: readonly BlockEntry[];
  readonly gone: readonly string[];
}

/** What the feed looks at. */
export interface FleetFeedOptions {
  list(): Promise<readonly BlockEntry[]>;
  /** True if an entry may have changed. */
  isStale(): boolean;
  /** The newest list that anybody has got; undefined before the first, and while it is out of date. others-read-too. */
  listed(): readonly BlockEntry[] | undefined;
  onFault(error: unknown): void;
  /** Epoch milliseconds by a clock that all servers of these blocks share; left out for one server alone. any-server. */
  readonly sharedNow?: (() => number) | undefined;
  /** Milliseconds between two looks. */
  readonly everyMs?: number;
}

type Follower = (changes: FleetChanges) => void;

interface Known {
  readonly entry: BlockEntry;
  readonly seq: number;
}

const EVERY_MS = 500;
/** Blocks that no program holds open are compared by their files now and then. */
const LOOK_EVERY = 20;
const MAX_GONE = 1000;
/** A server notices within these what another one has changed. In microseconds. any-server. */
const NOTICED_WITHIN = 10_000_000;
/** Of a follower that has not got its first answer. */
const NOT_ANSWERED = -1;
/** The most entries of a frame. */
export const MAX_ENTRIES = 200;

/** The changes of a workspace's blocks. */
export class FleetFeed {
  readonly #options: FleetFeedOptions;
  readonly #followers = new Map<Follower, { seq: number }>();
  #seq: number;
  #known = new Map<string, Known>();
  #gone: { readonly name: string; readonly seq: number }[] = [];
  /** What happened before is forgotten. */
  #oldest: number;
  #last: readonly BlockEntry[] | undefined;
  #timer: NodeJS.Timeout | undefined;
  #looks = 0;
  #isLooking = false;

  constructor(options: FleetFeedOptions) {
    this.#options = options;
    // Begins with the time, so that a number of an earlier process is never taken for one of this.
    this.#seq = options.sharedNow === undefined ? Date.now() : 0;
    this.#oldest = this.#seq;
  }

  /** Calls back with what was missed since `since`, then with each change, until the returned function is called. */
  follow(follower: Follower, since?: number): () => void {
    const state = { seq: NOT_ANSWERED };
    this.#followers.set(follower, state);
    void this.#look(true).then(() => {
      if (!this.#followers.has(follower)) return;
      const now = this.#sharedNow(); // any-server
      const from = since === undefined ? Number.NaN : since - (now === undefined ? 0 : NOTICED_WITHIN);
      const isKnown = from >= this.#oldest && from <= Math.max(this.#seq, now ?? 0);
      state.seq = isKnown ? from : this.#seq;
      if (isKnown) this.#tell(follower, state, true);
      else {
        follower({ seq: this.#seq, reset: true, changed: [], gone: [] });
      }
    }, this.#options.onFault);
    this.#timer ??= setInterval(() => void this.#look(false), this.#options.everyMs ?? EVERY_MS).unref(); // idle-is-free
    return () => {
      this.#followers.delete(follower);
      if (this.#followers.size === 0) this.close();
    };
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#followers.clear();
  }

  async #look(isForced: boolean): Promise<void> {
    this.#looks += 1;
    if (this.#isLooking) return;
    if (!isForced && !this.#hasNews() && this.#looks % LOOK_EVERY !== 0) {
      this.#tellThoseBehind();
      return;
    }
    this.#isLooking = true;
    try {
      const list = await this.#options.list();
      if (list !== this.#last) this.#take(list);
      this.#last = list;
      this.#tellThoseBehind();
    } catch (error) {
      this.#options.onFault(error);
    } finally {
      this.#isLooking = false;
    }
  }

  /** others-read-too. */
  #hasNews(): boolean {
    return this.#options.isStale() || this.#options.listed() !== this.#last;
  }

  /** same-entry. */
  #take(list: readonly BlockEntry[]): void {
    const isFirst = this.#last === undefined;
    if (isFirst && this.#options.sharedNow !== undefined) {
      this.#count();
      this.#oldest = this.#seq;
    }
    const next = new Map<string, Known>();
    for (const entry of list) {
      const known = this.#known.get(entry.name);
      if (known?.entry === entry) next.set(entry.name, known);
      else {
        if (!isFirst) this.#count();
        next.set(entry.name, { entry, seq: this.#seq });
      }
    }
    for (const name of this.#known.keys()) {
      if (next.has(name)) continue;
      this.#count();
      this.#gone.push({ name, seq: this.#seq });
    }
    this.#known = next;
    while (this.#gone.length > MAX_GONE) this.#oldest = this.#gone.shift()?.seq ?? this.#oldest; // bounded
  }

  #count(): void {
    this.#seq = Math.max(this.#seq + 1, this.#sharedNow() ?? 0);
  }

  /** In microseconds. */
  #sharedNow(): number | undefined {
    const now = this.#options.sharedNow?.();
    return now === undefined ? undefined : Math.round(now * 1000);
  }

  #tellThoseBehind(): void {
    for (const [follower, state] of [...this.#followers]) {
      if (state.seq === NOT_ANSWERED || state.seq === this.#seq) continue;
      callApart(() => this.#tell(follower, state, false));
    }
  }

  /** One frame (small-frames); `isAnswer` sends one also when there is nothing. */
  #tell(follower: Follower, state: { seq: number }, isAnswer: boolean): void {
    const waiting = [...this.#known.values()].filter(({ seq }) => seq > state.seq).sort((one, other) => one.seq - other.seq);
    const part = waiting.slice(0, MAX_ENTRIES);
    const isLast = part.length === waiting.length;
    const gone = isLast ? this.#gone.filter(({ name, seq }) => seq > state.seq && !this.#known.has(name)).map(({ name }) => name) : [];
    state.seq = isLast ? this.#seq : (part.at(-1)?.seq ?? this.#seq);
    if (part.length + gone.length === 0 && !isAnswer) return;
    follower({ seq: state.seq, reset: false, changed: part.map(({ entry }) => entry), gone });
  }
}
