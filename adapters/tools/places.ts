// The places for processes of servers: so many may run at once. Pure: no I/O.
//
// longest-idle: where all are taken, the server that has had nothing to do for longest is ended; if all have work, the next one waits for its turn.
// room-for-others: the processes of one server, which may have one for each block, take three quarters of the places at most. If they hang, those of others start all the same.
import { WaitingLine } from './waiting-line.ts';

/** What holds a place. */
export interface Holder {
  /** The name of the server. */
  readonly name: string;
  /** Since when it has had nothing to do; undefined while it works, starts or ends. */
  readonly idleSince: number | undefined;
  /** Ends its process. Resolves when its place is free. */
  makeRoom(): Promise<void>;
}

/** Gives places, in the order in which they were asked for. */
export class Places {
  readonly #all: Room;
  readonly #mostOfOne: number;
  /** room-for-others: by the name of the server. */
  readonly #ofOne = new Map<string, Room>();

  constructor(most: number) {
    this.#all = new Room(most);
    this.#mostOfOne = Math.ceil((most * 3) / 4);
  }

  /** Rejects with the reason of `signal` when that fires first. */
  async take(holder: Holder, signal: AbortSignal): Promise<void> {
    const own = this.#ofOne.get(holder.name) ?? new Room(this.#mostOfOne);
    this.#ofOne.set(holder.name, own);
    await own.take(holder, signal);
    try {
      await this.#all.take(holder, signal);
    } catch (error) {
      own.free(holder);
      throw error;
    }
  }

  free(holder: Holder): void {
    this.#all.free(holder);
    this.#ofOne.get(holder.name)?.free(holder);
  }

  /** To be called when a holder has nothing more to do. */
  look({ name }: Holder): void {
    this.#all.look();
    this.#ofOne.get(name)?.look();
  }
}

/** So many places. */
class Room {
  readonly #most: number;
  readonly #held = new Set<Holder>();
  readonly #line = new WaitingLine();

  constructor(most: number) {
    this.#most = most;
  }

  async take(holder: Holder, signal: AbortSignal): Promise<void> {
    while (this.#held.size >= this.#most && !signal.aborted) {
      const idle = [...this.#held].filter(({ idleSince }) => idleSince !== undefined).sort((a, b) => (a.idleSince ?? 0) - (b.idleSince ?? 0))[0];
      if (idle !== undefined)
        await idle.makeRoom(); // longest-idle
      else await this.#line.join(signal);
    }
    if (signal.aborted) this.look(); // its turn is the next one's
    signal.throwIfAborted();
    this.#held.add(holder);
  }

  free(holder: Holder): void {
    if (this.#held.delete(holder)) this.look();
  }

  look(): void {
    this.#line.callNext();
  }
}
