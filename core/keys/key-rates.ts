// The limits by the minute of keys and groups, in this process.
//
// all-or-none: a call takes from every limit that holds for it, or from none.
// as-they-are: a limit is set by who takes from it, with the key as it is then. The answer to a request that came before a change only reads what is left, and
//   what another process says comes after that.
// once-a-request: a request counts once, however many models of an alias are asked for it.
import type { CoreEvents } from '../bus.ts';
import { BlockhouseError } from '../errors.ts';
import type { Bound, Bounds } from './key-limits.ts';
import { type RateState, TokenBucket } from './token-bucket.ts';

/** A key, as far as its limits by the minute go. */
type LimitedKey = { readonly name: string } & Bounds;

/** What is left for a key: of several limits, the one of which least is left. */
export interface KeyRates {
  readonly requests?: RateState;
  readonly tokens?: RateState;
}

/** What a call has taken, to be settled when it has ended. */
export interface TakenTokens {
  readonly buckets: readonly TokenBucket[];
  readonly tokens: number;
  readonly at: number;
}

/** What a request takes. */
export interface RateCost {
  /** A request that was counted before counts no more: once-a-request. */
  readonly request?: object | undefined;
  /** By estimate. Undefined for a question without an answer of a model, and 0 where nobody knows before the answer, as for a question to a block. */
  readonly tokens?: number;
}

interface Limit {
  readonly bound: Bound;
  readonly bucket: TokenBucket;
  readonly unit: 'requests' | 'tokens';
  /** That of the key or the group as it was found. */
  readonly limit: number;
}

/** Those of a key and of its group. */
class Limits {
  readonly owner: RateLimits;
  readonly all: readonly Limit[];
  readonly ofRequests: readonly Limit[];
  readonly ofTokens: readonly Limit[];
  readonly bucketsOfTokens: readonly TokenBucket[];

  constructor(owner: RateLimits, all: readonly Limit[]) {
    this.owner = owner;
    this.all = all;
    this.ofRequests = all.filter(({ unit }) => unit === 'requests');
    this.ofTokens = all.filter(({ unit }) => unit === 'tokens');
    this.bucketsOfTokens = this.ofTokens.map(({ bucket }) => bucket);
  }
}

/** A limit that has too little left. */
interface Short {
  readonly limit: Limit;
  readonly amount: number;
  readonly waitMs: number;
}

/** A limit that does not hold for the call. */
const NONE = -1;

/** What a call takes from each of its limits by their units. */
type Cost = Readonly<Record<Limit['unit'], number>>;

/** The request of a call that another process has counted. */
export const COUNTED: object = {};

/** All limits by the minute. */
export class RateLimits {
  readonly #now: () => number;
  readonly #buckets = new Map<string, TokenBucket>();
  /** once-a-request. */
  readonly #counted = new WeakSet<object>();

