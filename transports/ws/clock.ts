// Time as the WebSocket transport sees it: handed in, so that what waits can be tested without waiting.

export interface Clock {
  /** Monotonic milliseconds. */
  now(): number;
  /** Calls `task` once after `ms`, unless the returned function is called before. */
  after(ms: number, task: () => void): () => void;
  /** Calls `task` every `ms` until the returned function is called. */
  every(ms: number, task: () => void): () => void;
}

/** None of its timers keeps the process alive: connections do. */
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
