// Counts and histograms, kept so that a call adds to some numbers and a scrape does the rest. Pure: no I/O.
import type { Family } from './families.ts';

/** How many values were at most as large as each edge, and the sum of all. */
export class Histogram {
  readonly edges: readonly number[];
  /** By bucket, not added up; the last one is of larger values. */
  readonly counts: Float64Array;
  sum = 0;

  constructor({ edges = [] }: Family) {
    this.edges = edges;
    this.counts = new Float64Array(edges.length + 1);
  }

  observe(value: number): void {
    const { edges } = this;
    let bucket = 0;
    while (bucket < edges.length && value > (edges[bucket] as number)) bucket += 1;
    this.counts[bucket] = (this.counts[bucket] ?? 0) + 1;
    this.sum += value;
  }
}

/** A count for each value of some labels. */
export class Counts {
  readonly #counts = new Map<string, number>();

  add(label: string, amount = 1): void {
    this.#counts.set(label, (this.#counts.get(label) ?? 0) + amount);
  }

  entries(): IterableIterator<[string, number]> {
    return this.#counts.entries();
  }
}

/** What is made for each of a limited number of names. */
export class Shelves<T> {
  readonly #make: () => T;
  readonly #most: number;
  readonly #shelves = new Map<string, T>();

  constructor(make: () => T, most = Number.POSITIVE_INFINITY) {
    this.#make = make;
    this.#most = most;
  }

  get isFull(): boolean {
    return this.#shelves.size >= this.#most;
  }

  find(name: string): T | undefined {
    return this.#shelves.get(name);
  }

  /** Made where it is not there yet, also above the limit: who has names that clients choose asks `isFull` first. */
  of(name: string): T {
    const known = this.#shelves.get(name);
    if (known !== undefined) return known;
    const made = this.#make();
    this.#shelves.set(name, made);
    return made;
  }

  entries(): IterableIterator<[string, T]> {
    return this.#shelves.entries();
  }
}
