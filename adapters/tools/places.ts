// The places for processes of servers: so many may run at once. Pure: no I/O.
//
// longest-idle: where all are taken, the server that has had nothing to do for longest is ended; if all have work, the next one waits for its turn.
import { WaitingLine } from './waiting-line.ts';

/** What holds a place. */
export interface Holder {
  /** Since when it has had nothing to do; undefined while it works, starts or ends. */
  readonly idleSince: number | undefined;
  /** Ends its process. Resolves when its place is free. */
  makeRoom(): Promise<void>;
}

/** Gives places, in the order in which they were asked for. */
export class Places {
  readonly #most: number;
  readonly #held = new Set<Holder>();
  readonly #line = new WaitingLine();

  constructor(most: number) {
    this.#most = most;
  }

  /** Rejects with the reason of `signal` when that fires first. */
  async take(holder: Holder, signal: AbortSignal): Promise<void> {
    while (this.#held.size >= this.#most) {
      signal.throwIfAborted();
      const idle = [...this.#held].filter(({ idleSince }) => idleSince !== undefined).sort((a, b) => (a.idleSince ?? 0) - (b.idleSince ?? 0))[0];
      if (idle !== undefined)
        await idle.makeRoom(); // longest-idle
      else await this.#line.join(signal);
    }
    signal.throwIfAborted();
    this.#held.add(holder);
  }

  free(holder: Holder): void {
    if (this.#held.delete(holder)) this.look();
  }

  /** To be called when a holder has nothing more to do. */
  look(): void {
    this.#line.callNext();
  }
}
