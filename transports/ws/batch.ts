// Joins the changes of a burst into one notice.
//
// quiet-or-late: a notice leaves `quietMs` after the last change of a burst, and never later than `patienceMs` after the
// first. Notices are therefore at least `quietMs` apart, and one always follows the last change.
// one-timer: there is at most one timer. A further change of a burst only records the time, so thousands of them are cheap.
import type { Clock } from './clock.ts';

/** Times in milliseconds. */
export interface BatchTiming {
  readonly quietMs: number;
  readonly patienceMs: number;
}

/** Joins the changes of one subscription. */
export class Batch {
  readonly #timing: BatchTiming;
  readonly #clock: Clock;
  readonly #notify: () => void;
  #first = 0;
  #last = 0;
  #cancel: (() => void) | undefined;

  constructor(timing: BatchTiming, clock: Clock, notify: () => void) {
    this.#timing = timing;
    this.#clock = clock;
    this.#notify = notify;
  }

  change(): void {
    this.#last = this.#clock.now();
    if (this.#cancel !== undefined) return; // one-timer
    this.#first = this.#last;
    this.#wait();
  }

  /** Forgets the changes so far, because the client has them already or does not follow the block any more. */
  clear(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #wait(): void {
    this.#cancel = this.#clock.after(Math.max(0, this.#due() - this.#clock.now()), () => this.#wake());
  }

  #due(): number {
    return Math.min(this.#last + this.#timing.quietMs, this.#first + this.#timing.patienceMs); // quiet-or-late
  }

  #wake(): void {
    if (this.#due() > this.#clock.now()) {
      this.#wait();
      return;
    }
    this.#cancel = undefined;
    this.#notify();
  }
}
