// How often a destination that fails is tried, by all callers together. Pure: no I/O.
//
// no-storm: At most SLOTS probes begin within any SHORTEST_MS, however many callers there are. A slot is held until its probe ends, for SHORTEST_MS at least.
// no-hostage: A probe that hangs gives its slot up after LONGEST_MS.
// one-slot: A caller holds one slot at a time, whatever models it asks for.
// newcomers: Half of the slots are for callers who have not tried yet, so that callers who keep failing don't take the turn of one whose calls would succeed.
import type { Admission } from './circuit.ts';

const SLOTS = 8;
const FOR_ALL = SLOTS / 2;
const SHORTEST_MS = 1000;
const LONGEST_MS = 5000;
/** own-turn in circuit.ts: half of what the slots for all can bear. */
const TURN_MS = (2 * SHORTEST_MS) / FOR_ALL;

interface Slot {
  client: string;
  probe: Admission | undefined;
  begunAt: number;
  freeAt: number;
}

/** The slots of one destination. */
export class ProbeSlots {
  readonly #now: () => number;
  readonly #slots: readonly Slot[];

  /** `now` in monotonic milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
    this.#slots = Array.from({ length: SLOTS }, () => ({ client: '', probe: undefined, begunAt: 0, freeAt: Number.NEGATIVE_INFINITY }));
  }

  /** Milliseconds in which so many callers can try once each. */
  roundMs(callers: number): number {
    return callers * TURN_MS;
  }

  /** Milliseconds until `client` may try; 0 if it may now. */
  waitMs(client: string, isNewcomer: boolean): number {
    const now = this.#now();
    const held = this.#slots.find((slot) => slot.client === client && slot.freeAt > now);
    const freeAt = held?.freeAt ?? Math.min(...this.#open(isNewcomer).map((slot) => slot.freeAt)); // one-slot
    return Math.max(0, freeAt - now);
  }

  /** After `waitMs` of 0. */
  take(probe: Admission, client: string, isNewcomer: boolean): void {
    const now = this.#now();
    const free = this.#open(isNewcomer).findLast((slot) => slot.freeAt <= now);
    if (free !== undefined) Object.assign(free, { client, probe, begunAt: now, freeAt: now + LONGEST_MS }); // no-hostage
  }

  /** The probe has ended. */
  release(probe: Admission): void {
    const slot = this.#slots.find((each) => each.probe === probe);
    if (slot === undefined) return;
    slot.probe = undefined;
    slot.freeAt = Math.min(slot.freeAt, Math.max(slot.begunAt + SHORTEST_MS, this.#now())); // no-storm
  }

  /** newcomers: they take the last ones first. */
  #open(isNewcomer: boolean): readonly Slot[] {
    return isNewcomer ? this.#slots : this.#slots.slice(0, FOR_ALL);
  }
}
