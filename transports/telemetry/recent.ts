// The few things that were made last, so that what most requests need is not made again. Pure: no I/O.
//
// bounded: the oldest goes when a new one comes. A caller that makes up names so costs time, and no memory.

const USUAL = 64;

/** The last things of a kind. They are compared one by one: for a few, that is faster than to make a name of what they differ in. */
export class Recent<T> {
  readonly all: T[] = [];
  readonly #most: number;
  #next = 0;

  constructor(most = USUAL) {
    this.#most = most;
  }

  keep(one: T): T {
    this.all[this.#next] = one; // bounded
    this.#next = (this.#next + 1) % this.#most;
    return one;
  }
}
