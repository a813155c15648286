// What the series of the gateway add up to. Pure.
import type { GatewayFigures, GatewayPoint } from '../../../core/types.ts';

/** What a series adds up to. */
export interface Totals {
  readonly requests: number;
  readonly errors: number;
  readonly input: number;
  readonly output: number;
  readonly cached: number;
  readonly firstTextP50: number | null;
  readonly firstTextP95: number | null;
  readonly durationP50: number | null;
}

const NO_CALLS = {
  ...{ requests: 0, errors: 0, input: 0, output: 0, cached: 0 },
  ...{ firstTextP50: null, firstTextP95: null, durationP50: null, durationP95: null },
};

/** Sums. A percentile is the mean of the points' percentiles, weighted by their requests. */
export function totalsOf(points: readonly GatewayPoint[]): Totals {
  const sum = (name: 'requests' | 'errors' | 'input' | 'output' | 'cached'): number => points.reduce((all, point) => all + point[name], 0);
  return {
    requests: sum('requests'),
    errors: sum('errors'),
    input: sum('input'),
    output: sum('output'),
    cached: sum('cached'),
    firstTextP50: weighted(points, 'firstTextP50'),
    firstTextP95: weighted(points, 'firstTextP95'),
    durationP50: weighted(points, 'durationP50'),
  };
}

function weighted(points: readonly GatewayPoint[], name: 'firstTextP50' | 'firstTextP95' | 'durationP50'): number | null {
  let weight = 0;
  let sum = 0;
  for (const point of points) {
    const value = point[name];
    if (value === null) continue;
    weight += point.requests;
    sum += value * point.requests;
  }
  return weight === 0 ? null : sum / weight;
}

/** A point with fewer requests has no rate worth the name. */
const MIN_REQUESTS = 5;

/** True where the points with requests have so few of them that a rate would be that of one request or of a few. */
export function isSparse(points: readonly Pick<Totals, 'requests'>[]): boolean {
  const busy = points.filter(({ requests }) => requests > 0);
  return busy.reduce((sum, { requests }) => sum + requests, 0) < MIN_REQUESTS * busy.length;
}

/** The figures as they are at a time when no call was made since they were read: their series go on without requests. */
export function advanced(figures: GatewayFigures, nowMs: number): GatewayFigures {
  const moved = figures.adapters.map((adapter) => ({ ...adapter, series: advancedSeries(adapter.series, nowMs) }));
  return { ...figures, adapters: moved };
}

function advancedSeries(series: readonly GatewayPoint[], nowMs: number): readonly GatewayPoint[] {
  const [at, last] = [series.at(-2), series.at(-1)].map((point) => Date.parse(point?.at ?? ''));
  const step = (last ?? Number.NaN) - (at ?? Number.NaN);
  const passed = Math.floor((nowMs - (last ?? Number.NaN)) / step);
  if (!(passed > 0) || last === undefined) return series;
  const empty = Array.from({ length: Math.min(passed, series.length) }, (_, index) => ({
    ...NO_CALLS,
    at: new Date(last + (Math.max(0, passed - series.length) + index + 1) * step).toISOString(),
  }));
  return [...series.slice(empty.length), ...empty];
}

/** The providers whose series have points, and the times of these points. */
export function joined(adapters: GatewayFigures['adapters']): { readonly times: readonly number[]; readonly called: GatewayFigures['adapters'] } {
  const called = adapters.filter(({ series }) => series.length > 0);
  const [first] = called;
  return { times: (first?.series ?? []).map(({ at }) => Date.parse(at)), called };
}

/** The point of each time over all providers: sums, and the percentiles weighted. */
export function overall(called: GatewayFigures['adapters']): readonly Totals[] {
  const [first] = called;
  return (first?.series ?? []).map((_point, index) => totalsOf(called.flatMap(({ series }) => series[index] ?? [])));
}
