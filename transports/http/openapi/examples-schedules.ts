// Examples of schedules for the published contract. Pure: no I/O.
import type { Example } from './example.ts';

const BRIEF = {
  id: 'brief',
  cron: '0 8 * * 1-5',
  timezone: 'Europe/Berlin',
  message: 'Write the morning brief.',
  window: 0,
  catchUp: 'one',
  graceMinutes: 60,
  maxPerDay: 48,
  enabled: true,
  state: 'active',
  problem: null,
  next: ['2026-11-23T07:00:00.000Z', '2026-11-24T07:00:00.000Z', '2026-11-25T07:00:00.000Z'],
  last: '2026-11-20T07:00:00.000Z',
  fired: 12,
  skipped: { missed: 1, overlap: 0, halted: 0, cap: 0 },
  failures: 0,
  pausedBecause: null,
  lastOutcomes: [{ messageId: 'm0mwsgohuc000030c1625b', at: '2026-11-20T07:00:00.120Z', status: 'done', error: null, costUsd: 0.0031 }],
  costsAbout: { perRunUsd: 0.0031, runsPerDay: 0.71, perDayUsd: 0.0022 },
};

/** The examples by name. */
export const SCHEDULE_EXAMPLES = {
  Schedules: { of: 'ScheduleList', summary: 'A brief on the mornings of working days', value: { schedules: [BRIEF], held: null } },
  PausedSchedule: {
    of: 'ScheduleChanged',
    operations: ['pauseSchedule'],
    summary: 'It rests',
    value: { success: true, schedule: { ...BRIEF, state: 'paused', problem: 'Somebody has paused it.', next: [], pausedBecause: 'person', costsAbout: null } },
  },
  ResumedSchedule: { of: 'ScheduleChanged', operations: ['resumeSchedule'], summary: 'It runs again', value: { success: true, schedule: BRIEF } },
} as const satisfies Record<string, Example>;
