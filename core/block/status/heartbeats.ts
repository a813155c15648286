// The heartbeats of all monitors of a workspace, on one timer. Pure: no I/O.
//
// one-timer: there is one timer while any monitor beats, and none otherwise. Beats with the same interval stay as far apart as their starts were,
//   so that a thousand monitors don't beat at the same moment.

/** The finest interval: those of blocks are whole seconds. */
const TICK_MS = 1000;

interface Beat {
  readonly ticks: number;
  readonly run: () => void;
  /** The tick at which it is due. */
  due: number;
}

/** The heartbeats of any number of monitors. */
export class HeartbeatWheel {
  readonly #tickMs: number;
  readonly #slots = new Map<number, Set<Beat>>();
  #tick = 0;
  #size = 0;
  #timer: NodeJS.Timeout | undefined;

  /** `tickMs` is the finest interval, in milliseconds. */
  constructor(tickMs = TICK_MS) {
    this.#tickMs = tickMs;
  }

  /** Calls `run` every `ms` milliseconds until the returned function is called. `run` must not throw. */
  every(ms: number, run: () => void): () => void {
    const beat: Beat = { ticks: Math.max(1, Math.round(ms / this.#tickMs)), run, due: 0 };
    this.#place(beat);
    this.#size += 1;
    this.#timer ??= setInterval(() => this.#turn(), this.#tickMs).unref(); // one-timer
    return () => this.#remove(beat);
  }

  #place(beat: Beat): void {
    beat.due = this.#tick + beat.ticks;
    const slot = this.#slots.get(beat.due) ?? new Set();
    this.#slots.set(beat.due, slot.add(beat));
  }

  #remove(beat: Beat): void {
    if (this.#slots.get(beat.due)?.delete(beat) !== true) return;
    this.#size -= 1;
    if (this.#size > 0) return;
    clearInterval(this.#timer); // one-timer
    this.#timer = undefined;
    this.#slots.clear();
  }

  #turn(): void {
    this.#tick += 1;
    const due = this.#slots.get(this.#tick) ?? new Set();
    for (const beat of [...due]) {
      if (!due.delete(beat)) continue; // an earlier beat of this turn has ended it
      this.#place(beat);
      beat.run();
    }
    this.#slots.delete(this.#tick);
  }
}
