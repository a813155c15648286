// Imports take turns, because each holds its whole archive in memory while it is received and unpacked.
//
// few-at-once: at most `atOnce` imports are received or unpacked at a time; the body of a waiting one stays unread.
// bounded-wait: an import that finds `waiting` others before it, or waits longer than `patienceMs`, gets QUEUE_FULL with a Retry-After.
import PQueue from 'p-queue';
import { BlockhouseError } from '../../../core/index.ts';

/** How many imports run and wait. */
export interface ImportLimits {
  readonly atOnce: number;
  readonly waiting: number;
  /** The longest wait for a turn, in milliseconds. */
  readonly patienceMs: number;
}

/** Two archives of 64 MiB take as much memory as the rest of a busy server. The wait ends well before the request would time out. */
export const DEFAULT_IMPORT_LIMITS: ImportLimits = { atOnce: 2, waiting: 16, patienceMs: 30_000 };
/** About as long as the import of a large archive takes. */
const RETRY_AFTER_MS = 5000;

/** The queue of imports of one server. */
export class ImportQueue {
  readonly #limits: ImportLimits;
  readonly #queue: PQueue;

  constructor(limits: ImportLimits) {
    this.#limits = limits;
    this.#queue = new PQueue({ concurrency: limits.atOnce }); // few-at-once
  }

  /** Calls `work`, which receives and unpacks, when its turn comes. Rejects with QUEUE_FULL, or with CANCELLED when `signal` fires during the wait. */
  async run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    if (this.#queue.pending >= this.#limits.atOnce && this.#queue.size >= this.#limits.waiting) throw full(); // bounded-wait
    const waiting = new AbortController();
    const leave = (): void => waiting.abort(new BlockhouseError('CANCELLED', 'The client closed the connection before the import started.'));
    const patience = setTimeout(() => waiting.abort(full()), this.#limits.patienceMs);
    // An import that has begun keeps its place when its client leaves: another one in that place would hold memory beside it.
    const begin = (): void => {
      clearTimeout(patience);
      signal.removeEventListener('abort', leave);
    };
    signal.addEventListener('abort', leave);
    if (signal.aborted) leave();
    try {
      const task = (): Promise<T> => {
        begin();
        return work();
      };
      return await this.#queue.add(task, { signal: waiting.signal });
    } finally {
      begin();
    }
  }
}

function full(): BlockhouseError {
  return new BlockhouseError('QUEUE_FULL', 'Too many imports are waiting; send this archive again after the delay in Retry-After.', {
    retryAfterMs: RETRY_AFTER_MS,
  });
}
