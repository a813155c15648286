// Schedules of a block: what config.json says, what schedule.json keeps, and what is shown. Pure: no I/O.
import type * as types from '../types.ts';
import { boolean, count, listOf, money, number, object, oneOf, orNull, string, time } from './fields.ts';

const ID_PATTERN = '^[a-z0-9][a-z0-9-]{0,31}$';
/** The most characters of a message that a schedule or a hook posts. */
const MAX_TEXT = 32_768;

/** How many earlier exchanges the model sees with the message. */
export const MessageWindow = {
  anyOf: [
    { type: 'integer', minimum: 0, maximum: 500 },
    { type: 'string', enum: ['all'] },
  ],
  description: 'How many earlier exchanges the model sees, or "all"; 3 if it is left out',
} as const;

/** A schedule in config.json. It has one of `cron`, `every` and `at`. */
export const Schedule = {
  type: 'object',
  required: ['id', 'message'],
  properties: {
    id: { type: 'string', pattern: ID_PATTERN, description: 'Name of the schedule, once in a block' },
    cron: { type: 'string', minLength: 1, maxLength: 200, description: 'Five fields, such as `0 8 * * 1-5`, or @hourly, @daily, @weekly, @monthly' },
    every: { type: 'string', minLength: 2, maxLength: 12, description: 'A time span, such as `30m`, `6h` or `2d`; one minute at least' },
    at: { type: 'string', minLength: 1, maxLength: 40, description: 'Once: ISO 8601 with `Z` or an offset, such as `2026-12-24T09:00:00+01:00`' },
    timezone: {
      type: 'string',
      minLength: 1,
      maxLength: 64,
      description: "IANA time zone of `cron`, `until` and the days of `maxPerDay`; the block's `budget.timezone` if it is left out",
    },
    message: { type: 'string', minLength: 1, maxLength: MAX_TEXT, description: 'What is sent to the block' },
    window: MessageWindow,
    catchUp: {
      ...oneOf(['none', 'one', 'all']),
      description: 'What becomes of runs that were missed: none is made up for, the latest one (one, as if it is left out), or all of them, 24 at most',
    },
    graceMinutes: {
      type: 'integer',
      minimum: 1,
      maximum: 43_200,
      description: 'How old a missed run may be that `catchUp: one` makes up for; 60 if it is left out',
    },
    maxPerDay: { type: 'integer', minimum: 1, maximum: 1440, description: 'The most runs a day; 48 if it is left out' },
    until: { type: 'string', pattern: '^\\d{4}-\\d{2}-\\d{2}$', description: 'The last day on which it runs' },
    enabled: { ...boolean, description: 'False turns it off' },
  },
} as const;
export type Schedule = types.Schedule;

/** Why runs were left out. */
export const SKIPPED = ['missed', 'overlap', 'halted', 'cap'] as const;
/** How many runs were left out, by the reason. */
export const SkippedRuns = object({
  missed: { ...count, description: 'The server or the block was stopped, or the machine slept' },
  overlap: { ...count, description: 'The message before was not answered yet' },
  halted: { ...count, description: 'All blocks were halted' },
  cap: { ...count, description: 'The budget of the block or `maxPerDay` was used up' },
});
export type SkippedRuns = types.SkippedRuns;

/** Who or what has paused a schedule. */
const pausedBecause = {
  ...orNull(oneOf(['person', 'failures'])),
  description: 'Somebody paused it, or five runs in a row failed; null while it runs',
} as const;

/** What schedule.json keeps of one schedule. Everything but `last` can be lost without harm. */
export const ScheduleState = object(
  {
    last: { ...time, description: 'The latest run, or when the schedule was first seen; no run at or before it ever comes again' },
    next: orNull(time),
    of: { type: 'string', description: 'The timing that `last` and `next` are of' },
    day: { type: 'string', description: 'The day of `today`' },
    today: count,
    fired: count,
    skipped: SkippedRuns,
    failures: { ...count, description: 'Failed runs in a row' },
    pausedBecause,
  },
  ['next', 'of', 'day', 'today', 'fired', 'skipped', 'failures', 'pausedBecause'],
);
export type ScheduleState = types.ScheduleState;
/** schedule.json: the state of each schedule by its id. */
export const ScheduleFile = { type: 'object', additionalProperties: ScheduleState } as const;

/** The outcome of a run. */
export const ScheduleOutcome = object({
  messageId: string,
  at: { ...time, description: 'When its message was sent' },
  status: string,
  error: orNull(string),
  costUsd: money,
});
/** A schedule as it stands. */
export const ScheduleView = {
  ...object(
    {
      id: string,
      cron: string,
      every: string,
      at: string,
      until: string,
      timezone: string,
      message: string,
      window: MessageWindow,
      catchUp: oneOf(['none', 'one', 'all']),
      graceMinutes: count,
      maxPerDay: count,
      enabled: boolean,
      state: {
        ...oneOf(['active', 'paused', 'off', 'over', 'invalid']),
        description: 'off: `enabled` is false; over: no run comes any more; invalid: `problem` says why it never runs',
      },
      problem: { ...orNull(string), description: 'What is wrong with it, or why it does not run now' },
      next: { ...listOf(time), description: 'The next three runs, UTC; empty unless it is active' },
      last: orNull(time),
      fired: count,
      skipped: SkippedRuns,
      failures: count,
      pausedBecause,
      lastOutcomes: { ...listOf(ScheduleOutcome), description: 'Of the last ten runs that chat.json has, the newest first' },
      costsAbout: {
        ...orNull(object({ perRunUsd: number, runsPerDay: number, perDayUsd: number })),
        description: 'The median of these runs, and times the runs a day; null while no price is known',
      },
    },
    ['cron', 'every', 'at', 'until'],
  ),
} as const;
export type ScheduleView = types.ScheduleView;
/** The schedules of a block. */
export const ScheduleList = object({
  schedules: listOf(ScheduleView),
  held: { ...orNull(string), description: 'Why no schedule of the block runs at this moment; null if nothing holds them up' },
});
export type ScheduleList = types.ScheduleList;
/** A schedule was paused or resumed. */
export const ScheduleChanged = object({ success: { type: 'boolean', const: true }, schedule: ScheduleView });
