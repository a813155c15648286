import t from 'tap';
import { localTime, timingOf } from '../../../core/schedule/occurrences.ts';

const MINUTE = 60_000;
const at = (time: string): number => Date.parse(time);
const runs = (schedule: Parameters<typeof timingOf>[0], zone: string, from: string, to: string): string[] => {
  const timing = timingOf(schedule, zone);
  const found: string[] = [];
  for (let next = timing.next(at(from), at(from)); next !== undefined && next < at(to); next = timing.next(next, at(from)))
    found.push(new Date(next).toISOString().slice(0, 16));
  return found;
};

/** The nights on which clocks change, each with a day before and after it in UTC. */
const NIGHTS: readonly [zone: string, from: string, to: string][] = [
  ['Europe/Berlin', '2026-03-28T12:00Z', '2026-03-30T12:00Z'],
  ['Europe/Berlin', '2026-10-24T12:00Z', '2026-10-26T12:00Z'],
  ['America/New_York', '2026-03-07T12:00Z', '2026-03-09T12:00Z'],
  ['America/New_York', '2026-10-31T12:00Z', '2026-11-02T12:00Z'],
  ['Australia/Lord_Howe', '2026-04-04T00:00Z', '2026-04-06T00:00Z'], // half an hour
  ['Australia/Lord_Howe', '2026-10-03T00:00Z', '2026-10-05T00:00Z'],
  ['America/Santiago', '2026-04-04T12:00Z', '2026-04-06T12:00Z'], // at midnight
  ['America/Santiago', '2026-09-05T12:00Z', '2026-09-07T12:00Z'],
  ['Africa/Cairo', '2026-04-23T12:00Z', '2026-04-25T12:00Z'],
  ['Africa/Cairo', '2026-10-29T12:00Z', '2026-10-31T12:00Z'],
  ['Antarctica/Troll', '2026-03-28T12:00Z', '2026-03-30T12:00Z'], // two hours
  ['Antarctica/Troll', '2026-10-24T12:00Z', '2026-10-26T12:00Z'],
  ['Africa/Casablanca', '2026-03-21T12:00Z', '2026-03-23T12:00Z'], // the end of Ramadan
  ['America/Havana', '2026-10-31T12:00Z', '2026-11-02T12:00Z'], // midnight comes twice
];

/** What runs in a minute: the times of the clock that it shows for the first time, or that were left out before it. */
type Shown = readonly [now: number, times: readonly Date[]];
const walks = new Map<string, readonly Shown[]>();

/** Each minute of a night by the clock of the zone, which takes some milliseconds; each night is walked through once. */
function walkOf(zone: string, from: string, to: string): readonly Shown[] {
  const walk = walks.get(`${zone} ${from}`) ?? walkThrough(zone, from, to);
  walks.set(`${zone} ${from}`, walk);
  return walk;
}

function walkThrough(zone: string, from: string, to: string): readonly Shown[] {
  const walk: Shown[] = [];
  const shown = new Set<number>();
  let before = at(`${localTime(at(from) - MINUTE, zone)}Z`);
  for (let now = at(from); now < at(to); now += MINUTE) {
    const local = at(`${localTime(now, zone)}Z`);
    if (local <= before && !shown.has(local)) throw new Error('the clock shows what it has not shown before');
    // The times that the clock has left out run at the first moment after the gap; a time that was shown before does not run again.
    const times: Date[] = [];
    for (let time = before + MINUTE; time <= local; time += MINUTE) {
      if (shown.has(time)) continue;
      shown.add(time);
      times.push(new Date(time));
    }
    walk.push([now, times]);
    before = Math.max(before, local);
  }
  return walk;
}

/** Another way to the same: it asks the clock of the zone for each minute, and knows no cron. */
function byTheClock(hours: ReadonlySet<number>, minutes: ReadonlySet<number>, zone: string, from: string, to: string): string[] {
  const isDue = (time: Date): boolean => hours.has(time.getUTCHours()) && minutes.has(time.getUTCMinutes());
  return walkOf(zone, from, to).flatMap(([now, times]) => (times.some(isDue) ? [new Date(now).toISOString().slice(0, 16)] : []));
}

t.test('a time that does not exist runs after the gap, and one that comes twice runs once, in fourteen nights', async (t) => {
  t.equal(NIGHTS.length, 14);
  for (const [zone, from, to] of NIGHTS) {
    t.not(localTime(at(from), zone).slice(11), localTime(at(to), zone).slice(11), `the clock of ${zone} changes before ${to}`);
    for (const hour of [0, 1, 2, 3]) {
      for (const minute of [0, 15, 30]) {
        const expected = byTheClock(new Set([hour]), new Set([minute]), zone, from, to);
        t.strictSame(
          runs({ cron: `${minute} ${hour} * * *` }, zone, from, to).filter((run) => at(`${run}Z`) >= at(from)),
          expected,
          `${minute} ${hour} in ${zone}, ${from}`,
        );
      }
    }
  }
});

t.test('a list or a range of hours is a time of the day, too', async (t) => {
  for (const [zone, from, to] of NIGHTS) {
    t.strictSame(runs({ cron: '0,30 1,2 * * *' }, zone, from, to), byTheClock(new Set([1, 2]), new Set([0, 30]), zone, from, to), `${zone}, ${from}`);
  }
});

t.test('every second hour runs once in the night that has one hour twice', async (t) => {
  t.strictSame(runs({ cron: '0 */2 * * *' }, 'Europe/Berlin', '2026-10-24T21:59Z', '2026-10-25T06:00Z'), [
    '2026-10-24T22:00',
    '2026-10-25T00:00',
    '2026-10-25T03:00',
    '2026-10-25T05:00',
  ]);
  for (const [zone, from, to] of NIGHTS) {
    const local = runs({ cron: '30 */2 * * *' }, zone, from, to).map((run) => localTime(at(`${run}Z`), zone));
    t.strictSame(local, [...new Set(local)], zone);
  }
});

