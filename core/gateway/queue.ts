// The queue in front of one destination: a limited number of attempts running, a limited number waiting, and no more.
//
// one-place: An attempt holds one place from its start until its work ends or its caller leaves, whichever comes first.
// leaving-frees: A caller who leaves gives up the place at once, whether the attempt is waiting or running.
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
  readonly #queue: PQueue;

  constructor(limits: QueueLimits) {
    this.#limits = limits;
    this.#queue = new PQueue({ concurrency: limits.concurrency });
  }

  /** Attempts that run, and that wait. */
  get load(): { readonly atWork: number; readonly waiting: number } {
    return { atWork: this.#queue.pending, waiting: this.#queue.size };
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
    const work = (): Promise<T> => endWhenCallerLeaves(task, signal); // one-place
    if (this.#queue.pending < this.#limits.concurrency) return this.#queue.add(work);
    if (this.#queue.size < this.#limits.waiting) return this.#wait(work, signal);
    return Promise.reject(this.#full());
  }

  /** The package takes a signal for a task that waits. It gets one of its own, which says nothing more once the task has begun. */
  #wait<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const waiting = new AbortController();
    const place = onAbort(signal, () => waiting.abort(callerLeft(signal.reason))); // leaving-frees
    const begin = (): Promise<T> => {
      offAbort(signal, place);
      return work();
    };
    return this.#queue.add(begin, { signal: waiting.signal });
  }

  #full(): BlockhouseError {
    const { concurrency, waiting } = this.#limits;
    return new BlockhouseError('QUEUE_FULL', `The queue of the provider is full (${concurrency} requests running, ${waiting} waiting). Try again later.`, {
      retryAfterMs: RETRY_AFTER_MS,
    });
  }
}
