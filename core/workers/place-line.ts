// The calls of one worker that wait for the places of their key and its group. Pure: no I/O.
//
// first-come: of the calls that wait for the same places, the first one gets them.
import { haveRoom, type PlaceLimit, type WaitingLine } from '../gateway/place-limit.ts';

/** The places of one call. */
export interface TakenPlaces {
  /** True once the call has them; false if it has left before. */
  readonly taken: Promise<boolean>;
  /** Gives them back, or waits for them no longer. Only once. */
  leave(): void;
}

interface Waiting {
  readonly limits: readonly PlaceLimit[];
  end(hasPlaces: boolean): void;
}

/** The line of one worker. */
export class PlaceLine implements WaitingLine {
  readonly #waiting = new Set<Waiting>();

  take(limits: readonly PlaceLimit[]): TakenPlaces {
    const leave = (): void => {
      for (const limit of limits) limit.leave();
    };
    if (haveRoom(limits)) {
      for (const limit of limits) limit.take();
      return { taken: Promise.resolve(true), leave };
    }
    let end = (_hasPlaces: boolean): void => undefined;
    const taken = new Promise<boolean>((resolve) => {
      end = resolve;
    });
    const call: Waiting = { limits, end };
    this.#waiting.add(call);
    for (const limit of limits) limit.wait(this);
    return { taken, leave: () => (this.#endWait(call, false) ? undefined : leave()) };
  }

  /** first-come. */
  startWaiting(): void {
    for (const call of this.#waiting) {
      if (!haveRoom(call.limits)) continue;
      for (const limit of call.limits) limit.take();
      this.#endWait(call, true);
    }
  }

  /** False if it does not wait. */
  #endWait(call: Waiting, hasPlaces: boolean): boolean {
    if (!this.#waiting.delete(call)) return false;
    for (const limit of call.limits) limit.endWait(this);
    call.end(hasPlaces);
    return true;
  }
}
