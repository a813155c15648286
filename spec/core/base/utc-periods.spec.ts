import t from 'tap';
import { isoTime } from '../../../core/base/iso-time.ts';
import { firstOfMonth, firstOfWeek, monthOf, nextUtcDay, nextUtcMonth, nextUtcWeek, weekOf } from '../../../core/base/utc-periods.ts';

const at = (ms: number): string => new Date(ms).toISOString();

t.test('a week begins on Monday, a month on its first day, also across a year', async (t) => {
  t.equal(weekOf('2026-11-23') - weekOf('2026-11-22'), 1, 'Sunday and Monday');
  t.equal(weekOf('2026-11-23'), weekOf('2026-11-29'));
  t.equal(weekOf('2026-12-28'), weekOf('2027-01-03'));
  t.equal(monthOf('2026-11-22'), '2026-11');
  for (const [now, day, week, month] of [
    ['2026-11-22T23:59:59.999Z', '2026-11-23', '2026-11-23', '2026-12-01'],
    ['2026-11-23T00:00:00.000Z', '2026-11-24', '2026-11-30', '2026-12-01'],
    ['2026-12-31T12:00:00.000Z', '2027-01-01', '2027-01-04', '2027-01-01'],
    ['2028-02-29T12:00:00.000Z', '2028-03-01', '2028-03-06', '2028-03-01'],
  ] as const)
    t.same(
      [nextUtcDay, nextUtcWeek, nextUtcMonth].map((next) => at(next(Date.parse(now)))),
      [day, week, month].map((date) => `${date}T00:00:00.000Z`),
      now,
    );
});

t.test('a time is written as ISO 8601, again and again', async (t) => {
  for (const ms of [0, 0, 1, 1_763_820_202_123, 0]) t.equal(isoTime(ms), new Date(ms).toISOString());
});

t.test('a time has the first day of its week and of its month', async (t) => {
  for (const [now, week, month] of [
    ['2026-11-22T23:59:59.999Z', '2026-11-16', '2026-11-01'],
    ['2026-11-23T00:00:00.000Z', '2026-11-23', '2026-11-01'],
    ['2027-01-01T12:00:00.000Z', '2026-12-28', '2027-01-01'],
  ] as const)
    t.same([firstOfWeek(Date.parse(now)), firstOfMonth(Date.parse(now))], [week, month], now);
});
