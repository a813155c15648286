// The clock of the WebSocket transport. It is passed in, so that tests of timers need not wait.

/** Time and timers. */
export interface Clock {
  /** Monotonic milliseconds. */
  now(): number;
  /** Calls `task` once after `ms`, unless the returned function is called before. */
  after(ms: number, task: () => void): () => void;
  /** Calls `task` every `ms` until the returned function is called. */
  every(ms: number, task: () => void): () => void;
}

/** The system's clock. Its timers do not keep the process alive, because open connections do. */
export const realClock: Clock = {
  now: () => performance.now(),
  after(ms, task) {
    const timer = setTimeout(task, ms).unref();
    return () => clearTimeout(timer);
  },
  every(ms, task) {
    const timer = setInterval(task, ms).unref();
    return () => clearInterval(timer);
  },
};
