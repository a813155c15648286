// A timer for something that happens again and again on one connection. To make and clear a timer for each request costs several times as much as to
// move one on.

/** Calls back after some time of silence. It never keeps the process alive: the connection that it watches does. */
export class ReusedTimer {
  #timer: NodeJS.Timeout | undefined;
  #ms = 0;
  #act: (() => void) | undefined;

  /** Calls `act` in `ms` milliseconds, unless `stop`, or another `start`, comes first. */
  start(ms: number, act: () => void): void {
    this.#act = act;
    if (this.#timer !== undefined && this.#ms === ms) {
      this.#timer.refresh();
      return;
    }
    clearTimeout(this.#timer);
    this.#ms = ms;
    this.#timer = setTimeout(() => this.#fire(), ms).unref();
  }

  /** Starts counting again. */
  refresh(): void {
    this.#timer?.refresh();
  }

  /** Forgets `act`, if it is the one that waits. The timer itself runs out by itself. */
  stop(act: () => void): void {
    if (this.#act === act) this.#act = undefined;
  }

  /** Forgets whatever waits, and the timer, which would stay until it runs out. For a connection that is gone. */
  end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#act = undefined;
  }

  #fire(): void {
    const act = this.#act;
    this.#act = undefined;
    act?.();
  }
}
