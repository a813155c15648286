// How long a call waits for an answer of the database about its key.
//
// no-place-in-vain: a call that waits has a place at its provider, which all others need, also those that ask nothing of the database. So it waits for a while, counted from when the
//   database was asked first without an answer, and is refused then; while that lasts, further calls are refused almost at once. The question goes on, and its answer serves the next call.
// few-places: where a quarter of the places of a provider wait already, as with the first calls of many keys while the database is slow, further calls wait for a second at most.
import { BlockhouseError } from '../../errors.ts';
import { NOT_ANSWERING } from './faults.ts';

/** As long as a statement may take. */
const PATIENCE_MS = 5000;
/** A database that has come back answers in that time. */
const SHORTEST_MS = 50;
/** few-places. */
const FEW = 16;
const BESIDE_FEW_MS = 1000;
const RETRY_AFTER_MS = 1000;

/** Of one server. */
export class Patience {
  readonly #clock: () => number;
  readonly #mostMs: number;
  /** Since when an answer is owed, and when somebody has asked last. */
  #since: number | undefined;
  #waiting = 0;
  #askedAt = Number.NEGATIVE_INFINITY;

  /** `clock` in monotonic milliseconds. */
  constructor({ mostMs = PATIENCE_MS, clock = () => performance.now() }: { readonly mostMs?: number; readonly clock?: () => number } = {}) {
    this.#clock = clock;
    this.#mostMs = mostMs;
  }

  /** The database has answered. */
  heard(): void {
    this.#since = undefined;
  }

  /** What `asked` resolves to. Rejects with STORE_UNREACHABLE when that takes too long. no-place-in-vain. */
  async waitFor<T>(asked: Promise<T>): Promise<T> {
    const now = this.#clock();
    if (this.#since === undefined || now - this.#askedAt > this.#mostMs) this.#since = now; // what was long ago says nothing
    this.#askedAt = now;
    const mostMs = this.#waiting < FEW ? this.#mostMs : Math.min(this.#mostMs, BESIDE_FEW_MS);
    const leftMs = Math.max(SHORTEST_MS, Math.min(this.#since + this.#mostMs - now, mostMs));
    this.#waiting += 1;
    let timer: NodeJS.Timeout | undefined;
    const tooLong = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(tooSlow()), leftMs).unref();
    });
    try {
      return await Promise.race([asked, tooLong]);
    } finally {
      this.#waiting -= 1;
      clearTimeout(timer);
    }
  }
}

function tooSlow(): BlockhouseError {
  const text = 'The database does not answer in time. Try again.';
  return new BlockhouseError('STORE_UNREACHABLE', text, { forKeys: NOT_ANSWERING, retryAfterMs: RETRY_AFTER_MS });
}
