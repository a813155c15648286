import t from 'tap';
import { assertTimezone, dateKey, dayStart, monthStart, nextDayStart, nextMonthStart } from '../../../core/base/calendar.ts';

const at = (time: string): number => Date.parse(time);
const iso = (ms: number): string => new Date(ms).toISOString();

t.test('days and months begin at midnight of the timezone, even when the clocks change', async (t) => {
  const cases: [now: string, timezone: string, day: string, nextDay: string, month: string, nextMonth: string][] = [
    ['2026-11-20T14:03:22.123Z', 'UTC', '2026-11-20T00:00', '2026-11-21T00:00', '2026-11-01T00:00', '2026-12-01T00:00'],
    ['2026-11-20T00:00:00.000Z', 'UTC', '2026-11-20T00:00', '2026-11-21T00:00', '2026-11-01T00:00', '2026-12-01T00:00'],
    ['2026-11-19T23:59:59.999Z', 'UTC', '2026-11-19T00:00', '2026-11-20T00:00', '2026-11-01T00:00', '2026-12-01T00:00'],
    ['2026-12-31T23:30:00.000Z', 'Europe/Berlin', '2026-12-31T23:00', '2027-01-01T23:00', '2026-12-31T23:00', '2027-01-31T23:00'],
    ['2026-12-31T22:30:00.000Z', 'Europe/Berlin', '2026-12-30T23:00', '2026-12-31T23:00', '2026-11-30T23:00', '2026-12-31T23:00'],
    // A day of 23 hours, and one of 25.
    ['2026-03-29T12:00:00.000Z', 'Europe/Berlin', '2026-03-28T23:00', '2026-03-29T22:00', '2026-02-28T23:00', '2026-03-31T22:00'],
    ['2026-10-25T12:00:00.000Z', 'Europe/Berlin', '2026-10-24T22:00', '2026-10-25T23:00', '2026-09-30T22:00', '2026-10-31T23:00'],
    ['2026-11-01T05:30:00.000Z', 'America/New_York', '2026-11-01T04:00', '2026-11-02T05:00', '2026-11-01T04:00', '2026-12-01T05:00'],
    // Midnight does not exist on this day in Santiago: it begins at one.
    ['2026-09-06T12:00:00.000Z', 'America/Santiago', '2026-09-06T04:00', '2026-09-07T03:00', '2026-09-01T04:00', '2026-10-01T03:00'],
    // Clocks are set back at midnight, so that the hour before comes twice.
    ['2026-04-05T02:30:00.000Z', 'America/Santiago', '2026-04-04T03:00', '2026-04-05T04:00', '2026-04-01T03:00', '2026-05-01T04:00'],
    ['2026-04-05T03:30:00.000Z', 'America/Santiago', '2026-04-04T03:00', '2026-04-05T04:00', '2026-04-01T03:00', '2026-05-01T04:00'],
    ['2026-06-15T10:00:00.000Z', 'Pacific/Kiritimati', '2026-06-15T10:00', '2026-06-16T10:00', '2026-05-31T10:00', '2026-06-30T10:00'],
    ['2026-06-15T11:59:59.999Z', 'Etc/GMT+12', '2026-06-14T12:00', '2026-06-15T12:00', '2026-06-01T12:00', '2026-07-01T12:00'],
    ['2026-06-15T18:20:00.000Z', 'Asia/Kathmandu', '2026-06-15T18:15', '2026-06-16T18:15', '2026-05-31T18:15', '2026-06-30T18:15'],
    ['2028-02-29T12:00:00.000Z', 'UTC', '2028-02-29T00:00', '2028-03-01T00:00', '2028-02-01T00:00', '2028-03-01T00:00'],
    // Samoa left this day out.
    ['2011-12-30T09:00:00.000Z', 'Pacific/Apia', '2011-12-29T10:00', '2011-12-30T10:00', '2011-12-01T10:00', '2011-12-31T10:00'],
  ];
  for (const [now, timezone, ...wanted] of cases) {
    const found = [dayStart, nextDayStart, monthStart, nextMonthStart].map((border) => iso(border(at(now), timezone)));
    t.same(
      found,
      wanted.map((time) => `${time}:00.000Z`),
      `${now} in ${timezone}`,
    );
  }
});

t.test('a day includes its first moment, on every day of a year', async (t) => {
  for (const timezone of ['Europe/London', 'America/Sao_Paulo', 'Australia/Lord_Howe', 'Africa/Casablanca', 'America/Nuuk']) {
    let day = dayStart(at('2026-01-01T12:00:00Z'), timezone);
    for (let n = 0; n < 365; n += 1) {
      const next = nextDayStart(day, timezone);
      if (next <= day || dayStart(next - 1, timezone) !== day || dayStart(next, timezone) !== next) t.fail(`${timezone} ${iso(day)}`);
      day = next;
    }
    t.equal(day, dayStart(at('2027-01-01T12:00:00Z'), timezone), timezone);
  }
});

t.test('the error for an unknown timezone names it', async (t) => {
  for (const timezone of ['Mars/Olympus', ' '])
    t.throws(() => dayStart(0, timezone), { code: 'INVALID_REQUEST', message: /budget\.timezone/, details: [{ path: 'budget.timezone' }] }, timezone);
});

t.test('an invalid time is a defect, not an unknown timezone', async (t) => {
  t.throws(() => dayStart(Number.NaN, 'UTC'), { name: 'RangeError' });
});

t.test('a date is the date in the timezone', async (t) => {
  t.equal(dateKey(at('2026-12-31T12:00:00Z'), 'Pacific/Kiritimati'), '2027-01-01');
  t.equal(dateKey(at('2026-12-31T12:00:00Z'), 'UTC'), '2026-12-31');
  t.doesNotThrow(() => assertTimezone('Europe/Berlin'));
  t.throws(() => assertTimezone('Nowhere'), { code: 'INVALID_REQUEST' });
});
