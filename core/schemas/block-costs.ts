// costs.json: what the calls of a block have cost. Money is in USD. Pure: no I/O.
import type * as types from '../types.ts';
import { Usage } from './chat.ts';
import { count, money, number, object, oneOf, orNull, string, time } from './fields.ts';

/** Sums of calls: tokens, USD, and the number of calls. */
export const CostBucket = object({
  calls: count,
  input: count,
  output: count,
  cacheRead: count,
  cacheWrite: count,
  costUsd: { ...money, description: 'Cost in USD; null if no call has a known price' },
  unpricedCalls: count,
});
export type CostBucket = types.CostBucket;
const buckets = { type: 'object', additionalProperties: CostBucket } as const;

/** What was paid for: a call of a model for an answer or for a summary of the memory, or a call of a tool. */
export type CallPurpose = types.CallPurpose;

const spent = object({ usd: number, tokens: count, key: string }, ['key']);
/** What was spent today and this month, and whether a cap is near or reached. */
export const BudgetStand = object({ day: spent, month: spent, state: oneOf(['ok', 'warn', 'exceeded']) });
export type BudgetStand = types.BudgetStand;

/** costs.json: counts of a block's calls, derived from the ledger. */
export const CostsFile = {
  type: 'object',
  required: ['totalInput', 'totalOutput', 'totalCost', 'calls'],
  properties: {
    totalInput: count,
    totalOutput: count,
    totalCost: { ...money, description: 'Cost in USD; null if no call has a known price' },
    sessionInput: { ...count, description: 'Input tokens since the monitor was last started' },
    sessionOutput: count,
    sessionCost: money,
    currency: { type: 'string', const: 'USD' },
    calls: count,
    failedCalls: count,
    unpricedCalls: count,
    byModel: buckets,
    byDay: { ...buckets, description: 'Sums of each of the last 90 days (UTC)' },
    byPurpose: buckets,
    answersByHour: {
      type: 'object',
      additionalProperties: count,
      description: 'How many answers the newest hours (UTC, `2026-11-20T14`) had; hours without answers are left out',
    },
    lastCall: orNull({
      type: 'object',
      required: ['at', 'provider', 'model'],
      properties: {
        at: time,
        messageId: orNull(string),
        provider: string,
        model: string,
        usage: orNull(Usage),
        costUsd: money,
        latencyMs: orNull(number),
        ttftMs: orNull(number),
      },
    }),
    budget: BudgetStand,
    lastUpdated: orNull(time),
    lastReset: orNull(time),
  },
} as const;
/** The content that `CostsFile` describes, with every field. */
export type BlockCosts = types.BlockCosts;
