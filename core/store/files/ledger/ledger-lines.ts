// The lines of the ledger, and how they are parsed. Pure: no I/O.
import { isObject, tryParseJson } from '../../../base/json.ts';
import type { LedgerLine } from '../../port.ts';

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

function isCall({ provider, model, purpose, usage, costUsd, leastUsd }: Record<string, unknown>): boolean {
  const isNamed = typeof provider === 'string' && typeof model === 'string' && typeof purpose === 'string';
  return (
    isNamed &&
    (costUsd === null || isAmount(costUsd)) &&
    (leastUsd == null || isAmount(leastUsd)) &&
    (usage === null || (isObject(usage) && isAmount(usage['totalTokens'])))
  );
}

function isAmount(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
