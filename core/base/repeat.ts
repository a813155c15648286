// What could not be done is tried again in the background, until it is done.

const PAUSE_MS = 1000;

/** Work that is tried again, a second after each failure. Its timer keeps no process alive. */
export class Repeat {
  readonly #work: () => Promise<void>;
  #timer: NodeJS.Timeout | undefined;
  #isEnded = false;

  /** `work` rejects while it can't be done. Who began it has the failure already: those of later tries say nothing more. */
  constructor(work: () => Promise<void>) {
    this.#work = work;
  }

  /** Nothing changes where a try is due. */
  begin(): void {
    if (this.#isEnded) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#work().catch(() => this.begin());
    }, PAUSE_MS).unref();
  }

  /** No further try begins. */
  end(): void {
    this.#isEnded = true;
    clearTimeout(this.#timer);
  }
}
