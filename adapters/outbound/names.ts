// Looks up the names of hosts, for all connections of the process.
//
// once-at-a-time: connections that need a name whose look-up is under way wait for that one. Nothing is kept of its answer.
// one-slow: Node leaves look-ups to the system, which has two threads for them in the whole process and keeps one for ten seconds and more where the servers of a name don't
//   answer. So names that took long the last time wait for each other: whatever is called under them, a thread is left for all other names.
import type { LookupAddress, LookupAllOptions } from 'node:dns';

/** Which addresses are wanted. */
export type Wanted = Pick<LookupAllOptions, 'family' | 'hints'>;

/** `lookup` of node:dns. */
export type Resolve = (name: string, options: LookupAllOptions, done: (error: Error | null, found: LookupAddress[]) => void) => void;

/** What a server of names that is there needs at most. */
const SLOW_MS = 1000;
/** The owner may name any host in a request. */
const MAX_SLOW = 256;

/** The look-ups of a process. */
export class Names {
  readonly #resolve: Resolve;
  readonly #now: () => number;
  readonly #underWay = new Map<string, Promise<LookupAddress[]>>();
  /** The one that was slow longest ago comes first. */
  readonly #slow = new Set<string>();
  /** The end of those that wait for each other. */
  #lane: Promise<unknown> = Promise.resolve();

  /** `now` in monotonic milliseconds. */
  constructor(resolve: Resolve, now: () => number = () => performance.now()) {
    this.#resolve = resolve;
    this.#now = now;
  }

  /** How many names are remembered because their look-up took long. */
  get slow(): number {
    return this.#slow.size;
  }

  /** All addresses of a host. Rejects as the system does. */
  find(name: string, { family, hints }: Wanted): Promise<LookupAddress[]> {
    const key = `${name} ${family ?? ''} ${hints ?? ''}`;
    const known = this.#underWay.get(key);
    if (known !== undefined) return known; // once-at-a-time
    const ask = (): Promise<LookupAddress[]> => this.#ask(name, { all: true, ...(family !== undefined && { family }), ...(hints !== undefined && { hints }) });
    const found = this.#slow.has(name) ? this.#inLane(ask) : ask();
    this.#underWay.set(key, found);
    const end = (): void => void this.#underWay.delete(key);
    found.then(end, end);
    return found;
  }

  /** one-slow. */
  #inLane(ask: () => Promise<LookupAddress[]>): Promise<LookupAddress[]> {
    const found = this.#lane.then(ask);
    this.#lane = found.catch(() => undefined);
    return found;
  }

  #ask(name: string, options: LookupAllOptions): Promise<LookupAddress[]> {
    const since = this.#now();
    return new Promise((resolve, reject) => {
      this.#resolve(name, options, (error, found) => {
        this.#note(name, this.#now() - since);
        if (error === null) resolve(found);
        else reject(error);
      });
    });
  }

  #note(name: string, ms: number): void {
    this.#slow.delete(name);
    if (ms < SLOW_MS) return;
    for (const oldest of this.#slow) {
      if (this.#slow.size < MAX_SLOW) break;
      this.#slow.delete(oldest);
    }
    this.#slow.add(name);
  }
}
