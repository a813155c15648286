// The places in front of one destination: a limited number of attempts running, a limited number waiting in line, and no more.
//
// one-place: An attempt holds one place from its start until its work ends or its caller leaves, whichever comes first.
// in-line: While somebody waits, nobody who comes later gets a place. A place that becomes free goes to the head of the line.
// leaving-frees: A caller who leaves gives up the place at once, whether the attempt is waiting or running.
//
// The line is p-queue's. An attempt that finds a place free never enters it: the package costs such a call more than the rest of its way through here.
import PQueue from 'p-queue';
import { BlockhouseError } from '../errors.ts';
import { callerLeft, endWhenCallerLeaves, offAbort, onAbort } from './abort.ts';

/** The limits of each queue. */
export interface QueueLimits {
  /** The most attempts that run at the same time; a streamed answer counts until it ends. */
  readonly concurrency: number;
  /** The most attempts that wait for a place. */
  readonly waiting: number;
}

/** Long enough for some places to become free. */
const RETRY_AFTER_MS = 2000;

/** Attempts start in the order in which they came. */
export class AttemptQueue {
  readonly #limits: QueueLimits;
  /** Places that are taken. */
  #running = 0;
  /** One at a time is at the head; the others wait behind it. */
  readonly #line = new PQueue({ concurrency: 1 });
  /** Gives a place to the head of the line, if it has found none. */
  #giveToHead: (() => void) | undefined;

  constructor(limits: QueueLimits) {
    this.#limits = limits;
  }

  /** Attempts that run, and that wait. */
  get load(): { readonly atWork: number; readonly waiting: number } {
    return { atWork: this.#running, waiting: this.#waiting };
  }

  get limits(): QueueLimits {
    return this.#limits;
  }

  /**
   * Runs `task` when a place is free and settles as it does. Rejects with QUEUE_FULL when the waiting room has no space, and with CANCELLED when
   * `signal` fires first.
   */
  run<T>(task: () => Promise<T>, signal: AbortSignal): Promise<T> {
    if (signal.aborted) return Promise.reject(callerLeft(signal.reason));
    const waiting = this.#waiting;
    if (waiting === 0 && this.#running < this.#limits.concurrency) {
      this.#running += 1;
      return endWhenCallerLeaves(task, signal, this.#leave); // one-place
    }
    if (waiting < this.#limits.waiting) return this.#wait(task, signal);
    return Promise.reject(this.#full());
  }

  get #waiting(): number {
    return this.#line.size + this.#line.pending;
  }

  async #wait<T>(task: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const leaving = new AbortController();
    const place = onAbort(signal, () => leaving.abort(callerLeft(signal.reason))); // leaving-frees
    try {
      await this.#line.add(() => this.#headOfLine(leaving.signal), { signal: leaving.signal });
    } finally {
      offAbort(signal, place);
    }
    if (signal.aborted) {
      this.#leave();
      throw callerLeft(signal.reason);
    }
    return endWhenCallerLeaves(task, signal, this.#leave); // one-place
  }

  /** Resolves when the head of the line has got a place. */
  #headOfLine(leaving: AbortSignal): Promise<void> {
    if (this.#running < this.#limits.concurrency) {
      this.#running += 1;
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      this.#giveToHead = resolve;
      leaving.addEventListener('abort', () => {
        if (this.#giveToHead === resolve) this.#giveToHead = undefined;
      });
    });
  }

  /** in-line: the place passes from one to the other without being free in between. */
  readonly #leave = (): void => {
    const give = this.#giveToHead;
    this.#giveToHead = undefined;
    if (give === undefined) this.#running -= 1;
    else give();
  };

  #full(): BlockhouseError {
    const { concurrency, waiting } = this.#limits;
    return new BlockhouseError('QUEUE_FULL', `The queue of the provider is full (${concurrency} requests running, ${waiting} waiting). Try again later.`, {
      retryAfterMs: RETRY_AFTER_MS,
    });
  }
}
