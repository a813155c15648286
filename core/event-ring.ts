// The newest events of the bus, for those who come late or were away for a moment.
//
// few-at-once: a follower gets at most some events in a half second; it learns how many were left out, so that a busy gateway floods no reader.
// no-echo: requests, sockets and the answers of the store are left out. A page that reads something when it hears of an event would be told of its own request, and read again.
// no-push: the progress of calls of tools is told as it comes, and no more. It is not kept, has the number of the event before it, and is left out where it comes often: so it makes no hole,
//   and many calls that say how far they are push out nothing that has happened.
// references-only: an event is kept as the bus has it, because a busy gateway has thousands a second. Nothing is kept before somebody asks.
import type { CoreBus, CoreEvents } from './bus.ts';

/** One event, or the number of events that are missing here. */
export type Happened =
  | { readonly seq: number; readonly at: string; readonly name: keyof CoreEvents; readonly data: CoreEvents[keyof CoreEvents] }
  | { readonly missed: number };

interface Kept {
  readonly at: number;
  readonly name: keyof CoreEvents;
  readonly data: CoreEvents[keyof CoreEvents];
}

/** Gets events. */
export type Follower = (event: Happened) => void;

const LEFT_OUT: ReadonlySet<keyof CoreEvents> = new Set(['request.served', 'socket.opened', 'socket.closed', 'store.answered']);
const PASSING: ReadonlySet<keyof CoreEvents> = new Set(['tool.progressed']);
const MAX_KEPT = 1000;
const WINDOW_MS = 500;
const MAX_IN_WINDOW = 100;
/** no-push: besides the others. */
const MAX_PASSING_IN_WINDOW = 50;

/** few-at-once. */
interface Pace {
  since: number;
  count: number;
  passing: number;
  missed: number;
  timer: NodeJS.Timeout | undefined;
}

/** Where those who come late get the newest events. */
export type RecentEvents = Pick<EventRing, 'follow'>;

/** The newest events of a core. */
export class EventRing {
  readonly #bus: CoreBus;
  readonly #now: () => number;
  readonly #kept: Kept[] = [];
  readonly #followers = new Map<Follower, Pace>();
  /** Begins with the time, so that a number of an earlier process is older than all of this one. */
  readonly #first: number;
  #seq: number;
  #isListening = false;

  /** `now` returns epoch milliseconds. */
  constructor(bus: CoreBus, now: () => number = Date.now) {
    this.#bus = bus;
    this.#now = now;
    this.#first = now();
    this.#seq = this.#first;
  }

  /** Calls back with the events after `since`, a hole first if some are lost, then with each as it happens, until the returned function is called. */
  follow(follower: Follower, since?: number): () => void {
    if (!this.#isListening) this.#listen();
    if (since !== undefined && since < this.#seq) this.#catchUp(follower, since);
    const pace: Pace = { since: 0, count: 0, passing: 0, missed: 0, timer: undefined };
    this.#followers.set(follower, pace);
    return () => {
      clearTimeout(pace.timer);
      this.#followers.delete(follower);
    };
  }

  #catchUp(follower: Follower, since: number): void {
    const missed = since < this.#first ? 0 : Math.max(0, this.#seq - since - this.#kept.length);
    if (missed > 0) follower({ missed });
    const from = this.#seq - this.#kept.length;
    for (const [index, event] of this.#kept.entries()) if (from + index + 1 > since) follower(this.#shown(event, from + index + 1));
  }

  #listen(): void {
    this.#isListening = true;
    this.#bus.on('*', (name, data) => {
      if (LEFT_OUT.has(name)) return; // no-echo
      const event: Kept = { at: this.#now(), name, data };
      if (!PASSING.has(name)) this.#keep(event); // no-push
      if (this.#followers.size > 0) for (const [follower, pace] of [...this.#followers]) this.#tell(follower, pace, event);
    });
  }

  #keep(event: Kept): void {
    this.#seq += 1;
    this.#kept.push(event); // references-only
    if (this.#kept.length > MAX_KEPT * 2) this.#kept.splice(0, MAX_KEPT);
  }

  /** few-at-once. */
  #tell(follower: Follower, pace: Pace, event: Kept): void {
    if (event.at - pace.since >= WINDOW_MS) {
      pace.since = event.at;
      pace.count = 0;
      pace.passing = 0;
    }
    if (PASSING.has(event.name)) {
      pace.passing += 1;
      if (pace.passing <= MAX_PASSING_IN_WINDOW && pace.missed === 0) follower(this.#shown(event, this.#seq));
      return; // no-push
    }
    pace.count += 1;
    if (pace.count <= MAX_IN_WINDOW && pace.missed === 0) {
      follower(this.#shown(event, this.#seq));
      return;
    }
    pace.missed += 1;
    pace.timer ??= setTimeout(() => {
      follower({ missed: pace.missed });
      pace.missed = 0;
      pace.timer = undefined;
    }, WINDOW_MS).unref();
  }

  #shown({ at, name, data }: Kept, seq: number): Happened {
    return { seq, at: new Date(at).toISOString(), name, data };
  }
}
