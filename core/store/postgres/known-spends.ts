// What blocks have spent, as the statements of their last lines have answered (with-its-line in ledger.ts). Pure: no I/O.
//
// answers-once: what came with a line answers one question, and for a tenth of a second, since another server may write a line of the block, too.
// alone: of two lines of a block that are written at the same time, either answer may lack the other line. So only a line that was alone from its begin to its end answers.
import type { Spend } from '../port.ts';

const KNOWN_MS = 100;
const MOST_BLOCKS = 1000;

interface KnownSpend {
  readonly sinceMs: readonly number[];
  /** What came with the last line, and until when it is good, in monotonic milliseconds. */
  readonly with?: { readonly spends: readonly Spend[]; readonly until: number };
}

/** What is known of the blocks that were asked for last. */
export class KnownSpends {
  readonly #clock: () => number;
  readonly #known = new Map<string, KnownSpend>();
  /** By block: its lines on their way, and whether there were several at a time. */
  readonly #lines = new Map<string, { count: number; isAlone: boolean }>();

  /** Monotonic milliseconds. */
  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** A line of the block is on its way, until `end`. Returns the instants that were asked for last, in epoch milliseconds: its statement is to answer them. */
  begin(block: string): readonly number[] {
    const { count = 0 } = this.#lines.get(block) ?? {};
    this.#lines.set(block, { count: count + 1, isAlone: count === 0 });
    return this.#known.get(block)?.sinceMs ?? [];
  }

  /** The line is written, and its statement has answered, or nothing is known of it: then without `spends`. */
  end(block: string, sinceMs: readonly number[], spends?: readonly Spend[]): void {
    const { count = 1, isAlone = false } = this.#lines.get(block) ?? {};
    if (count === 1) this.#lines.delete(block);
    else this.#lines.set(block, { count: count - 1, isAlone: false });
    if (isAlone && spends !== undefined && spends.length > 0) this.#keep(block, { sinceMs, with: { spends, until: this.#clock() + KNOWN_MS } });
    else this.#forgetSpends(block);
  }

  /** answers-once: undefined where it has to be asked. The next lines answer these instants. */
  take(block: string, sinceMs: readonly number[]): readonly Spend[] | undefined {
    const known = this.#known.get(block);
    this.#keep(block, { sinceMs: [...sinceMs] });
    const isAsked = known?.with !== undefined && known.with.until > this.#clock() && String(known.sinceMs) === String(sinceMs);
    return isAsked ? known.with.spends : undefined;
  }

  /** The block has spent something else. */
  forget(block: string): void {
    this.#known.delete(block);
  }

  #forgetSpends(block: string): void {
    const known = this.#known.get(block);
    if (known?.with !== undefined) this.#known.set(block, { sinceMs: known.sinceMs });
  }

  #keep(block: string, known: KnownSpend): void {
    this.#known.delete(block);
    this.#known.set(block, known);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= MOST_BLOCKS) return;
      this.#known.delete(oldest);
    }
  }
}
