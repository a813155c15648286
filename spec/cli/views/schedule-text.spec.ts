import t from 'tap';
import { styleFor } from '../../../cli/terminal/output.ts';
import { scheduleLines } from '../../../cli/views/schedule-text.ts';
import type { ScheduleView } from '../../../core/index.ts';

const NOW = Date.parse('2026-11-20T10:00:00Z');
const VIEW: ScheduleView = {
  id: 'brief',
  cron: '0 8 * * 1-5',
  timezone: 'Europe/Berlin',
  message: 'Write\nthe \x1b[2Jbrief.',
  window: 3,
  catchUp: 'one',
  graceMinutes: 60,
  maxPerDay: 48,
  enabled: true,
  state: 'active',
  problem: null,
  next: ['2026-11-23T07:00:00.000Z', '2026-11-24T07:00:00.000Z', '2026-11-25T07:00:00.000Z'],
  last: '2026-11-20T07:00:00.000Z',
  fired: 12,
  skipped: { missed: 2, overlap: 1, halted: 0, cap: 3 },
  failures: 1,
  pausedBecause: null,
  lastOutcomes: [{ messageId: 'm1', at: '2026-11-20T07:00:00.000Z', status: 'failed', error: 'No key.', costUsd: null }],
  costsAbout: { perRunUsd: 0.0031, runsPerDay: 0.71, perDayUsd: 0.0022 },
};
const lines = (view: Partial<ScheduleView>, held: string | null = null) =>
  scheduleLines({ schedules: [{ ...VIEW, ...view } as ScheduleView], held }, { now: NOW, style: styleFor(false) });

t.test('a schedule is shown with its next runs in both zones, its last outcome, what was left out, and its costs', async (t) => {
  t.strictSame(lines({}), [
    'brief  active  0 8 * * 1-5 Europe/Berlin',
    '  Write the brief.',
    '  next  2026-11-23 08:00 Europe/Berlin = 2026-11-23 07:00 UTC, in 3d',
    '        2026-11-24 08:00 Europe/Berlin = 2026-11-24 07:00 UTC',
    '        2026-11-25 08:00 Europe/Berlin = 2026-11-25 07:00 UTC',
    '  last  3h ago, failed: No key. (12 runs)',
    '  left out: 2 missed, 1 because the message before was not answered, 3 over a cap',
    '  costs about $0.0022 a day ($0.0031 a run, 0.71 runs a day)',
  ]);
});

t.test('what is not known is left out, and UTC is said once', async (t) => {
  const none = { skipped: { missed: 0, overlap: 0, halted: 0, cap: 0 }, costsAbout: null, lastOutcomes: [], fired: 0 };
  t.strictSame(lines({ ...none, timezone: 'UTC', next: ['2026-11-20T10:05:00.000Z'] }, 'The monitor is stopped.'), [
    'The monitor is stopped.',
    '',
    'brief  active  0 8 * * 1-5 UTC',
    '  Write the brief.',
    '  next  2026-11-20 10:05 UTC, in 5m',
    '  last  never',
  ]);
  t.match(lines({ ...none, timezone: 'Mars/Base', next: ['2026-11-20T10:05:00.000Z'] })[2], '2026-11-20 10:05 Mars/Base = ');
  t.match(
    lines({ fired: 3, lastOutcomes: [] }),
    ['', '', '', '', '', '  last  3 runs, none of them in the chat any more'].map((line) => new RegExp(`${line}$`)).concat([/./, /./]),
  );
  t.match(lines({ fired: 0 })[5], /^ {2}last .* ago, failed: No key\.$/, 'one that was run by hand');
  const { cron: _cron, ...rest } = VIEW;
  t.match(
    scheduleLines(
      { schedules: [{ ...rest, every: '30m', until: '2026-12-31', state: 'paused', problem: 'Paused.', next: [] }], held: null },
      { now: NOW, style: styleFor(false) },
    ),
    ['brief  paused  every 30m until 2026-12-31', /./, '  Paused.', /last/, /left/, /costs/],
  );
  t.match(lines({ cron: undefined, at: '2026-12-24T09:00:00+01:00' } as never)[0], 'once at 2026-12-24T09:00:00+01:00');
  t.strictSame(scheduleLines({ schedules: [], held: 'x' }, { now: NOW, style: styleFor(false) }), []);
});
