// Decides which schedules a configuration may have. Pure: no I/O.
import { invalidRequest } from '../errors.ts';
import type { BlockConfig } from '../schemas/block-config.ts';
import type { Schedule } from '../schemas/block-config.ts';
import { ScheduleFault } from './occurrences.ts';
import { timingOf, timingText } from './plan.ts';

type Scheduled = Pick<BlockConfig, 'schedule' | 'budget'>;

/** Throws INVALID_REQUEST naming the field. `place` stands before it. One that is not new may have had its last run. */
export function assertSchedules(before: Scheduled, after: Scheduled, place: string, now: number): void {
  const seen = new Set<string>();
  const known = new Map(before.schedule.map((one) => [one.id, timingText(one, before.budget.timezone)]));
  for (const [index, schedule] of after.schedule.entries()) {
    const at = `${place}schedule[${index}]`;
    if (seen.has(schedule.id)) throw invalidRequest(`${at}.id`, `is there twice: ${schedule.id}`);
    seen.add(schedule.id);
    if (schedule.message.trim() === '') throw invalidRequest(`${at}.message`, 'must not be blank');
    const comes = comesAgain(schedule, after.budget.timezone, at, now);
    if (comes || known.get(schedule.id) === timingText(schedule, after.budget.timezone)) continue;
    if (schedule.at !== undefined) throw invalidRequest(`${at}.at`, 'must lie in the future');
    throw invalidRequest(`${at}.until`, 'lies before the next run');
  }
}

function comesAgain(schedule: Schedule, zone: string, at: string, now: number): boolean {
  try {
    return timingOf(schedule, zone).next(now, now) !== undefined;
  } catch (error) {
    if (!(error instanceof ScheduleFault)) throw error;
    throw invalidRequest(error.field === '' ? at : `${at}.${error.field}`, error.message);
  }
}
