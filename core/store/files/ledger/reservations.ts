// The worst-case cost of calls under way, by block. Pure: no I/O.
import type { CallToReserve, Spend } from '../../port.ts';

/** The reservations of all blocks. */
export class Reservations {
  /** By block, and in it by call. */
  readonly #held = new Map<string, Map<string, Spend>>();
  readonly #waiting = new Map<string, Set<() => void>>();

  /** Adds a reservation. */
  hold({ block, id, worstCase }: Pick<CallToReserve, 'block' | 'id' | 'worstCase'>): void {
    const held = this.#held.get(block) ?? new Map();
    this.#held.set(block, held.set(id, { usd: worstCase.usd ?? 0, tokens: worstCase.tokens }));
  }

  /** Ends a reservation, if there is one. */
  release({ block, id }: Pick<CallToReserve, 'block' | 'id'>): void {
    const held = this.#held.get(block);
    if (held?.delete(id) !== true) return;
    if (held.size === 0) this.#held.delete(block);
    for (const end of [...(this.#waiting.get(block) ?? [])]) end();
  }

  /** The sum for a block, without the call that asks: it may ask once for each of its attempts. Undefined if no other call of the block is under way. */
  sum(block: string, asking?: string): Spend | undefined {
    const all = [...(this.#held.get(block) ?? [])].filter(([id]) => id !== asking).map(([, spend]) => spend);
    if (all.length === 0) return undefined;
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
}
