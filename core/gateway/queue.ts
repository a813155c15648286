// The queue in front of one adapter: so many at work, so many waiting, no more.
import PQueue from 'p-queue';
import { BlockhouseError } from '../errors.ts';

export interface QueueLimits {
  /** Requests at work at the same time; a stream holds its place until it ends. */
  readonly concurrency: number;
  /** Requests that may wait for a place. */
  readonly waiting: number;
}

/** What a client that was turned away is told to wait: long enough for some places to come free. */
const RETRY_AFTER_MS = 2000;

export class AdapterQueue {
  readonly #queue: PQueue;
  readonly #limits: QueueLimits;

  constructor(limits: QueueLimits) {
    this.#limits = limits;
    this.#queue = new PQueue({ concurrency: limits.concurrency });
  }

  /** Runs `task` when its turn comes. Throws QUEUE_FULL at once, or CANCELLED when `signal` fires while it waits. */
  async run<T>(task: () => Promise<T>, signal: AbortSignal): Promise<T> {
    if (this.#queue.pending >= this.#limits.concurrency && this.#queue.size >= this.#limits.waiting) {
      throw new BlockhouseError(
        'QUEUE_FULL',
        `The adapter is busy: ${this.#limits.concurrency} at work and ${this.#limits.waiting} waiting. Try again later.`,
        {
          retryAfterMs: RETRY_AFTER_MS,
        },
      );
    }
    try {
      return await this.#queue.add(task, { signal });
    } catch (error) {
      throw signal.aborted ? new BlockhouseError('CANCELLED', 'The caller left.', { cause: error }) : error;
    }
  }
}
