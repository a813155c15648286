// Turns at something that only one may have at a time.

/** Turns at files by path, in the order in which they were asked for. */
export class Turns {
  readonly #last = new Map<string, Promise<void>>();

  begin(path: string): { readonly begun: Promise<void>; end(): void } {
    const before = this.#last.get(path) ?? Promise.resolve();
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const last = before.then(() => ended);
    this.#last.set(path, last);
    void last.then(() => this.#last.get(path) === last && this.#last.delete(path));
    return { begun: before, end };
  }
}
