// A map of limited size: requests may name any model and base URL, so what is kept about them must be bounded. Pure: no I/O.

const MAX_ENTRIES = 256;

/** Keeps the entries that were set last and drops the oldest. */
export class RecentMap<V> {
  readonly #entries = new Map<string, V>();

  get(key: string): V | undefined {
    return this.#entries.get(key);
  }

  set(key: string, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size <= MAX_ENTRIES) return;
    const [oldest] = this.#entries.keys();
    if (oldest !== undefined) this.#entries.delete(oldest);
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }
}
