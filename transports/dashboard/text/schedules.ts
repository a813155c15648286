// Words of a block's schedules.
import type { ScheduleView } from '../../../core/types.ts';
import { plural, usd } from '../base/format.ts';
import { ownOf } from '../base/own.ts';
import type { Timing } from '../data/schedules.ts';

export const scheduleText = {
  title: 'Schedules',
  lead: 'Messages that the block gets at certain times, while its monitor runs.',
  none: 'The block has no schedules. One sends it a message at certain times, such as a brief each morning.',
  add: 'Add a schedule…',
  edit: 'Change…',
  remove: 'Remove',
  runNow: 'Run now',
  pause: 'Pause',
  resume: 'Resume',
  ran: 'The message is sent. Its answer comes into the chat.',
  next: 'Next runs',
  outcomes: 'Last runs',
  noOutcomes: 'It has not run yet.',
  leftOut: 'Left out',
  costs: 'Costs about',
  utc: 'UTC',
  id: 'Name',
  idHelp: 'Lower-case letters, digits and -',
  idWrong: 'A name has lower-case letters, digits and -, and begins with a letter or digit.',
  timing: 'Runs',
  when: 'When',
  whenWrong: 'Say when it runs.',
  timezone: 'Time zone',
  timezoneHelp: 'Such as Europe/Berlin. Left empty, it is that of the budget.',
  message: 'Message',
  messageWrong: 'A message has at least one letter.',
  window: 'Earlier exchanges that the model sees',
  windowHelp: 'A number, or all',
  windowWrong: 'This must be a number, or all.',
  catchUp: 'Runs that were missed',
  save: 'Save',
} as const;

export const TIMINGS: Readonly<Record<Timing, { readonly name: string; readonly help: string }>> = {
  cron: { name: 'At times', help: 'Minute, hour, day, month and weekday, such as 0 8 * * 1-5; or @daily' },
  every: { name: 'Every', help: 'A span of at least a minute, such as 30m, 6h or 2d' },
  at: { name: 'Once', help: 'A moment with Z or an offset, such as 2026-12-24T09:00:00+01:00' },
};

export const CATCH_UPS = { none: 'are left out', one: 'the latest is made up for', all: 'all are made up for' } as const;

const SCHEDULE_STATES: Readonly<Record<ScheduleView['state'], string>> = {
  active: 'active',
  paused: 'paused',
  off: 'turned off',
  over: 'over',
  invalid: 'never runs',
};

export function scheduleStateText(state: ScheduleView['state']): string {
  return SCHEDULE_STATES[state];
}

/** Such as `0 8 * * 1-5, Europe/Berlin`. */
export function whenText({ cron, every, at, until, timezone }: ScheduleView): string {
  const others = every === undefined ? `once, ${at ?? ''}` : `every ${every}`;
  const times = cron === undefined ? others : `${cron}, ${timezone}`;
  return until === undefined ? times : `${times}, until ${until}`;
}

const REASONS = { missed: 'missed', overlap: 'while the one before waited', halted: 'while all was halted', cap: 'over a cap' } as const;

/** `2 missed, 1 over a cap`; empty if nothing was left out. */
export function leftOutText(skipped: ScheduleView['skipped']): string {
  return Object.entries(REASONS)
    .map(([reason, words]) => [skipped[reason as keyof typeof REASONS], words] as const)
    .filter(([runs]) => runs > 0)
    .map(([runs, words]) => `${runs} ${words}`)
    .join(', ');
}

/** `$0.0022 a day ($0.0031 a run)`. */
export function costsAboutText({ perDayUsd, perRunUsd, runsPerDay }: NonNullable<ScheduleView['costsAbout']>): string {
  return `${usd(perDayUsd)} a day (${usd(perRunUsd)} a run, ${runsPerDay} ${runsPerDay === 1 ? 'run' : 'runs'} a day)`;
}

const OUTCOMES: Readonly<Record<string, string>> = {
  done: 'answered',
  failed: 'failed',
  queued: 'waits',
  processing: 'is being answered',
  cancelled: 'cancelled',
  expired: 'expired',
};

export function runOutcomeText(status: string): string {
  return ownOf(OUTCOMES, status) ?? status;
}

export function scheduleTitle(id: string | undefined): string {
  return id === undefined ? 'Add a schedule' : `Change ${id}`;
}

export function scheduleSavedText(id: string): string {
  return `The schedule ${id} is saved.`;
}

export function scheduleRemovedText(id: string): string {
  return `The schedule ${id} is removed.`;
}

/** `12 runs`. */
export function runsText(fired: number): string {
  return plural(fired, 'run', 'runs');
}
