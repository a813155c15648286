// The queue in front of one adapter: so many at work, so many waiting, no more.
//
// Y1 Whoever waits starts in the order of coming, as soon as a place is free.
// Y2 A caller that leaves frees its place at once, also when the work that was begun for it doesn't notice.
//
// By hand and not by `p-queue`, which the monitors use: every request passes here, also where nobody waits. The figure is in
// docs/decisions.
import { BlockhouseError } from '../errors.ts';

export interface QueueLimits {
  /** Requests at work at the same time; a stream holds its place until it ends. */
  readonly concurrency: number;
  /** Requests that may wait for a place. */
  readonly waiting: number;
}

/** What a client that was turned away is told to wait: long enough for some places to come free. */
const RETRY_AFTER_MS = 2000;
const ONCE = { once: true } as const;

export class AdapterQueue {
  readonly #limits: QueueLimits;
  /** Each starts one that waits. A set keeps its order, and lets one go from the middle. */
  readonly #waiting = new Set<() => void>();
  #atWork = 0;

  constructor(limits: QueueLimits) {
    this.#limits = limits;
  }

  /** Runs `task` when its turn comes. Throws QUEUE_FULL at once, or CANCELLED when `signal` fires while it waits. */
  async run<T>(task: () => Promise<T>, signal: AbortSignal): Promise<T> {
    if (signal.aborted) throw left(signal);
    if (this.#atWork >= this.#limits.concurrency) await this.#turn(signal);
    else this.#atWork += 1;
    return this.#work(task, signal);
  }

  /** Y2. Work that does notice says how far it came, so it is left a turn to end by itself. */
  #work<T>(task: () => Promise<T>, signal: AbortSignal): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      let isAtWork = true;
      const end = (): void => {
        if (!isAtWork) return;
        isAtWork = false;
        signal.removeEventListener('abort', leave);
        this.#pass();
      };
      const fail = (error: unknown): void => {
        end();
        reject(error);
      };
      const leave = (): void => void setImmediate(() => fail(left(signal)));
      signal.addEventListener('abort', leave, ONCE);
      try {
        task().then((result) => {
          end();
          resolve(result);
        }, fail);
      } catch (error) {
        fail(error);
      }
    });
  }

  /** Resolves with the place of somebody who has ended. */
  #turn(signal: AbortSignal): Promise<void> {
    if (this.#waiting.size >= this.#limits.waiting) throw this.#full();
    return new Promise((resolve, reject) => {
      const start = (): void => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const leave = (): void => {
        this.#waiting.delete(start); // Y2
        reject(left(signal));
      };
      this.#waiting.add(start);
      signal.addEventListener('abort', leave, ONCE);
    });
  }

  /** Y1: the place goes to the next one, or is free. */
  #pass(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#atWork -= 1;
      return;
    }
    this.#waiting.delete(next);
    next();
  }

  #full(): BlockhouseError {
    const { concurrency, waiting } = this.#limits;
    return new BlockhouseError('QUEUE_FULL', `The adapter is busy: ${concurrency} at work and ${waiting} waiting. Try again later.`, {
      retryAfterMs: RETRY_AFTER_MS,
    });
  }
}

function left(signal: AbortSignal): BlockhouseError {
  return new BlockhouseError('CANCELLED', 'The caller left.', { cause: signal.reason });
}
