// The time and its timers, so that a test can give its own.

/** The time, and what happens later. */
export interface Timers {
  /** Epoch milliseconds. */
  now(): number;
  /** Runs something once; the returned function prevents it. */
  after(ms: number, run: () => void): () => void;
}

/** Those of the browser. */
export const timers: Timers = {
  now: () => Date.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};
