// Counts what came in the last hour, by a name. Pure: no I/O.

const HOUR_MS = 3_600_000;

/** What this process has taken, by name. Only what came since an hour is in it. `now` is a monotonic time in milliseconds. */
export class ByHour {
  readonly #times = new Map<string, number[]>();

  /** How many came in the last hour. */
  of(name: string, now: number): number {
    return this.#recent(name, now).length;
  }

  add(name: string, now: number): void {
    this.#times.set(name, [...this.#recent(name, now), now]);
  }

  /** Milliseconds until the oldest of them no longer counts. */
  waitOf(name: string, now: number): number {
    return Math.max(1000, (this.#recent(name, now)[0] ?? now) + HOUR_MS - now);
  }

  #recent(name: string, now: number): number[] {
    return (this.#times.get(name) ?? []).filter((at) => now - at < HOUR_MS);
  }
}
