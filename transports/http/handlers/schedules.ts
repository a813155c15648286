// Handlers of `/api/blocks/:name/schedule`.
import { ok } from '../wire/reply.ts';
import { param, type RouteContext } from '../wire/route.ts';

/** `{schedules, held}`. Fails with BLOCK_DAMAGED if schedule.json can't be used. */
export const list = async (context: RouteContext) => ok(await context.core.blocks.schedules(param(context, 'name')));

/** The receipt of an extra run, which is on disk. Fails with SCHEDULE_NOT_FOUND. */
export const run = async (context: RouteContext) => ok(await context.core.blocks.runSchedule(param(context, 'name'), param(context, 'id')));

/** `{success, schedule}`. Fails with SCHEDULE_NOT_FOUND. */
export const pause = async (context: RouteContext) =>
  ok({ success: true, schedule: await context.core.blocks.pauseSchedule(param(context, 'name'), param(context, 'id')) });

/** `{success, schedule}`. Fails with SCHEDULE_NOT_FOUND. */
export const resume = async (context: RouteContext) =>
  ok({ success: true, schedule: await context.core.blocks.resumeSchedule(param(context, 'name'), param(context, 'id')) });
