// Joins the changes of a burst into one notice.
//
// B1 A notice leaves `quietMs` after the last change, and never later than `patienceMs` after the first.
// B2 So notices are at least `quietMs` apart, however many changes there are, and one follows the last change.
// B3 One timer at most; a further change of a burst only notes the time, so that thousands of them cost nothing.
import type { Clock } from './clock.ts';

export interface BatchTiming {
  readonly quietMs: number;
  readonly patienceMs: number;
}

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
    if (this.#cancel !== undefined) return; // B3
    this.#first = this.#last;
    this.#wait();
  }

  /** Forgets the changes so far: whoever is to be told knows already, or is gone. */
  clear(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #wait(): void {
    this.#cancel = this.#clock.after(Math.max(0, this.#due() - this.#clock.now()), () => this.#wake());
  }

  #due(): number {
    return Math.min(this.#last + this.#timing.quietMs, this.#first + this.#timing.patienceMs); // B1
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
