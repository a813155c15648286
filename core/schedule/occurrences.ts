// When a schedule runs. Pure: no I/O.
//
// after-the-gap: a time that does not exist on the night when the clocks go forward runs at the first moment after the gap.
// first-of-two: a time that comes twice when the clocks go back runs at the first, unless the hour field is `*`: such a schedule runs every so often, and goes on doing so.
import { Cron } from 'croner';
import type { Schedule } from '../schemas/block-config.ts';

/** The runs of one schedule, without its state. */
export interface Timing {
  /** The first run after an instant, in epoch milliseconds; undefined if none comes. `last`: the latest run before it, from which `every` counts. */
  next(after: number, last: number): number | undefined;
}

/** A schedule that can't run, and the field that is wrong. */
export class ScheduleFault extends Error {
  readonly field: string;

  constructor(field: string, message: string) {
    super(message);
    this.field = field;
  }
}

const MINUTE_MS = 60_000;
const UNITS: Readonly<Record<string, number>> = { s: 1000, m: MINUTE_MS, h: 60 * MINUTE_MS, d: 1440 * MINUTE_MS };
const NICKNAMES: ReadonlySet<string> = new Set(['@hourly', '@daily', '@weekly', '@monthly']);
/** The longest change of a clock. */
const FOLD_MS = 3 * 60 * MINUTE_MS;

/** Throws ScheduleFault. `zone` is used where the schedule names none. */
export function timingOf(schedule: Pick<Schedule, 'cron' | 'every' | 'at' | 'timezone' | 'until'>, zone: string): Timing {
  const { cron, every, at } = schedule;
  const given = [cron, every, at].filter((one) => one !== undefined).length;
  if (given !== 1) throw new ScheduleFault('', `must have ${given === 0 ? '' : 'only '}one of cron, every and at`);
  const timezone = schedule.timezone ?? zone;
  formatOf(timezone);
  if (cron !== undefined) return cronTiming(cron, timezone, schedule.until);
  return untilTiming(every !== undefined ? everyTiming(every) : atTiming(at ?? ''), timezone, schedule.until);
}

function everyTiming(every: string): Timing {
  const [, count = '', unit = ''] = /^(\d{1,9})([smhd])$/.exec(every) ?? [];
  const step = Number(count) * (UNITS[unit] ?? Number.NaN);
  if (Number.isNaN(step)) throw new ScheduleFault('every', 'must be a number and a unit, such as 30m, 6h or 2d');
  if (step < MINUTE_MS || step > 366 * 1440 * MINUTE_MS) throw new ScheduleFault('every', 'must be between 1m and 366d');
  return { next: (after, last) => last + step * (Math.floor(Math.max(0, after - last) / step) + 1) };
}

function atTiming(text: string): Timing {
  const at = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at)) throw new ScheduleFault('at', 'must be a date and time with Z or an offset, such as 2026-12-24T09:00:00+01:00');
  return { next: (after) => (at > after ? at : undefined) };
}

/** The timing itself where it has no last day. */
function untilTiming(timing: Timing, timezone: string, until: string | undefined): Timing {
  if (until === undefined) return timing;
  const day = new Date(`${until}T00:00:00Z`);
  if (Number.isNaN(day.getTime()) || day.toISOString().slice(0, 10) !== until) throw new ScheduleFault('until', 'must be a date, such as 2026-12-31');
  const next = (after: number, last: number): number | undefined => {
    const at = timing.next(after, last);
    return at === undefined || localTime(at, timezone).slice(0, 10) > until ? undefined : at;
  };
  return { next };
}

/** Making one takes far longer than using it, and what is counted of one is kept with it. */
const made = new Map<string, Timing>();
/** Of each map here: zones and patterns are written by people. */
const MAX_KEPT = 500;

function cronTiming(pattern: string, timezone: string, until: string | undefined): Timing {
  const key = `${timezone} ${until ?? ''} ${pattern}`;
  return kept(made, key, () => untilTiming(newCronTiming(pattern.trim(), timezone), timezone, until));
}

/** The value of a key, made if it is not there. When there are too many, all are made again. */
function kept<V>(map: Map<string, V>, key: string, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const value = make();
  if (map.size >= MAX_KEPT) map.clear();
  map.set(key, value);
  return value;
}

function newCronTiming(pattern: string, timezone: string): Timing {
  if (pattern.startsWith('@') && !NICKNAMES.has(pattern)) throw new ScheduleFault('cron', `must not be ${pattern}; there are ${[...NICKNAMES].join(', ')}`);
  const cron = parsed(pattern, timezone);
  const isInterval = pattern === '@hourly' || pattern.split(/\s+/)[1] === '*';
  const next = (after: number): number | undefined => {
    for (let at = after; ; ) {
      const found = cron.nextRun(new Date(at))?.getTime();
      if (found === undefined || isInterval || !isSecond(found, timezone)) return found;
      at = found; // first-of-two
    }
  };
  if (next(Date.UTC(2026, 0)) === undefined) throw new ScheduleFault('cron', 'never comes: no such day exists');
  return { next };
}

function parsed(pattern: string, timezone: string): Cron {
  try {
    // Lists and ranges of hours count as times of the day, too (after-the-gap).
    return new Cron(pattern, { timezone, mode: '5-part', paused: true, fixedTimeRule: 'no-wildcard' });
  } catch (error) {
    const hasFive = pattern.split(/\s+/).length === 5;
    if (!hasFive) throw new ScheduleFault('cron', 'must have five fields (minute, hour, day, month, weekday), such as 0 8 * * 1-5');
    const fault = (error as Error).message.replace(/^Cron(Pattern)?: /, '').replace(/\.$/, '');
    throw new ScheduleFault('cron', `can't be used: ${fault.charAt(0).toLowerCase()}${fault.slice(1)}`);
  }
}

/** True for the second time that a clock shows the same because it was set back. */
function isSecond(at: number, timezone: string): boolean {
  const back = offsetAt(at - FOLD_MS, timezone) - offsetAt(at, timezone);
  return back > 0 && localTime(at - back, timezone) === localTime(at, timezone);
}

function offsetAt(at: number, timezone: string): number {
  return Date.parse(`${localTime(at, timezone)}Z`) - Math.floor(at / MINUTE_MS) * MINUTE_MS;
}

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(timezone: string): Intl.DateTimeFormat {
  return kept(formats, timezone, () => newFormat(timezone));
}

function newFormat(timeZone: string): Intl.DateTimeFormat {
  const part = { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
  try {
    return new Intl.DateTimeFormat('en-US-u-ca-gregory', { timeZone, ...part });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new ScheduleFault('timezone', `must be an IANA time zone such as UTC or Europe/Berlin, not ${JSON.stringify(timeZone)}`);
  }
}

/** `2026-11-20T08:00`: what a clock in `timezone` shows. */
export function localTime(at: number, timezone: string): string {
  const parts = formatOf(timezone).formatToParts(at);
  const value = (type: string): string => parts.find((part) => part.type === type)?.value ?? '';
  return `${value('year').padStart(4, '0')}-${value('month')}-${value('day')}T${value('hour')}:${value('minute')}`;
}
