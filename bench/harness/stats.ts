// Medians, percentiles and how far rounds lie apart. Pure: no I/O.

export interface Spread {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

export function percentile(values: readonly number[], share: number): number {
  if (values.length === 0) return Number.NaN;
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** The median of rounds, and the lowest and highest of them. */
export function spreadOf(values: readonly number[]): Spread {
  return { median: median(values), low: Math.min(...values), high: Math.max(...values) };
}

/** Round by round, so that what disturbed one round disturbs both sides of its ratio. */
export function ratioOf(values: readonly number[], bases: readonly number[]): Spread {
  return spreadOf(values.map((value, round) => value / (bases[round] ?? Number.NaN)));
}
