import t from 'tap';
import {
  afterRuns,
  clientIdOf,
  dayOf,
  dueInSteps,
  leftToday,
  nextRuns,
  runsPerDay,
  scheduleIn,
  stateNow,
  timingOf,
  timingText,
  windowOf,
} from '../../../core/schedule/plan.ts';
import type { Schedule } from '../../../core/types.ts';

const at = (time: string): number => Date.parse(time);
const NOW = at('2026-11-20T10:00Z');
const HOURLY: Schedule = { id: 'a', cron: '0 * * * *', message: 'x' };
const state = (last: string) => ({ ...stateNow(undefined, timingText(HOURLY, 'UTC'), NOW), last });
const dueOf = (...given: Parameters<typeof dueInSteps>) => {
  const steps = dueInSteps(...given);
  for (let step = steps.next(); ; step = steps.next()) if (step.done === true) return step.value;
};
const due = (schedule: Schedule, last: string, now: number) => dueOf(schedule, timingOf(schedule, 'UTC'), state(last), now);

t.test('in-steps: missed runs are counted some at a time, and none before the first step', async (t) => {
  const minutely = timingOf({ cron: '* * * * *' }, 'UTC');
  let looks = 0;
  const timing = {
    next: (after: number, last: number) => {
      looks += 1;
      return minutely.next(after, last);
    },
  };
  const steps: number[] = [];
  for (const _ of dueInSteps(HOURLY, timing, state('2026-11-10T10:00:00Z'), NOW)) {
    steps.push(looks);
    looks = 0;
  }
  t.equal(steps[0], 1);
  t.ok(steps.length >= 5);
  t.ok(Math.max(...steps) <= 250, `looks in each step: ${steps}`);
  t.same([...dueInSteps(HOURLY, minutely, state('2026-11-20T09:59:00Z'), NOW)], [], 'one that is in time needs none');
});

t.test('a new schedule begins now, and one with other times begins again, but never earlier', async (t) => {
  t.match(stateNow(undefined, 'a', NOW), { last: '2026-11-20T10:00:00.000Z', next: null, fired: 0, pausedBecause: null });
  t.match(stateNow({ last: '2026-11-19T10:00:00.000Z' }, 'a', NOW), { last: '2026-11-19T10:00:00.000Z', of: 'a', failures: 0 }, 'a file by hand has only that');
  const stored = { last: '2026-11-19T10:00:00.000Z', of: 'a', fired: 7, next: 'x' };
  t.match(stateNow(stored, 'a', NOW), stored);
  t.match(stateNow(stored, 'b', NOW), { last: '2026-11-20T10:00:00.000Z', of: 'b', fired: 7, next: null });
  t.match(stateNow({ ...stored, last: '2027-01-01T00:00:00.000Z' }, 'b', NOW), { last: '2027-01-01T00:00:00.000Z' }, 'never back');
});

t.test('whatever changes the times changes their text', async (t) => {
  const texts = [
    HOURLY,
    { ...HOURLY, cron: '1 * * * *' },
    { ...HOURLY, timezone: 'Asia/Tokyo' },
    { ...HOURLY, until: '2027-01-01' },
    { ...HOURLY, enabled: false },
  ];
  const all = [
    ...texts.map((one) => timingText(one, 'UTC')),
    timingText(HOURLY, 'Europe/Berlin'),
    timingText({ id: 'a', every: '0 * * * *', message: '' }, 'UTC'),
  ];
  t.equal(new Set(all).size, all.length - 1, 'cron and every with the same text can never both be right');
  t.equal(timingText({ ...HOURLY, message: 'y', window: 0, maxPerDay: 3 }, 'UTC'), timingText(HOURLY, 'UTC'));
});

