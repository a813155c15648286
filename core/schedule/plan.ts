// What is due of a schedule, and what becomes of runs that were missed. Pure: no I/O.
//
// never-back: a run at or before `last` never comes again, also after the clock was set back.
// in-time: a run that is found a minute late is in time: timers and other servers take their time.
// in-steps: to find when a run comes takes up to a tenth of a millisecond, and after long there are thousands. So they are counted in steps, between which others are served,
//   also before the first one: many schedules may have missed runs at once.
import type { Schedule } from '../schemas/block-config.ts';
import type { ScheduleState } from '../schemas/block-api.ts';
import { localTime, type Timing } from './occurrences.ts';

/** What a schedule has where its configuration says nothing. */
export const SCHEDULE_DEFAULTS = { window: 3, catchUp: 'one', graceMinutes: 60, maxPerDay: 48, enabled: true } as const;
/** Runs that are made up for at most. */
const MAX_CATCH_UP = 24;
/** Missed runs are counted up to this number in one go. */
const MAX_COUNTED = 1000;
/** Runs that are counted in a step. */
const IN_A_STEP = 200;
/** in-time. */
const LATE_MS = 60_000;
const MINUTE_MS = 60_000;
const NONE = { missed: 0, overlap: 0, halted: 0, cap: 0 };

/** The state with every field. */
export type FullState = Required<ScheduleState>;

/** What is due at an instant. */
export interface Due {
  /** To be sent now, the oldest first. */
  readonly fire: readonly number[];
  /** How many are left out. */
  readonly missed: number;
  /** The latest of all of them. */
  readonly latest: number;
}

/** What says that `last` and `next` are of the schedule as it is now. */
export function timingText({ cron, every, at, until, enabled = true, timezone }: Schedule, zone: string): string {
  const times = [cron, every, at].filter((one) => one !== undefined).join(' ');
  return `${enabled ? '' : 'off '}${times}${until === undefined ? '' : ` until ${until}`} ${timezone ?? zone}`;
}

/** The state of a schedule as it is now: one that is new, or has other times than before, begins now (never-back). */
export function stateNow(stored: ScheduleState | undefined, of: string, now: number): FullState {
  const fresh = { last: new Date(now).toISOString(), next: null, of, day: '', today: 0, fired: 0, skipped: NONE, failures: 0, pausedBecause: null };
  if (stored === undefined) return fresh;
  const state = { ...fresh, of: stored.of ?? of, ...stored };
  if (state.of === of) return state;
  return { ...state, of, next: null, last: new Date(Math.max(now, Date.parse(stored.last))).toISOString() };
}

/** When the schedule runs next, by its state; undefined if it does not run. */
export function nextOf(timing: Timing, { last, pausedBecause }: FullState): number | undefined {
  return pausedBecause === null ? timing.next(Date.parse(last), Date.parse(last)) : undefined;
}

/** Ends with undefined where nothing is due. in-steps: others may be served at each `yield`. */
export function* dueInSteps(schedule: Schedule, timing: Timing, state: FullState, now: number): Generator<void, Due | undefined> {
  const last = Date.parse(state.last);
  const first = nextOf(timing, state);
  if (first === undefined || first > now) return undefined;
  if (now - first > LATE_MS) yield;
  const { count, newest } = yield* between(timing, last, now);
  const latest = newest.at(-1) ?? first;
  const fire = chosen(schedule, newest, latest, now);
  return { fire, missed: count - fire.length, latest };
}

function chosen(
  { catchUp = SCHEDULE_DEFAULTS.catchUp, graceMinutes = SCHEDULE_DEFAULTS.graceMinutes }: Schedule,
  newest: readonly number[],
  latest: number,
  now: number,
): readonly number[] {
  if (catchUp === 'all') return newest;
  const allowed = catchUp === 'none' ? LATE_MS : Math.max(LATE_MS, graceMinutes * MINUTE_MS);
  return now - latest <= allowed ? [latest] : [];
}

