// Time that passes only when a test says so.

interface Task {
  readonly due: number;
  readonly run: () => void;
}

export class ManualClock {
  #now = 0;
  #tasks = new Set<Task>();

  /** Timers that are set. */
  get pending(): number {
    return this.#tasks.size;
  }

  readonly now = (): number => this.#now;

  after(ms: number, run: () => void): () => void {
    const task = { due: this.#now + ms, run };
    this.#tasks.add(task);
    return () => void this.#tasks.delete(task);
  }

  every(ms: number, run: () => void): () => void {
    let cancel = (): void => undefined;
    const next = (): void => {
      cancel = this.after(ms, () => {
        next();
        run();
      });
    };
    next();
    return () => cancel();
  }

  /** The computer sleeps: time passes, and nothing runs. */
  sleep(ms: number): void {
    this.#now += ms;
  }

  /** Lets `ms` pass and runs what falls due, in its order. */
  pass(ms: number): void {
    const end = this.#now + ms;
    for (;;) {
      const next = [...this.#tasks].sort((a, b) => a.due - b.due)[0];
      if (next === undefined || next.due > end) break;
      this.#now = next.due;
      this.#tasks.delete(next);
      next.run();
    }
    this.#now = end;
  }
}