t.test('a run that is a minute late is in time for every catchUp', async (t) => {
  for (const catchUp of ['none', 'one', 'all'] as const) {
    t.same(due({ ...HOURLY, catchUp, graceMinutes: 1 }, '2026-11-20T09:30:00Z', NOW + 60_000), { fire: [NOW], missed: 0, latest: NOW }, catchUp);
  }
  t.same(due({ ...HOURLY, catchUp: 'none' }, '2026-11-20T09:30:00Z', NOW + 60_001), { fire: [], missed: 1, latest: NOW });
  t.equal(due(HOURLY, '2026-11-20T09:30:00Z', NOW - 1), undefined);
  t.equal(due(HOURLY, '2026-11-20T10:00:00Z', NOW + 60_000), undefined, 'the run of ten was the last');
  t.equal(dueOf(HOURLY, timingOf(HOURLY, 'UTC'), { ...state('2026-11-20T09:30:00Z'), pausedBecause: 'person' }, NOW), undefined);
});

t.test('years without the server cost no more than days', async (t) => {
  const often: Schedule = { id: 'a', cron: '* * * * *', message: 'x', catchUp: 'all' };
  const found = due(often, '2020-01-01T00:00:00Z', NOW);
  t.equal(found?.latest, NOW);
  t.equal(found?.fire.length, 24);
  t.equal(found?.fire[0], NOW - 23 * 60_000);
  t.equal(found?.missed, 976, 'counted up to a thousand');
  const rare = due({ ...often, cron: '0 8 1 1 *' }, '1970-01-01T00:00:00Z', NOW);
  t.same([rare?.fire.length, rare?.missed], [24, 33]);
  const spans = due({ id: 'a', every: '2m', message: 'x', catchUp: 'all' }, '2020-01-01T00:01:00Z', NOW);
  t.equal(spans?.latest, NOW - 60_000);
});

t.test('runs of a day are counted in the zone of the schedule', async (t) => {
  const schedule: Schedule = { ...HOURLY, timezone: 'Asia/Tokyo', maxPerDay: 2 };
  t.equal(dayOf(schedule, 'UTC', at('2026-11-20T16:00Z')), '2026-11-21');
  const one = afterRuns(state('2026-11-20T09:00:00Z'), { latest: NOW, fired: 1, skipped: { missed: 2 }, day: '2026-11-20' });
  t.match(one, { last: '2026-11-20T10:00:00.000Z', today: 1, fired: 1, skipped: { missed: 2, overlap: 0 } });
  t.equal(leftToday(schedule, one, '2026-11-20'), 1);
  t.equal(leftToday(schedule, one, '2026-11-21'), 2);
  t.match(afterRuns(one, { latest: NOW, fired: 1, skipped: { missed: 1 }, day: '2026-11-21' }), { today: 1, fired: 2, skipped: { missed: 3 } });
});

t.test('what comes is shown from now on, and how often a day', async (t) => {
  const timing = timingOf(HOURLY, 'UTC');
  t.same(nextRuns(timing, state('2026-11-20T09:00:00Z'), NOW, 2), [at('2026-11-20T11:00Z'), at('2026-11-20T12:00Z')]);
  t.same(nextRuns(timing, state('2026-12-01T00:00:00Z'), NOW, 1), [at('2026-12-01T01:00Z')], 'not before the last one, also with a clock that was set back');
  t.equal(runsPerDay(HOURLY, timing, state('2026-11-20T09:00:00Z'), NOW), 24);
  t.equal(runsPerDay({ ...HOURLY, maxPerDay: 3 }, timing, state('2026-11-20T09:00:00Z'), NOW), 3);
  const weekdays: Schedule = { ...HOURLY, cron: '0 8 * * 1-5' };
  t.equal(Math.round(runsPerDay(weekdays, timingOf(weekdays, 'UTC'), state('2026-11-20T09:00:00Z'), NOW) * 7), 5);
  const minutes: Schedule = { ...HOURLY, cron: '* * * * *', maxPerDay: 1440 };
  t.equal(Math.round(runsPerDay(minutes, timingOf(minutes, 'UTC'), state('2026-11-20T09:00:00Z'), NOW)), 1440);
});

t.test('a message says which schedule has sent it', async (t) => {
  t.equal(clientIdOf('brief', NOW), 'schedule:brief:2026-11-20T10:00:00.000Z');
  t.equal(scheduleIn(clientIdOf('brief', NOW)), 'brief');
  t.equal(scheduleIn('mail-17'), undefined);
  t.equal(scheduleIn(undefined), undefined);
  t.same([windowOf({}), windowOf({ window: 0 }), windowOf({ window: 'all' })], [3, 0, undefined]);
});