/** The newest runs up to `now`, and how many there are, as far as they are counted. */
function* between(timing: Timing, last: number, now: number): Generator<void, { readonly count: number; readonly newest: readonly number[] }> {
  const first = yield* runsFrom(timing, last, last, now, MAX_COUNTED);
  if (first.length < MAX_COUNTED) return { count: first.length, newest: first.slice(-MAX_CATCH_UP) };
  // Many: from ever earlier instants, until there are enough.
  for (let back = 24 * MINUTE_MS; ; back *= 4) {
    const newest = yield* runsFrom(timing, Math.max(last, now - back), last, now, MAX_COUNTED);
    if (newest.length >= MAX_CATCH_UP && newest.length < MAX_COUNTED) return { count: MAX_COUNTED, newest: newest.slice(-MAX_CATCH_UP) };
    if (now - back <= last || newest.length >= MAX_COUNTED) return { count: MAX_COUNTED, newest: first.slice(-MAX_CATCH_UP) };
  }
}

function* runsFrom(timing: Timing, after: number, last: number, until: number, most: number): Generator<void, number[]> {
  const runs: number[] = [];
  for (let at = timing.next(after, last); at !== undefined && at <= until && runs.length < most; at = timing.next(at, last)) {
    runs.push(at);
    if (runs.length % IN_A_STEP === 0) yield;
  }
  return runs;
}

/** All steps at once. */
function ended<T>(steps: Generator<void, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** The state after runs were sent, or left out for these reasons. */
export function afterRuns(
  state: FullState,
  { latest, fired, skipped, day }: { readonly latest: number; readonly fired: number; readonly skipped: Partial<FullState['skipped']>; readonly day: string },
): FullState {
  const sum = { ...state.skipped };
  for (const [why, count] of Object.entries(skipped)) sum[why as keyof typeof sum] += count ?? 0;
  const today = (state.day === day ? state.today : 0) + fired;
  return { ...state, last: new Date(latest).toISOString(), day, today, fired: state.fired + fired, skipped: sum };
}

/** How many runs of the day are left. */
export function leftToday({ maxPerDay = SCHEDULE_DEFAULTS.maxPerDay }: Schedule, state: FullState, day: string): number {
  return Math.max(0, maxPerDay - (state.day === day ? state.today : 0));
}

/** The day in the zone of the schedule. */
export function dayOf({ timezone }: Schedule, zone: string, now: number): string {
  return localTime(now, timezone ?? zone).slice(0, 10);
}

/** The next runs after now. */
export function nextRuns(timing: Timing, state: FullState, now: number, most: number): number[] {
  const last = Date.parse(state.last);
  return ended(runsFrom(timing, Math.max(now, last), last, Number.POSITIVE_INFINITY, most));
}

/** By schedule: what was counted on a day. The page reads it at each change of its block. */
const counted = new WeakMap<Timing, { readonly day: number; readonly perDay: number }>();

/** How many runs come on a day: the mean of a week, which is counted once a day, when somebody first asks. */
export function runsPerDay(schedule: Schedule, timing: Timing, state: FullState, now: number): number {
  const day = Math.floor(now / (1440 * MINUTE_MS));
  let known = counted.get(timing);
  if (known?.day !== day) {
    known = { day, perDay: countedPerDay(timing, Date.parse(state.last), now) };
    counted.set(timing, known);
  }
  return Math.min(schedule.maxPerDay ?? SCHEDULE_DEFAULTS.maxPerDay, known.perDay);
}

function countedPerDay(timing: Timing, last: number, now: number): number {
  const weekMs = 7 * 1440 * MINUTE_MS;
  const most = 400;
  const runs = ended(runsFrom(timing, now, last, now + weekMs, most));
  const days = runs.length < most ? 7 : ((runs.at(-1) ?? now) - now) / (1440 * MINUTE_MS);
  return runs.length / days;
}

/** The `clientId` of a run: the same run is the same message. */
export function clientIdOf(id: string, at: number): string {
  return `schedule:${id}:${new Date(at).toISOString()}`;
}

/** The schedule that has sent a message; undefined for any other message. */
export function scheduleIn(clientId: string | undefined): string | undefined {
  return /^schedule:([a-z0-9-]+):/.exec(clientId ?? '')?.[1];
}

/** How many exchanges a message of a schedule shows; undefined for all. */
export function windowOf({ window = SCHEDULE_DEFAULTS.window }: Pick<Schedule, 'window'>): number | undefined {
  return window === 'all' ? undefined : window;
}

export { timingOf } from './occurrences.ts';
