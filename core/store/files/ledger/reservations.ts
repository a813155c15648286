// The worst-case cost of calls under way, by block. Pure: no I/O.
import type { Spend } from '../../port.ts';

/** Room under the caps for one call, in USD and tokens. */
export interface Reservation {
  /** Call it when the call is billed or has cost nothing. A second call does nothing. */
  release(): void;
}

/** The reservations of all blocks. */
export class Reservations {
  readonly #held = new Map<string, Set<Spend>>();
  readonly #waiting = new Map<string, Set<() => void>>();

  /** Adds a reservation. */
  hold(block: string, amount: Spend): Reservation {
    const held = this.#held.get(block) ?? new Set();
    this.#held.set(block, held.add(amount));
    return {
      release: () => {
        if (!held.delete(amount)) return;
        if (held.size === 0) this.#held.delete(block);
        this.#notify(block);
      },
    };
  }

  /** The sum for a block; undefined if none of its calls is under way. */
  sum(block: string): Spend | undefined {
    const held = this.#held.get(block);
    if (held === undefined) return undefined;
    const all = [...held];
    return { usd: all.reduce((sum, { usd }) => sum + usd, 0), tokens: all.reduce((sum, { tokens }) => sum + tokens, 0) };
  }

  /** Resolves at the next release of the block, or when `signal` fires. */
  changed(block: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(block) ?? new Set();
      const end = (): void => {
        signal.removeEventListener('abort', end);
        waiting.delete(end);
        if (waiting.size === 0 && this.#waiting.get(block) === waiting) this.#waiting.delete(block);
        resolve();
      };
      if (signal.aborted) return resolve();
      this.#waiting.set(block, waiting.add(end));
      signal.addEventListener('abort', end, { once: true });
    });
  }

  #notify(block: string): void {
    for (const end of [...(this.#waiting.get(block) ?? [])]) end();
  }
}
