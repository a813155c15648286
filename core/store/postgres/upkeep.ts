// What a server does for a workspace in a database again and again, whether or not somebody asks for anything.

/** Upkeep: once at the start, and then by time. Its timer keeps no process alive. */
export abstract class Upkeep {
  readonly #everyMs: number;
  readonly #onFault: (error: unknown) => void;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** `onFault` gets what `keep` rejects with, until `close`. */
  constructor(everyMs: number, onFault: (error: unknown) => void) {
    this.#everyMs = everyMs;
    this.#onFault = onFault;
  }

  /** Rejects with STORE_UNREACHABLE. */
  abstract keep(): Promise<void>;

  protected get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Now, and each time that so many milliseconds have passed. */
  start(): void {
    const fail = (error: unknown): void => {
      if (!this.#isClosed) this.#onFault(error);
    };
    const keep = (): void => void this.keep().catch(fail);
    keep();
    this.#timer = setInterval(keep, this.#everyMs).unref();
  }

  /** What is under way may fail by then, and nobody hears of it. */
  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
  }
}