  /** `now` in monotonic milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Throws KEY_RATE_LIMITED, and then takes nothing: all-or-none. `now`: from who has just looked at the clock. */
  take(key: LimitedKey, { request, tokens }: RateCost, now = this.#now()): TakenTokens | undefined {
    const limits = this.#limitsOf(key, now);
    const isCounted = request !== undefined && (request === COUNTED || this.#counted.has(request));
    const requests = isCounted ? NONE : 1;
    const estimate = tokens ?? NONE;
    const { all, bucketsOfTokens } = limits;
    for (const limit of all) {
      const amount = limit.unit === 'requests' ? requests : estimate;
      if (amount !== NONE && !limit.bucket.tryTake(amount, now)) throw refused(key, limits, limit, { requests, tokens: estimate }, now);
    }
    if (request !== undefined) this.#counted.add(request);
    return tokens === undefined || bucketsOfTokens.length === 0 ? undefined : { buckets: bucketsOfTokens, tokens, at: now };
  }

  /** The call has ended. A client that leaves before its call has told what it used gets nothing back: else it could have for nothing what it has seen. */
  settle(
    { buckets, tokens: estimate, at }: TakenTokens,
    { usage, code, attempts }: Pick<CoreEvents['call.finished'], 'usage' | 'code' | 'attempts'>,
    now = this.#now(),
  ): void {
    const used = usage?.totalTokens ?? 0;
    const tokens = code === 'CANCELLED' && attempts > 0 ? Math.max(used, estimate) : used;
    for (const bucket of buckets) bucket.settle(estimate, tokens, at, now);
  }

  /** So many tokens were used without having been taken before, as by a call of a block. */
  use(key: LimitedKey, tokens: number): void {
    const now = this.#now();
    for (const bucket of this.#limitsOf(key, now).bucketsOfTokens) bucket.take(tokens, now);
  }

  /** What is used of each limit of a key, in their order. */
  levels(key: LimitedKey): readonly number[] {
    const now = this.#now();
    return this.#limitsOf(key, now).all.map(({ bucket }) => bucket.level(now));
  }

  /** Takes over what another process knows of a key with the same limits. */
  setLevels(key: LimitedKey, levels: readonly number[]): void {
    const now = this.#now();
    const limits = this.#limitsAsTheyAre(key, now).all;
    if (limits.length !== levels.length) return; // one of both has not seen a change of the limits yet
    for (const [index, { bucket }] of limits.entries()) bucket.setLevel(levels[index] ?? 0, now);
  }

  /** Undefined for a key without such limits. */
  state(key: LimitedKey): KeyRates | undefined {
    if (!key.hasRates) return undefined;
    const now = this.#now();
    const { ofRequests, ofTokens } = this.#limitsAsTheyAre(key, now);
    const requests = tightest(ofRequests, now);
    const tokens = tightest(ofTokens, now);
    if (requests === undefined) return tokens === undefined ? {} : { tokens };
    return tokens === undefined ? { requests } : { requests, tokens };
  }

  #limitsOf(key: LimitedKey, now: number): Limits {
    const known = key.kept.rates as Limits | undefined;
    if (known?.owner === this) return known;
    const limits = this.#limitsIn(key, now);
    for (const { bucket, limit } of limits.all) bucket.allow(limit, now);
    key.kept.rates = limits;
    return limits;
  }

  /** as-they-are. */
  #limitsAsTheyAre(key: LimitedKey, now: number): Limits {
    const known = key.kept.rates as Limits | undefined;
    return known?.owner === this ? known : this.#limitsIn(key, now);
  }

  #limitsIn({ bounds }: LimitedKey, now: number): Limits {
    const all = bounds.flatMap((bound) => [this.#limitOf(bound, 'requests', now), this.#limitOf(bound, 'tokens', now)].filter((limit) => limit !== undefined));
    return new Limits(this, all);
  }

  #limitOf(bound: Bound, unit: Limit['unit'], now: number): Limit | undefined {
    const limit = unit === 'requests' ? bound.requestsPerMinute : bound.tokensPerMinute;
    if (limit === null) return undefined;
    const account = `${unit} ${bound.kind} ${bound.name}`;
    const bucket = this.#buckets.get(account) ?? new TokenBucket(limit, now);
    this.#buckets.set(account, bucket);
    return { bound, bucket, unit, limit };
  }
}

/** What is left of the one of which least is left; undefined without a limit. */
function tightest(limits: readonly Limit[], now: number): RateState | undefined {
  let found: TokenBucket | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const { bucket } of limits) {
    const remaining = bucket.remaining(now);
    if (remaining >= least) continue;
    found = bucket;
    least = remaining;
  }
  return found?.state(now);
}

/** all-or-none: puts back what was taken before `short`. The error names the limit that has room again last. */
function refused(key: LimitedKey, { all }: Limits, short: Limit, cost: Cost, now: number): BlockhouseError {
  for (const { bucket, unit } of all.slice(0, all.indexOf(short))) if (cost[unit] !== NONE) bucket.putBack(cost[unit]);
  const waits = all
    .filter(({ unit }) => cost[unit] !== NONE)
    .map((limit) => ({ limit, amount: cost[limit.unit], waitMs: limit.bucket.waitMs(cost[limit.unit], now) }));
  return limited(
    key,
    waits.reduce((longest, each) => (each.waitMs > longest.waitMs ? each : longest)),
  );
}

function limited({ name }: LimitedKey, { limit: { bound, unit }, amount, waitMs }: Short): BlockhouseError {
  const limit = unit === 'requests' ? bound.requestsPerMinute : bound.tokensPerMinute;
  const whose = bound.kind === 'key' ? `The key ${name}` : `The group ${bound.name}, to which the key ${name} belongs,`;
  const need = unit === 'tokens' && amount > 0 ? `, and this request may need ${Math.ceil(amount)}` : '';
  const message = `${whose} has a limit of ${limit} ${limit === 1 ? unit.slice(0, -1) : unit} a minute${need}. Try again in ${Math.ceil(waitMs / 1000)} s.`;
  return new BlockhouseError('KEY_RATE_LIMITED', message, { retryAfterMs: waitMs });
}
