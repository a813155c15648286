import t from 'tap';
import type { ScheduleView } from '../../../../core/types.ts';
import { scheduleOf, timeIn, typedSchedule, wrongFields } from '../../../../transports/dashboard/data/schedules.ts';
import { costsAboutText, leftOutText, runOutcomeText, scheduleStateText, whenText } from '../../../../transports/dashboard/text/schedules.ts';

const VIEW = { id: 'brief', cron: '0 8 * * *', timezone: 'Europe/Berlin', message: 'Write.', window: 'all', catchUp: 'none' } as unknown as ScheduleView;

t.test('what is typed is what is sent, and what is stored is what is typed', async (t) => {
  const typed = typedSchedule(VIEW);
  t.strictSame(typed, { id: 'brief', timing: 'cron', when: '0 8 * * *', timezone: 'Europe/Berlin', message: 'Write.', window: 'all', catchUp: 'none' });
  t.strictSame(scheduleOf(typed), { id: 'brief', cron: '0 8 * * *', timezone: 'Europe/Berlin', message: 'Write.', window: 'all', catchUp: 'none' });
  t.strictSame(scheduleOf({ ...typed, timing: 'every', when: ' 30m ', window: ' 0' }), {
    id: 'brief',
    every: '30m',
    message: 'Write.',
    window: 0,
    catchUp: 'none',
  });
  t.strictSame(scheduleOf({ ...typed, timezone: ' ' }), { id: 'brief', cron: '0 8 * * *', message: 'Write.', window: 'all', catchUp: 'none' });
  const { cron: _cron, ...others } = VIEW;
  t.match(typedSchedule({ ...others, every: '2d' } as ScheduleView), { timing: 'every', when: '2d' });
  t.match(typedSchedule({ ...others, at: '2026-12-24T09:00:00Z' } as ScheduleView), { timing: 'at', when: '2026-12-24T09:00:00Z' });
});

t.test('what can not be sent is named', async (t) => {
  t.strictSame(wrongFields(typedSchedule(VIEW)), []);
  t.strictSame(wrongFields(typedSchedule(undefined)), ['id', 'when', 'message']);
  for (const id of ['Brief', '-a', 'a b', 'x'.repeat(33)]) t.strictSame(wrongFields({ ...typedSchedule(VIEW), id }), ['id'], id);
  for (const window of ['', 'few', '-1', '1.5']) t.strictSame(wrongFields({ ...typedSchedule(VIEW), window }), ['window'], window);
});

t.test('a time is shown in a zone, and one that is not known is UTC', async (t) => {
  t.match(timeIn('2026-11-23T07:00:00.000Z', 'Europe/Berlin'), /^Mon,? 23 Nov,? 08:00$/);
  t.match(timeIn('2026-11-23T07:00:00.000Z', 'Mars/Base'), /07:00$/);
});

t.test('words of a schedule', async (t) => {
  t.equal(whenText(VIEW), '0 8 * * *, Europe/Berlin');
  t.equal(whenText({ ...VIEW, cron: undefined, every: '30m', until: '2026-12-31' } as unknown as ScheduleView), 'every 30m, until 2026-12-31');
  t.equal(whenText({ ...VIEW, cron: undefined, at: '2026-12-24T09:00:00Z' } as unknown as ScheduleView), 'once, 2026-12-24T09:00:00Z');
  t.equal(leftOutText({ missed: 2, overlap: 0, halted: 0, cap: 1 }), '2 missed, 1 over a cap');
  t.equal(leftOutText({ missed: 0, overlap: 0, halted: 0, cap: 0 }), '');
  t.match(costsAboutText({ perRunUsd: 1, runsPerDay: 1, perDayUsd: 1 }), /a day \(.* a run, 1 run a day\)$/);
  t.strictSame([runOutcomeText('done'), runOutcomeText('odd'), scheduleStateText('off')], ['answered', 'odd', 'turned off']);
});
