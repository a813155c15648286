// Imports take turns: each holds its whole archive in memory while it is received and unpacked.
//
// T1 No more than `atOnce` are received or unpacked at the same time; the body of one that waits stays unread.
// T2 Nobody waits without an end: where too many wait, or for too long, the answer is QUEUE_FULL with a Retry-After.
import PQueue from 'p-queue';
import { BlockhouseError } from '../../core/index.ts';

export interface ImportLimits {
  readonly atOnce: number;
  readonly waiting: number;
  /** Milliseconds that one may wait for its turn. */
  readonly patienceMs: number;
}

/** Two of 64 MiB are as much memory as the rest of a busy server; a client is told long before its request would time out. */
export const DEFAULT_IMPORT_LIMITS: ImportLimits = { atOnce: 2, waiting: 16, patienceMs: 30_000 };
/** About as long as a large archive takes. */
const RETRY_AFTER_MS = 5000;

export class ImportQueue {
  readonly #limits: ImportLimits;
  readonly #queue: PQueue;

  constructor(limits: ImportLimits) {
    this.#limits = limits;
    this.#queue = new PQueue({ concurrency: limits.atOnce });
  }

  /** Receives and unpacks by `work` when its turn comes. Rejects with QUEUE_FULL (T2), or with CANCELLED when `signal` fires while it waits. */
  async run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    if (this.#queue.pending >= this.#limits.atOnce && this.#queue.size >= this.#limits.waiting) throw full();
    const waiting = new AbortController();
    const leave = (): void => waiting.abort(new BlockhouseError('CANCELLED', 'The client left before its turn came.'));
    const patience = setTimeout(() => waiting.abort(full()), this.#limits.patienceMs);
    // Work that has begun is not left alone when its client goes: its place would be given away while it still holds its memory.
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
  return new BlockhouseError('QUEUE_FULL', 'As many archives as may be are being imported; send this one again later.', { retryAfterMs: RETRY_AFTER_MS });
}
