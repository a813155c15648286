// The places in front of one destination: a limited number of attempts running, a limited number waiting in line, and no more.
//
// one-place: An attempt holds one place from its start until its work ends or its caller leaves, whichever comes first.
// in-line: A call that may have a place finds it free or waits, and no call that comes later is given its place. Whose turn it is among callers, and who may
//   wait, is in waiting-room.ts.
// leaving-frees: A caller who leaves gives up the place at once, whether the attempt is waiting or running. An attempt that is read on (read-on.ts) keeps it until
//   its end.
//
// The line is p-queue's, with our order. An attempt that finds a place free never enters it: the package costs such a call more than the rest of its way through here.
import PQueue from 'p-queue';
import { callerLeft, endWhenCallerLeaves, type GoOn, offAbort, onAbort } from '../base/abort.ts';
import { BlockhouseError } from '../errors.ts';
import { type PlaceLimit, UNLIMITED, type WaitingLine } from './place-limit.ts';
import { FairLine, type LineOptions, WaitingRoom } from './waiting-room.ts';

/** The limits of each queue. */
export interface QueueLimits {
  /** The most attempts that run at the same time; a streamed answer counts until it ends. */
  readonly concurrency: number;
  /** The most attempts that wait for a place. */
  readonly waiting: number;
}

/** Long enough for some places to become free. */
const RETRY_AFTER_MS = 2000;

/** Attempts of one caller start in the order in which they came; callers take turns. */
export class AttemptQueue implements WaitingLine {
  readonly #limits: QueueLimits;
  readonly #room: WaitingRoom;
  /** Starts the calls that may start. The room counts the places, so the package itself sets no limit. */
  readonly #line: PQueue<FairLine, LineOptions>;

  constructor(limits: QueueLimits) {
    this.#limits = limits;
    const room = new WaitingRoom(limits.concurrency);
    this.#room = room;
    this.#line = new PQueue<FairLine, LineOptions>({
      queueClass: class extends FairLine {
        constructor() {
          super(room);
        }
      },
    });
  }

  /** Attempts that run, and that wait. */
  get load(): { readonly atWork: number; readonly waiting: number } {
    return { atWork: this.#room.atWork, waiting: this.#room.waiting };
  }

  get limits(): QueueLimits {
    return this.#limits;
  }

  /** Callers who run or wait. */
  get callers(): number {
    return this.#room.callers;
  }

  /**
   * Runs `task` of `caller` when it is its turn and settles as it does. Rejects with QUEUE_FULL when the waiting room has no space, or a caller with fewer
   * calls in it needs that space, and with CANCELLED when `signal` fires during the wait or the work. With `goOn`, the work keeps its place after that
   * (`endWhenCallerLeaves`). While one of the limits has no room, the attempt waits without a place.
   */
  run<T>(
    task: () => Promise<T>,
    caller: string,
    signal: AbortSignal,
    goOn?: (rest: Promise<T>) => AbortSignal | undefined,
    limits: readonly PlaceLimit[] = UNLIMITED,
  ): Promise<T> {
    if (signal.aborted) return Promise.reject(callerLeft(signal.reason));
    if (this.#room.hasPlaceFor(caller, limits)) {
      this.#room.take(caller, limits);
      return endWhenCallerLeaves(task, signal, () => this.#leave(caller, limits), goOn); // one-place
    }
    if (this.#hasSpaceFor(caller)) return this.#wait(task, { caller, limits }, signal, goOn);
    return Promise.reject(this.#full());
  }

  /** Makes space by refusing a call of another caller, if one may be refused. */
  #hasSpaceFor(caller: string): boolean {
    if (this.#room.waiting < this.#limits.waiting) return true;
    const other = this.#room.newestOfGreediest(caller); // fair-room
    other?.leaving.abort(this.#full());
    return other !== undefined;
  }

  async #wait<T>(
    task: () => Promise<T>,
    { caller, limits }: { readonly caller: string; readonly limits: readonly PlaceLimit[] },
    signal: AbortSignal,
    goOn: GoOn<T> | undefined,
  ): Promise<T> {
    const leaving = new AbortController();
    const place = onAbort(signal, () => leaving.abort(callerLeft(signal.reason))); // leaving-frees
    const take = async (): Promise<void> => {
      offAbort(place);
      this.#room.take(caller, limits);
    };
    for (const limit of limits) limit.wait(this);
    try {
      await this.#line.add(take, { caller, limits, leaving, signal: leaving.signal });
    } finally {
      offAbort(place);
      for (const limit of limits) limit.endWait(this);
    }
    if (signal.aborted) {
      this.#leave(caller, limits);
      throw callerLeft(signal.reason);
    }
    return endWhenCallerLeaves(task, signal, () => this.#leave(caller, limits), goOn); // one-place
  }

  /** in-line: the next call has the place before this returns. */
  #leave(caller: string, limits: readonly PlaceLimit[]): void {
    this.#room.leave(caller, limits);
    this.startWaiting();
  }

  startWaiting(): void {
    if (this.#room.waiting === 0) return;
    this.#line.pause();
    this.#line.start();
  }

  #full(): BlockhouseError {
    const { concurrency, waiting } = this.#limits;
    const message = `The queue of the provider is full (${concurrency} requests running, ${waiting} waiting, shared between callers). Try again later.`;
    return new BlockhouseError('QUEUE_FULL', message, { retryAfterMs: RETRY_AFTER_MS });
  }
}
