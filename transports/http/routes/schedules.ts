// The routes of the schedules of a block. They are added, changed and removed with its configuration.
import * as schedules from '../handlers/schedules.ts';
import { json, READ, WRITE } from '../openapi/parts.ts';
import type { RouteEntry, RouteKey } from '../wire/route.ts';

const name = { name: 'Name of the block' };
const schedule = { ...name, id: 'Id of the schedule' };
const changed = { 200: json('ScheduleChanged', 'The schedule as it is now.') };

/** The routes of schedules by `METHOD /path`. */
export const SCHEDULE_ROUTES = {
  'GET /api/blocks/:name/schedule': {
    id: 'listSchedules',
    tag: 'Schedules',
    summary: 'List schedules',
    description:
      'The schedules of a block, with their next runs, the outcomes of the last ones, how many runs were left out and why, and what a day costs. `schedule` of the configuration adds, changes and removes them.',
    params: name,
    answers: { 200: json('ScheduleList', 'In the order of the configuration.') },
    errors: READ,
    handler: schedules.list,
  },
  'POST /api/blocks/:name/schedule/:id/run': {
    id: 'runSchedule',
    tag: 'Schedules',
    summary: 'Run a schedule now',
    description: 'Sends the message of a schedule as an extra run, which changes none of its times.',
    params: schedule,
    answers: { 200: json('ChatReceipt', 'The message waits for its answer.') },
    errors: ['SCHEDULE_NOT_FOUND', 'QUEUE_FULL', ...WRITE],
    handler: schedules.run,
  },
  'POST /api/blocks/:name/schedule/:id/pause': {
    id: 'pauseSchedule',
    tag: 'Schedules',
    summary: 'Pause a schedule',
    description: 'No run comes until it is resumed.',
    params: schedule,
    answers: changed,
    errors: ['SCHEDULE_NOT_FOUND', ...WRITE],
    handler: schedules.pause,
  },
  'POST /api/blocks/:name/schedule/:id/resume': {
    id: 'resumeSchedule',
    tag: 'Schedules',
    summary: 'Resume a schedule',
    description:
      'Lets a schedule that was paused, or that has paused itself after five failed runs, run again from now on. Runs before now are not made up for.',
    params: schedule,
    answers: changed,
    errors: ['SCHEDULE_NOT_FOUND', ...WRITE],
    handler: schedules.resume,
  },
} as const satisfies Record<RouteKey, RouteEntry>;
