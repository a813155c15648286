// The counts of costs.json: how one model call changes them. Pure: no I/O.
//
// Totals are finite, never negative, and never smaller than before, whatever a provider reports. A cost of null means that nothing in the sum
// has a known price; otherwise it is the sum of what is priced, and `unpricedCalls` says how many calls are not in it.
import type { BlockCosts, BudgetStand, CostBucket } from '../../schemas/block-costs.ts';
import type { Usage } from '../../schemas/chat.ts';
import type { LedgerLine } from '../../store/port.ts';

const DAYS_KEPT = 90;
/** Twice a day's, so that hours of a clock that was ahead for a while don't push out the last ones. */
const HOURS_KEPT = 48;

/** One call, as it changes the counts. */
export interface BilledCall extends Omit<LedgerLine, 'block' | 'failed'> {
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
    answersByHour: {},
    lastCall: null,
    budget: { day: { usd: 0, tokens: 0 }, month: { usd: 0, tokens: 0 }, state: 'ok' },
    lastUpdated: null,
    lastReset: null,
  };
}

/** A bucket without a call. */
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

/** One call as a bucket. Impossible counts become 0 and leave the call unpriced, because its price was computed from them. */
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
    byDay: newest(DAYS_KEPT, addTo(costs.byDay, at.slice(0, 10), one)),
    byPurpose: addTo(costs.byPurpose, call.purpose, one),
    answersByHour: call.purpose === 'chat' && !call.failed ? withAnswer(costs.answersByHour, at.slice(0, 13)) : costs.answersByHour,
    lastCall:
      call.purpose === 'tool'
        ? costs.lastCall
        : { at, messageId, provider, model, usage: isUsage(usage) ? usage : null, costUsd: one.costUsd, latencyMs, ttftMs },
    ...(call.budget !== undefined && { budget: call.budget }),
    lastUpdated: later(costs.lastUpdated, at),
  };
}

/** Compares ISO times as text. A clock that was set back must not make the counts look older than they are. */
function later(known: string | null, at: string): string {
  return known !== null && known > at ? known : at;
}

/** The counts when a monitor starts: those of the session begin again. */
export function startSession(costs: BlockCosts): BlockCosts {
  return { ...costs, sessionInput: 0, sessionOutput: 0, sessionCost: null };
}

type Buckets = BlockCosts['byModel'];

/** Spread and computed keys define own properties, so even a model called `__proto__` is only a key. */
function addTo(buckets: Buckets, key: string, one: CostBucket): Buckets {
  const before = Object.hasOwn(buckets, key) ? buckets[key] : undefined;
  return { ...buckets, [key]: addBucket(before ?? emptyBucket(), one) };
}

function withAnswer(hours: BlockCosts['answersByHour'], hour: string): BlockCosts['answersByHour'] {
  return newest(HOURS_KEPT, { ...hours, [hour]: addCount(hours[hour] ?? 0, 1) });
}

/** The entries with the last keys, in order. */
function newest<T>(kept: number, byTime: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  const entries = Object.entries(byTime).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.slice(-kept));
}

/** Safe integers only: sums beyond them are not exact. */
function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isMoney(value: unknown): value is number {
  return Number.isFinite(value) && (value as number) >= 0;
}

/** True for usage that costs.json can hold. */
function isUsage(usage: Usage | null): usage is Usage {
  return usage !== null && Object.values(usage).every((value) => typeof value === 'boolean' || isCount(value));
}

/** Stays at the largest exact integer rather than losing count. */
function addCount(a: number, b: number): number {
  return Math.min((isCount(a) ? a : 0) + b, Number.MAX_SAFE_INTEGER);
}

/** The sum of the known amounts; null if neither is known. */
function addMoney(a: number | null, b: number | null): number | null {
  if (!isMoney(a)) return isMoney(b) ? b : null;
  return isMoney(b) ? Math.min(a + b, Number.MAX_VALUE) : a;
}
