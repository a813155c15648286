import t from 'tap';
import type { GatewayFigures, GatewayPoint } from '../../../../core/types.ts';
import { advanced, isSparse, joined, overall, totalsOf } from '../../../../transports/dashboard/data/totals.ts';

const point = (at: string, requests: number, firstTextP50: number | null): GatewayPoint => ({
  at,
  requests,
  errors: requests > 1 ? 1 : 0,
  input: requests * 10,
  output: requests,
  cached: 0,
  firstTextP50,
  firstTextP95: null,
  durationP50: null,
  durationP95: null,
});

const adapters = [
  { id: 'a', series: [point('2026-11-23T08:00:00.000Z', 1, 100), point('2026-11-23T08:01:00.000Z', 3, 300)] },
  { id: 'b', series: [] },
  { id: 'c', series: [point('2026-11-23T08:00:00.000Z', 2, 400), point('2026-11-23T08:01:00.000Z', 0, null)] },
] as unknown as GatewayFigures['adapters'];

t.test('sums are sums, and percentiles count by their requests', async (t) => {
  t.match(totalsOf(adapters[0]?.series ?? []), { requests: 4, errors: 1, input: 40, output: 4, firstTextP50: 250, firstTextP95: null });
});

t.test('the series of all providers lie on one axis', async (t) => {
  const { times, called } = joined(adapters);
  t.same(times, [Date.parse('2026-11-23T08:00:00.000Z'), Date.parse('2026-11-23T08:01:00.000Z')]);
  t.same(
    called.map(({ id }) => id),
    ['a', 'c'],
  );
  t.match(overall(called), [
    { requests: 3, firstTextP50: 300 },
    { requests: 3, firstTextP50: 300 },
  ]);
});

t.test('few requests are counted: a rate of them would be that of one', async (t) => {
  const points = (...requests: number[]) => requests.map((each) => ({ requests: each }));
  t.ok(isSparse(points(0, 1, 0, 0, 1)));
  t.ok(isSparse(points(...Array.from({ length: 180 }, () => 1))), 'also when each step has one');
  t.notOk(isSparse(points(0, 0, 40, 0)), 'but not a rush');
  t.notOk(isSparse(points(5, 6, 4, 5)));
  t.notOk(isSparse(points(0, 0)));
});

t.test('figures that nobody called since go on without requests, in the same steps and of the same length', async (t) => {
  const figures = { window: '15m', adapters } as GatewayFigures;
  const until = (time: string): readonly (readonly [string, number])[] =>
    (advanced(figures, Date.parse(`2026-11-23T${time}Z`)).adapters[0]?.series ?? []).map(({ at, requests }) => [at.slice(11, 19), requests]);
  t.strictSame(until('08:01:59'), [
    ['08:00:00', 1],
    ['08:01:00', 3],
  ]);
  t.strictSame(until('08:02:30'), [
    ['08:01:00', 3],
    ['08:02:00', 0],
  ]);
  t.strictSame(until('09:10:00'), [
    ['09:09:00', 0],
    ['09:10:00', 0],
  ]);
  t.same(advanced(figures, Date.parse('2026-11-23T09:00:00Z')).adapters[1]?.series, [], 'what was never called has no series');
});
