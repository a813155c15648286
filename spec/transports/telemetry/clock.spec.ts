import { mock } from 'node:test';
import t from 'tap';
import { hrTime, SpanClock } from '../../../transports/telemetry/clock.ts';

const BEGAN = Date.parse('2026-11-29T12:00:00.000Z');

t.test('times of spans go on evenly, whatever the rounding of the system’s clock, and follow it within a second when it is set', async (t) => {
  const times = { system: BEGAN, monotonic: 5000.25 };
  const mocks = [mock.method(Date, 'now', () => times.system), mock.method(performance, 'now', () => times.monotonic)];
  t.teardown(() => {
    for (const each of mocks) each.mock.restore();
  });
  const clock = new SpanClock();
  t.equal(clock.now(), BEGAN);
  const after = (monotonicMs: number, systemMs: number): number => {
    times.monotonic += monotonicMs;
    times.system += systemMs;
    return clock.now() - BEGAN;
  };
  t.equal(after(0.5, 1), 0.5, 'a part of a millisecond');
  t.equal(after(1500, 1510), 1500.5, 'the difference is one of rounding');
  t.equal(after(500, 3_600_500), 2000.5, 'within a request nothing jumps');
  t.equal(after(500, 500), 3_602_511, 'an hour later, as the system now says');
});

t.test('the form of the packages is whole seconds and nanoseconds', async (t) => {
  t.strictSame(hrTime(1_795_953_600_123.25), [1_795_953_600, 123_250_000]);
  t.strictSame(hrTime(999.5), [0, 999_500_000]);
});
