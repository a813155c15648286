// The time of spans: that of the system, in parts of a millisecond, which does not jump within a request.
import type { HrTime } from '@opentelemetry/api';

/** The clock of the system is looked at this often. */
const LOOK_MS = 1000;
/** A difference as large as this is not one of rounding: the system has set its clock, or has slept. */
const MOST_OFF_MS = 20;

/** Milliseconds of the epoch. */
export class SpanClock {
  #offset = Date.now() - performance.now();
  #lookedAt = performance.now();

  now(): number {
    const now = performance.now();
    if (now - this.#lookedAt >= LOOK_MS) {
      this.#lookedAt = now;
      const offset = Date.now() - now;
      if (Math.abs(offset - this.#offset) > MOST_OFF_MS) this.#offset = offset;
    }
    return now + this.#offset;
  }
}

/** The form that the packages take without converting it. */
export function hrTime(ms: number): HrTime {
  const seconds = Math.trunc(ms / 1000);
  return [seconds, Math.round((ms - seconds * 1000) * 1e6) % 1e9];
}
