// What the core asks of a store: the types that stores and their users share. Pure: types only.
import type { BlockConfig } from '../schemas/block-config.ts';
import type { BudgetStand, CallPurpose } from '../schemas/block-costs.ts';
import type { Usage } from '../schemas/chat.ts';

/** The new content, or the same object when nothing changes, and the result for the caller. */
export interface Change<T, R> {
  readonly value: T;
  readonly result: R;
}

/** One model call. */
export interface LedgerLine {
  /** When the call ended: ISO 8601, UTC, with milliseconds. */
  readonly at: string;
  readonly block: string;
  readonly provider: string;
  readonly model: string;
  readonly purpose: CallPurpose;
  /** Null when the provider reported none. */
  readonly usage: Usage | null;
  /** Null when the model has no known price. */
  readonly costUsd: number | null;
  readonly messageId: string | null;
  /** Unique to the call, so that a line that a failed write left in the file twice counts once. Older lines have none. */
  readonly id?: string;
  /** The call failed, but has, or may have, cost something. */
  readonly failed?: true;
}

/** What was spent in a period. A call without a known price counts in tokens only. */
export interface Spend {
  readonly usd: number;
  readonly tokens: number;
}

/** What a call may cost at most. */
export interface WorstCase {
  /** Null when the price is unknown. */
  readonly usd: number | null;
  readonly tokens: number;
}

/** The fields of `budget` that are caps. */
export type BudgetCap = 'dailyUsd' | 'monthlyUsd' | 'dailyTokens';

/** Whether the next call fits. */
export type BudgetVerdict =
  | { readonly kind: 'ok'; readonly stand: BudgetStand }
  | {
      readonly kind: 'exceeded';
      readonly stand: BudgetStand;
      /** If several are reached, the one that resets last. */
      readonly cap: BudgetCap;
      /** Epoch milliseconds. */
      readonly resetsAt: number;
      readonly message: string;
      readonly fix: string;
    };

/** A call that needs room under the caps of its block. */
export interface CallToReserve {
  /** The `id` that the line of the call will have. */
  readonly id: string;
  readonly block: string;
  readonly budget: BlockConfig['budget'];
  readonly worstCase: WorstCase;
}

/** `beside`: the call fits, but not beside the block's calls under way. Ask again when `changed` resolves. */
export type Reserved = BudgetVerdict | { readonly kind: 'beside'; readonly changed: Promise<void> };

/** A reading of all lines. */
export interface LedgerLines extends AsyncIterable<LedgerLine> {
  /** How many lines were skipped; known when the reading has ended. */
  readonly damagedLines: number;
  /** The number of the first line that was skipped, from 1; empty lines don't count. */
  readonly firstDamaged: number | undefined;
}

/**
 * What blocks have spent. Caps are computed from it, so that a reset, an archive or a restore under another name never lifts one.
 *
 * L1: a line whose `id` was appended before changes nothing. L2: what was paid counts, even where its line can't be written yet. L3: a line ends the
 * reservation of its `id` in the step in which it begins to count.
 */
export interface LedgerStore {
  /** Looks and holds in one step: with `ok` the call is held until its line is appended, or `release`. `changed` resolves when `signal` fires, too. */
  reserve(call: CallToReserve, signal: AbortSignal): Promise<Reserved>;
  /** The call has cost nothing. Does nothing if it isn't held. */
  release(call: Pick<CallToReserve, 'block' | 'id'>): void;
  /** The line is durable when this resolves. Rejects with STORAGE_FULL, or the system's own error; the line counts all the same. */
  append(line: LedgerLine): Promise<void>;
  /** Resolves when every paid call is durable. Rejects as `append` does. */
  ready(): Promise<void>;
  /** What `from` has spent until now counts for `to` from now on. */
  carry(from: string, to: string): Promise<void>;
  /** What a block has spent since an instant, in epoch milliseconds, at most 32 days ago. Rejects while the ledger can't be read. */
  spend(block: string, sinceMs: number): Promise<Spend>;
  /** Epoch milliseconds of the newest call; undefined when there is none. Rejects as `spend` does. */
  newest(block: string): Promise<number | undefined>;
  /** The calls of a block after an instant, in epoch milliseconds, the newest first. Earlier names of the block count. */
  newestFirst(block: string, sinceMs: number): AsyncIterable<LedgerLine>;
  /** All calls, the oldest first. */
  lines(): LedgerLines;
}
