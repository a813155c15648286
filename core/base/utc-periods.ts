// UTC days, weeks and months. A week begins on Monday. Pure: no I/O.

const DAY_MS = 86_400_000;
/** 1 January 1970 was a Thursday. */
const FIRST_MONDAY = 4 * DAY_MS;
const WEEK_MS = 7 * DAY_MS;

/** The number of the week in which a day such as `2026-11-22` is. */
export function weekOf(day: string): number {
  return Math.floor((Date.parse(`${day}T00:00:00Z`) - FIRST_MONDAY) / WEEK_MS);
}

/** The month of a day, such as `2026-11`. */
export function monthOf(day: string): string {
  return day.slice(0, '2026-11'.length);
}

/** The Monday of the week of an epoch time in milliseconds, such as `2026-11-23`. */
export function firstOfWeek(now: number): string {
  return new Date(nextUtcWeek(now) - WEEK_MS).toISOString().slice(0, '2026-11-23'.length);
}

/** The first day of its month, such as `2026-11-01`. */
export function firstOfMonth(now: number): string {
  return `${new Date(now).toISOString().slice(0, '2026-11'.length)}-01`;
}

/** When the next day begins; all times in epoch milliseconds. */
export function nextUtcDay(now: number): number {
  return (Math.floor(now / DAY_MS) + 1) * DAY_MS;
}

/** When the next week begins. */
export function nextUtcWeek(now: number): number {
  return (Math.floor((now - FIRST_MONDAY) / WEEK_MS) + 1) * WEEK_MS + FIRST_MONDAY;
}

/** When the next month begins. */
export function nextUtcMonth(now: number): number {
  const date = new Date(now);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
}