t.test('a schedule of every hour goes on each hour, whatever the clock shows', async (t) => {
  for (const [zone, from, to] of NIGHTS.filter(([zone]) => zone !== 'Australia/Lord_Howe')) {
    for (const cron of ['0 * * * *', '@hourly']) {
      const found = runs({ cron }, zone, from, to).map((run) => at(`${run}Z`));
      t.strictSame(
        found
          .slice(1)
          .map((run, index) => run - (found[index] ?? 0))
          .filter((gap) => gap !== 60 * MINUTE),
        [],
        `${cron} in ${zone}, ${from}`,
      );
    }
  }
});

t.test('a day that a zone has left out has no runs', async (t) => {
  t.strictSame(runs({ cron: '15 0 * * *' }, 'Pacific/Apia', '2011-12-29T00:00Z', '2012-01-01T00:00Z'), [
    '2011-12-29T10:15',
    '2011-12-30T10:15',
    '2011-12-31T10:15',
  ]);
});

t.test('five fields and four words are understood', async (t) => {
  t.strictSame(runs({ cron: '0 8 * * 1-5' }, 'UTC', '2026-11-20T09:00Z', '2026-11-25T00:00Z'), ['2026-11-23T08:00', '2026-11-24T08:00']);
  t.strictSame(runs({ cron: '0 8 * * MON,wed' }, 'UTC', '2026-11-20T09:00Z', '2026-11-27T00:00Z'), ['2026-11-23T08:00', '2026-11-25T08:00']);
  t.strictSame(runs({ cron: '@daily' }, 'Asia/Tokyo', '2026-11-20T00:00Z', '2026-11-22T00:00Z'), ['2026-11-20T15:00', '2026-11-21T15:00']);
  t.strictSame(runs({ cron: '@weekly' }, 'UTC', '2026-11-20T00:00Z', '2026-12-01T00:00Z'), ['2026-11-22T00:00', '2026-11-29T00:00']);
  t.strictSame(runs({ cron: '@monthly' }, 'UTC', '2026-11-20T00:00Z', '2027-01-15T00:00Z'), ['2026-12-01T00:00', '2027-01-01T00:00']);
  t.strictSame(runs({ cron: '0 0 29 2 *' }, 'UTC', '2026-11-20T00:00Z', '2029-01-01T00:00Z'), ['2028-02-29T00:00']);
});

t.test('a span counts from the run before, and a moment comes once', async (t) => {
  const every = timingOf({ every: '90m' }, 'UTC');
  t.equal(every.next(at('2026-11-20T10:00Z'), at('2026-11-20T09:20Z')), at('2026-11-20T10:50Z'));
  t.equal(every.next(at('2026-11-20T10:50Z'), at('2026-11-20T09:20Z')), at('2026-11-20T12:20Z'));
  t.equal(every.next(at('2026-11-20T08:00Z'), at('2026-11-20T09:20Z')), at('2026-11-20T10:50Z'), 'also after the clock was set back');
  const once = timingOf({ at: '2026-12-24T09:00:00+01:00' }, 'UTC');
  t.equal(once.next(at('2026-11-20T10:00Z'), 0), at('2026-12-24T08:00Z'));
  t.equal(once.next(at('2026-12-24T08:00Z'), 0), undefined);
});

t.test('until is the last day, in the zone of the schedule', async (t) => {
  const schedule = { cron: '0 1 * * *', timezone: 'Pacific/Auckland', until: '2026-11-22' };
  t.strictSame(runs(schedule, 'UTC', '2026-11-20T00:00Z', '2026-12-01T00:00Z'), ['2026-11-20T12:00', '2026-11-21T12:00']);
});

t.test('what never runs says which field is wrong', async (t) => {
  const wrong: [schedule: Parameters<typeof timingOf>[0], field: string, message: RegExp][] = [
    [{}, '', /one of cron, every and at/],
    [{ cron: '* * * * *', every: '5m' }, '', /only one of cron, every and at/],
    [{ cron: '0 0 30 2 *' }, 'cron', /no such day/],
    [{ cron: '0 0 31 4,6 *' }, 'cron', /no such day/],
    [{ cron: '60 * * * *' }, 'cron', /^can't be used: invalid value for minute: 60$/],
    [{ cron: '* * * * * *' }, 'cron', /five fields/],
    [{ cron: '0 8 * *' }, 'cron', /^must have five fields \(minute, hour, day, month, weekday\), such as 0 8 \* \* 1-5$/],
    [{ cron: 'hello' }, 'cron', /five fields/],
    [{ cron: '@yearly' }, 'cron', /@monthly/],
    [{ every: '59s' }, 'every', /between 1m/],
    [{ every: '0m' }, 'every', /between 1m/],
    [{ every: '400d' }, 'every', /366d/],
    [{ every: '1.5h' }, 'every', /30m/],
    [{ every: '1w' }, 'every', /30m/],
    [{ at: '2026-12-24T09:00:00' }, 'at', /offset/],
    [{ at: '2026-13-24T09:00:00Z' }, 'at', /date and time/],
    [{ at: 'tomorrow' }, 'at', /date and time/],
    [{ every: '1h', until: '2026-02-30' }, 'until', /date/],
    [{ every: '1h', timezone: 'Mars/Olympus' }, 'timezone', /IANA/],
  ];
  for (const [schedule, field, message] of wrong) {
    t.throws(() => timingOf(schedule, 'UTC'), { field, message }, JSON.stringify(schedule));
  }
});
