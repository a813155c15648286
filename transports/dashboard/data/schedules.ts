// The schedules of a block: reading, changing, and what the form of one is made of.
import type { Schedule, ScheduleList, ScheduleView } from '../../../core/types.ts';
import { changeConfig } from './blocks.ts';
import { get, post } from './http.ts';
import { blockURL } from './paths.ts';

export async function readSchedules(name: string): Promise<ScheduleList> {
  return get<ScheduleList>(blockURL(name, '/schedule'));
}

/** Sends the message of a schedule now, or lets it rest, or run again. */
export async function steerSchedule(name: string, id: string, action: 'run' | 'pause' | 'resume'): Promise<void> {
  await post(blockURL(name, `/schedule/${encodeURIComponent(id)}/${action}`));
}

/** Puts a schedule in the place of the one with the id `before`, or at the end. */
export async function saveSchedule(name: string, schedule: Schedule, before: string | undefined): Promise<void> {
  await changeConfig(name, ({ schedule: all }) => ({
    schedule: all.some(({ id }) => id === before) ? all.map((one) => (one.id === before ? replaced(one, schedule) : one)) : [...all, schedule],
  }));
}

/** What the form does not show stays, but for its times. */
function replaced({ cron: _cron, every: _every, at: _at, timezone: _timezone, ...others }: Schedule, schedule: Schedule): Schedule {
  return { ...others, ...schedule };
}

/** Resolves with the schedule as it was. */
export async function removeSchedule(name: string, id: string): Promise<Schedule | undefined> {
  let removed: Schedule | undefined;
  await changeConfig(name, ({ schedule: all }) => {
    removed = all.find((one) => one.id === id);
    return removed === undefined ? undefined : { schedule: all.filter((one) => one !== removed) };
  });
  return removed;
}

/** When a schedule runs. */
export type Timing = 'cron' | 'every' | 'at';

/** A schedule as it is typed. */
export interface TypedSchedule {
  readonly id: string;
  readonly timing: Timing;
  /** The pattern, span or moment. */
  readonly when: string;
  readonly timezone: string;
  readonly message: string;
  readonly window: string;
  readonly catchUp: 'none' | 'one' | 'all';
}

export function typedSchedule(view: ScheduleView | undefined): TypedSchedule {
  if (view === undefined) return { id: '', timing: 'cron', when: '', timezone: '', message: '', window: '3', catchUp: 'one' };
  const { id, cron, every, at, timezone, message, window, catchUp } = view;
  const repeats = cron === undefined ? 'every' : 'cron';
  return { id, timing: at === undefined ? repeats : 'at', when: cron ?? every ?? at ?? '', timezone, message, window: String(window), catchUp };
}

/** Which fields can't be sent as they are. The server judges the rest. */
export function wrongFields({ id, when, message, window }: TypedSchedule): readonly (keyof TypedSchedule)[] {
  const wrong: (keyof TypedSchedule)[] = [];
  if (!/^[a-z0-9][a-z0-9-]{0,31}$/.test(id)) wrong.push('id');
  if (when.trim() === '') wrong.push('when');
  if (message.trim() === '') wrong.push('message');
  if (!/^(all|\d{1,3})$/.test(window.trim())) wrong.push('window');
  return wrong;
}

/** As it is sent. The zone of a span or a moment says nothing, so only a pattern has one. */
export function scheduleOf({ id, timing, when, timezone, message, window, catchUp }: TypedSchedule): Schedule {
  const zone = timezone.trim();
  return {
    id,
    [timing]: when.trim(),
    ...(timing === 'cron' && zone !== '' && { timezone: zone }),
    message,
    window: window.trim() === 'all' ? 'all' : Number(window),
    catchUp,
  };
}

/** `Mon 23 Nov 2026, 08:00` in a zone; that in UTC for a zone that this browser does not know. */
export function timeIn(at: string, timeZone: string): string {
  const parts = { weekday: 'short', day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
  try {
    return new Intl.DateTimeFormat('en-GB', { ...parts, timeZone }).format(new Date(at));
  } catch {
    return new Intl.DateTimeFormat('en-GB', { ...parts, timeZone: 'UTC' }).format(new Date(at));
  }
}
