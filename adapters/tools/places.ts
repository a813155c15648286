// The places for processes of servers: so many may run at once. Pure: no I/O.
//
// longest-idle: where all are taken, the server that has had nothing to do for longest is ended; if all have work, the next one waits for its turn.

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
  readonly #waiting: (() => void)[] = [];

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
      else await this.#turn(signal);
    }
    signal.throwIfAborted();
    this.#held.add(holder);
  }

  free(holder: Holder): void {
    if (this.#held.delete(holder)) this.look();
  }

  /** To be called when a holder has nothing more to do. */
  look(): void {
    this.#waiting.shift()?.();
  }

  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const go = (): void => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const leave = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(go), 1);
        reject(signal.reason);
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.push(go);
    });
  }
}
