// The lines of the ledger, and how they are parsed. Pure: no I/O.
import { isObject, tryParseJson } from '../../../base/json.ts';
import type { CallPurpose } from '../../../schemas/block-costs.ts';
import type { Usage } from '../../../schemas/chat.ts';

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

/** From this line on, what `from` had spent before counts for `block`. */
export interface CarriedLine {
  readonly at: string;
  readonly type: 'carried';
  readonly from: string;
  readonly block: string;
}

/** Undefined for a damaged line. */
export function parseLine(text: string): LedgerLine | CarriedLine | undefined {
  const value = tryParseJson(text);
  if (!isObject(value)) return undefined;
  const { at, block, type, from } = value;
  if (typeof block !== 'string' || typeof at !== 'string' || Number.isNaN(Date.parse(at))) return undefined;
  if (type === 'carried') return typeof from === 'string' ? { at, type, from, block } : undefined;
  return isCall(value) ? (value as unknown as LedgerLine) : undefined;
}

function isCall({ provider, model, purpose, usage, costUsd }: Record<string, unknown>): boolean {
  const isNamed = typeof provider === 'string' && typeof model === 'string' && typeof purpose === 'string';
  return isNamed && (costUsd === null || isAmount(costUsd)) && (usage === null || (isObject(usage) && isAmount(usage['totalTokens'])));
}

function isAmount(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
