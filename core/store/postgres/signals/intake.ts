// What a server hears of others, within bounds: each role of the database that knows the names of the channels may speak there as fast as it can.
//
// a-part-of-the-time: once notices have taken MOST_MS of a WINDOW_MS, the further ones of that time are left out. That loses nothing: they are hints.
// told-once: after a time in which some were left out, `onLost` says so, once for all of AFTER_MS.

/** What is done with notices. */
export interface IntakeOptions {
  take(payload: string): void;
  onLost(): void;
  /** Monotonic milliseconds. */
  readonly clock?: () => number;
  readonly afterMs?: number;
}

const WINDOW_MS = 200;
const MOST_MS = 50;
const AFTER_MS = 3000;

/** Takes notices. */
export class Intake {
  readonly #options: IntakeOptions;
  readonly #clock: () => number;
  #windowAt = Number.NEGATIVE_INFINITY;
  #usedMs = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: IntakeOptions) {
    this.#options = options;
    this.#clock = options.clock ?? (() => performance.now());
  }

  /** a-part-of-the-time. */
  hear(payload: string): void {
    const from = this.#clock();
    if (from - this.#windowAt >= WINDOW_MS) {
      this.#windowAt = from;
      this.#usedMs = 0;
    }
    if (this.#usedMs >= MOST_MS) {
      this.#lose();
      return;
    }
    this.#options.take(payload);
    this.#usedMs += this.#clock() - from;
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  /** told-once. */
  #lose(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#options.onLost();
    }, this.#options.afterMs ?? AFTER_MS).unref();
  }
}
