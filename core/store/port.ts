// What the core asks of a store: the types that stores and their users share. Pure: types only.
import type { CallPurpose } from '../schemas/block-costs.ts';
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
