// Who waits for something, in the order in which they came. Pure: no I/O.

/** A line that anybody may leave. */
export class WaitingLine {
  readonly #waiting: (() => void)[] = [];

  /** Resolves when it is this one's turn. Rejects with the reason of `signal` when that fires first. */
  join(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const go = (): void => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const leave = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(go), 1);
        reject(signal.reason);
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.push(go);
    });
  }

  /** Calls the first one; false if nobody waits. */
  callNext(): boolean {
    const next = this.#waiting.shift();
    next?.();
    return next !== undefined;
  }
}
