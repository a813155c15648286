// What each key has spent, by UTC day. Pure: no I/O.
//
// never-less: a call counts at least nothing. One that counted less would give its key more to spend than its cap.
// days-stay: a day keeps its sums when the clock leaves it and comes back. Only the days that were counted longest ago are dropped.

import type { Usage } from '../../types.ts';
import type { KeySpend } from '../port.ts';

/** More than a clock that is set right again and again visits. */
const MAX_DAYS = 8;

/** The sums of one key on one day. */
export interface KeyDay extends KeySpend {
  /** Tokens of output as the provider reported them, and of how many calls: the estimate for a call that its client left says little about the next one. */
  readonly output: number;
  readonly answers: number;
}

type Sums = { -readonly [K in keyof KeyDay]: KeyDay[K] };

/** A call, as far as it is counted. */
export interface CountedCall {
  /** When it ended: ISO 8601, UTC. */
  readonly at: string;
  readonly key: string | null;
  readonly usage: Usage | null;
  readonly costUsd: number | null;
  /** USD that it costs at least, where the price is not known but that of its model is. */
  readonly leastUsd?: number | null | undefined;
}

const NOTHING: KeyDay = { usd: 0, tokens: 0, calls: 0, unpricedCalls: 0, output: 0, answers: 0 };
const DAY_CHARACTERS = '2026-11-22'.length;

/** never-less: nothing that a call or a line says lowers a sum. */
export function countable(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0;
}

/** The sums of all keys. */
export class SpendDays {
  /** By day, the one that was counted last at the end; in it by key. */
  readonly #days = new Map<string, Map<string, Sums>>();
  #newest: string | undefined;

  /** Counts a call on the day of its end. */
  count({ at, key, usage, costUsd, leastUsd = null }: CountedCall): void {
    if (key === null || usage === null) return;
    const sums = this.#sumsOf(at.slice(0, DAY_CHARACTERS), key);
    sums.usd += countable(costUsd ?? leastUsd);
    sums.tokens += countable(usage.totalTokens);
    sums.calls += 1;
    if (costUsd === null && leastUsd === null) sums.unpricedCalls += 1;
    if (countable(usage.outputTokens) > 0 && usage.estimated !== true) {
      sums.output += usage.outputTokens;
      sums.answers += 1;
    }
  }

  add(day: string, key: string, more: KeyDay): void {
    const sums = this.#sumsOf(day, key);
    for (const name of Object.keys(NOTHING) as (keyof KeyDay)[]) sums[name] += more[name];
  }

  addAll(others: SpendDays): void {
    for (const row of others.rows()) this.add(...row);
  }

  spent(day: string, key: string): KeySpend {
    const { usd, tokens, calls, unpricedCalls } = this.#days.get(day)?.get(key) ?? NOTHING;
    return { usd, tokens, calls, unpricedCalls };
  }

  /** The mean output of a key's answers, in tokens; undefined without an answer. */
  meanOutput(key: string): number | undefined {
    let [output, answers] = [0, 0];
    for (const keys of this.#days.values()) {
      const sums = keys.get(key);
      output += sums?.output ?? 0;
      answers += sums?.answers ?? 0;
    }
    return answers === 0 ? undefined : output / answers;
  }

  /** All sums, those of the day that was counted last at the end. */
  *rows(): Generator<[day: string, key: string, sums: KeyDay]> {
    for (const [day, keys] of this.#days) for (const [key, sums] of keys) yield [day, key, sums];
  }

  #sumsOf(day: string, key: string): Sums {
    const keys = this.#keysOf(day);
    const known = keys.get(key);
    if (known !== undefined) return known;
    const sums = { ...NOTHING };
    keys.set(key, sums);
    return sums;
  }

  /** days-stay. */
  #keysOf(day: string): Map<string, Sums> {
    const keys = this.#days.get(day) ?? new Map<string, Sums>();
    if (day === this.#newest) return keys;
    this.#newest = day;
    this.#days.delete(day);
    this.#days.set(day, keys);
    if (this.#days.size > MAX_DAYS) {
      const [oldest = ''] = this.#days.keys();
      this.#days.delete(oldest);
    }
    return keys;
  }
}
