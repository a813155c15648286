// Which blocks have begun to need a person. Pure.

/** Compares what needs a person now with what needed one before. */
export class Needed {
  #known: ReadonlySet<string> | undefined;

  /** The names that are new, and those that are gone. What is there the first time is not new. */
  take(names: readonly string[]): { readonly begun: readonly string[]; readonly over: readonly string[] } {
    const known = this.#known ?? new Set(names);
    const now = new Set(names);
    this.#known = now;
    return { begun: names.filter((name) => !known.has(name)), over: [...known].filter((name) => !now.has(name)) };
  }

  /** The next time is the first one again. */
  forget(): void {
    this.#known = undefined;
  }
}
