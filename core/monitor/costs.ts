// The counts of costs.json: how one model call changes them. Pure: no I/O.
//
// Totals are finite, never negative, and never smaller than before, whatever a provider reports. A cost of null means that nothing in the sum
// has a known price; otherwise it is the sum of what is priced, and `unpricedCalls` says how many calls are not in it.
import type { BlockCosts, BudgetStand, CallPurpose, CostBucket } from '../schemas/block-costs.ts';
import type { Usage } from '../schemas/chat.ts';

const DAYS_KEPT = 90;

/** One call, as it changes the counts. */
export interface BilledCall {
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly messageId: string | null;
  readonly provider: string;
  readonly model: string;
  readonly purpose: CallPurpose;
  /** null when none is known. */
  readonly usage: Usage | null;
  /** USD; null when no price is known. */
  readonly costUsd: number | null;
  readonly latencyMs: number | null;
  readonly ttftMs: number | null;
  readonly failed: boolean;
  /** Where the caps stand after this call. */
  readonly budget?: BudgetStand;
}

/** The counts of a block that has made no call. */
export function noCosts(): BlockCosts {
  return {
    totalInput: 0,
    totalOutput: 0,
    totalCost: null,
    sessionInput: 0,
    sessionOutput: 0,
    sessionCost: null,
    currency: 'USD',
    calls: 0,
    failedCalls: 0,
    unpricedCalls: 0,
    byModel: {},
    byDay: {},
    byPurpose: {},
    lastCall: null,
    budget: { day: { usd: 0, tokens: 0 }, month: { usd: 0, tokens: 0 }, state: 'ok' },
    lastUpdated: null,
    lastReset: null,
  };
}

/** The sums of no call. */
export function emptyBucket(): CostBucket {
  return { calls: 0, input: 0, output: 0, cacheRead: 0, cacheWrite: 0, costUsd: null, unpricedCalls: 0 };
}

/** The sums of two buckets together. */
export function addBucket(a: CostBucket, b: CostBucket): CostBucket {
  return {
    calls: addCount(a.calls, b.calls),
    input: addCount(a.input, b.input),
    output: addCount(a.output, b.output),
    cacheRead: addCount(a.cacheRead, b.cacheRead),
    cacheWrite: addCount(a.cacheWrite, b.cacheWrite),
    costUsd: addMoney(a.costUsd, b.costUsd),
    unpricedCalls: addCount(a.unpricedCalls, b.unpricedCalls),
  };
}

/** One call as a bucket. Counts that can't be true are 0, and leave the call unpriced: its price would follow from them. */
export function bucketOf(usage: Usage | null, costUsd: number | null): CostBucket {
  const { inputTokens = 0, outputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage ?? {};
  const counts = [inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens];
  const cost = counts.every(isCount) && isMoney(costUsd) ? costUsd : null;
  const [input, output, cacheRead, cacheWrite] = counts.map((value) => (isCount(value) ? value : 0)) as [number, number, number, number];
  return { calls: 1, input, output, cacheRead, cacheWrite, costUsd: cost, unpricedCalls: cost === null ? 1 : 0 };
}

/** The counts after one more call. */
export function addCall(costs: BlockCosts, call: BilledCall): BlockCosts {
  const { at, messageId, provider, model, usage, latencyMs, ttftMs } = call;
  const one = bucketOf(usage, call.costUsd);
  return {
    ...costs,
    totalInput: addCount(costs.totalInput, one.input),
    totalOutput: addCount(costs.totalOutput, one.output),
    totalCost: addMoney(costs.totalCost, one.costUsd),
    sessionInput: addCount(costs.sessionInput, one.input),
    sessionOutput: addCount(costs.sessionOutput, one.output),
    sessionCost: addMoney(costs.sessionCost, one.costUsd),
    calls: addCount(costs.calls, 1),
    failedCalls: addCount(costs.failedCalls, call.failed ? 1 : 0),
    unpricedCalls: addCount(costs.unpricedCalls, one.unpricedCalls),
    byModel: addTo(costs.byModel, `${provider}/${model}`, one),
    byDay: newestDays(addTo(costs.byDay, at.slice(0, 10), one)),
    byPurpose: addTo(costs.byPurpose, call.purpose, one),
    lastCall: { at, messageId, provider, model, usage: isUsage(usage) ? usage : null, costUsd: one.costUsd, latencyMs, ttftMs },
    ...(call.budget !== undefined && { budget: call.budget }),
    lastUpdated: later(costs.lastUpdated, at),
  };
}

/** The counts with those of further calls, which belong to no session; `more` has the last call. */
export function mergeCosts(costs: BlockCosts, more: BlockCosts): BlockCosts {
  return {
    ...costs,
    totalInput: addCount(costs.totalInput, more.totalInput),
    totalOutput: addCount(costs.totalOutput, more.totalOutput),
    totalCost: addMoney(costs.totalCost, more.totalCost),
    calls: addCount(costs.calls, more.calls),
    failedCalls: addCount(costs.failedCalls, more.failedCalls),
    unpricedCalls: addCount(costs.unpricedCalls, more.unpricedCalls),
    byModel: mergeBuckets(costs.byModel, more.byModel),
    byDay: newestDays(mergeBuckets(costs.byDay, more.byDay)),
    byPurpose: mergeBuckets(costs.byPurpose, more.byPurpose),
    lastCall: more.lastCall ?? costs.lastCall,
    lastUpdated: more.lastUpdated === null ? costs.lastUpdated : later(costs.lastUpdated, more.lastUpdated),
  };
}

/** ISO times of one form sort like the times. A clock that was set back must not make the counts look older than they are. */
function later(known: string | null, at: string): string {
  return known !== null && known > at ? known : at;
}

/** A monitor was started: its session counts begin anew. */
export function startSession(costs: BlockCosts): BlockCosts {
  return { ...costs, sessionInput: 0, sessionOutput: 0, sessionCost: null };
}

type Buckets = BlockCosts['byModel'];

/** Spread and computed keys define own properties, so that even a model called `__proto__` is only a key. */
function addTo(buckets: Buckets, key: string, one: CostBucket): Buckets {
  const before = Object.hasOwn(buckets, key) ? buckets[key] : undefined;
  return { ...buckets, [key]: addBucket(before ?? emptyBucket(), one) };
}

function mergeBuckets(some: Buckets, more: Buckets): Buckets {
  return Object.entries(more).reduce((all, [key, bucket]) => addTo(all, key, bucket), some);
}

function newestDays(days: Buckets): Buckets {
  const keys = Object.keys(days).sort();
  return Object.fromEntries(keys.slice(-DAYS_KEPT).map((key) => [key, days[key] ?? emptyBucket()]));
}

/** Safe integers only: beyond them a sum no longer grows by what is added. */
function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isMoney(value: unknown): value is number {
  return Number.isFinite(value) && (value as number) >= 0;
}

/** As costs.json can keep it. */
function isUsage(usage: Usage | null): usage is Usage {
  return usage !== null && Object.values(usage).every((value) => typeof value === 'boolean' || isCount(value));
}

/** Stays at the largest exact integer rather than losing count. */
function addCount(a: number, b: number): number {
  return Math.min((isCount(a) ? a : 0) + b, Number.MAX_SAFE_INTEGER);
}

/** null is added as nothing, and stays null beside null. */
function addMoney(a: number | null, b: number | null): number | null {
  if (!isMoney(a)) return isMoney(b) ? b : null;
  return isMoney(b) ? Math.min(a + b, Number.MAX_VALUE) : a;
}
